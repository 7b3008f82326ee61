// Rehearsals: a scenario played on a copy of a guild, in a child process that has no token and reaches no server. One
// runs at a time.

import { readFile } from "node:fs/promises";
import { maxReasonLength, oneLine, truncate, withoutTokens } from "../../../discord/text.ts";
import type { GuildDocument } from "../../../guild-document/format/document.ts";
import { parseJson } from "../../../lib/json.ts";
import { commandOf } from "../../../lib/program/launch.ts";
import { eachLine } from "../../../lib/program/lines.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { within } from "../../../lib/wait.ts";
import type { BotConfig } from "../../config/config.ts";
import type { Backups } from "../backups/backups.ts";

const unreadMs = 5 * 60_000;
const watchedMs = 30 * 60_000;

export const scenarioNames = ["raid", "spam", "hijack", "restore", "document", "member"] as const;

/** What the child reads from stdin. It has ids of people and no names. */
export interface Rehearsal {
	scenario: (typeof scenarioNames)[number];
	seed: number;
	/** Of config.toml what scenarios depend on: no address, path, provider or game server. */
	toml: Pick<BotConfig["toml"], "bot_name" | "timezone" | "intents" | "commands" | "features" | "backup">;
	/** Tools that the operator denies. */
	deny: readonly string[];
	document: GuildDocument;
	settings: Readonly<Record<string, unknown>>;
	/** Those of `settings` that the guild does not have. */
	tried?: Rehearsal["settings"];
	botId: string;
	/** Name of the bot's own role. */
	botRole: string | undefined;
	backup: { name: string; document: GuildDocument } | undefined;
	/** A guild document that is not validated yet. */
	change: unknown;
	/** Of the member of the scenario member. */
	roleIds: readonly string[];
	/** Lines: what the copy lacks, and why. */
	missing: readonly string[];
	/** At the pace of real time, on a page on this machine. */
	isWatched: boolean;
}

export interface Answer {
	lines: string[];
	/** Settings that may change the outcome. With them it was played once more. */
	better?: Rehearsal["settings"] | undefined;
	/** What such settings can change, where the lines differ anyway. */
	outcome?: unknown;
	/** Name of the backup, if it restored everything. */
	proven?: string | undefined;
}

interface Run {
	/** The latest one. */
	step: string;
	/** Then nobody reads the answer any more. Infinity while it runs. */
	goodUntil: number;
	/** Calls that returned a step, and have not been repeated yet. */
	owed: number;
	/** Of the calls that wait. */
	onSteps: Set<(step: string) => void>;
	ended: Promise<Answer>;
}

const defaultLimits = { timeoutMs: 120_000, memoryBytes: 1_000_000_000 };

export class Rehearsals {
	/** By guild id and `key`, until each call has read the answer. */
	readonly #runs = new Map<string, Run>();
	readonly #limits;

	constructor(
		private readonly backups: Pick<Backups, "read" | "prove">,
		private readonly command: readonly string[] = commandOf("rehearsal"),
		limits: Partial<typeof defaultLimits> = {},
	) {
		this.#limits = { ...defaultLimits, ...limits };
	}

	/**
	 * The step that it is in after `waitMs`: then the same call goes on waiting. `key` is equal for equal calls, which share a
	 * run. Rejects with a ToolError, also while another one runs.
	 */
	async play(
		guildId: string,
		key: string,
		make: () => Promise<Rehearsal>,
		waitMs: number,
		onStep = (_step: string) => {},
	): Promise<Answer | string> {
		const id = `${guildId} ${key}`;
		for (const [one, { goodUntil }] of this.#runs) if (performance.now() > goodUntil) this.#runs.delete(one);
		const run = this.#runs.get(id) ?? this.#begin(guildId, id, make);
		run.owed = Math.max(0, run.owed - 1);
		run.onSteps.add(onStep);
		onStep(run.step);
		try {
			const answer = await within(waitMs, run.ended);
			if (answer !== "late") return answer;
			run.owed += 1;
			return run.step;
		} finally {
			run.onSteps.delete(onStep);
			if (run.goodUntil < Infinity && run.owed === 0) this.#runs.delete(id);
		}
	}

	#begin(guildId: string, id: string, make: () => Promise<Rehearsal>): Run {
		const [other] = Array.from(this.#runs).find(([, { goodUntil }]) => goodUntil === Infinity) ?? [];
		const which = other?.startsWith(guildId) ? "Another rehearsal of this guild" : "A rehearsal of another guild";
		if (other) throw new ToolError(`${which} is running. Wait for its end.`);
		const onStep = (step: string) => {
			run.step = step;
			for (const tell of run.onSteps) tell(step);
		};
		const ended = make().then((given) => this.#play(guildId, given, onStep));
		const run: Run = { step: "reading the guild", goodUntil: Infinity, owed: 0, onSteps: new Set(), ended };
		const end = () => {
			run.goodUntil = performance.now() + unreadMs;
		};
		ended.then(end, end);
		this.#runs.set(id, run);
		return run;
	}

	async #play(guildId: string, given: Rehearsal, onStep: (step: string) => void): Promise<Answer> {
		const { timeoutMs, memoryBytes } = this.#limits;
		const timeout = given.isWatched ? watchedMs : timeoutMs;
		const child = Bun.spawn(given.isWatched ? [...this.command, "--watch"] : [...this.command], {
			// Garbage is collected as on a machine with so little memory, and before the heap has grown by a sixth.
			env: { BUN_JSC_forceRAMSize: "100000000", BUN_JSC_largeHeapGrowthFactor: "1.15" },
			stdin: new Blob([JSON.stringify(given)]),
			stdout: "pipe",
			stderr: "pipe",
		});
		let ending = "";
		const end = (why: string) => {
			ending ||= why;
			child.kill("SIGKILL");
		};
		const endsAt = performance.now() + timeout;
		// Its own event loop may not run for seconds. Only Linux has /proc; elsewhere it looks itself, while time passes.
		const guard = setInterval(async () => {
			const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
			const kB = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
			if (performance.now() > endsAt) end(`it was ended after ${timeout / 1000} s`);
			if (kB * 1024 > memoryBytes) end(`the copy takes more than ${memoryBytes / 1e6} MB of memory`);
		}, 250);
		const said: { step?: string; answer?: Answer; error?: string } = {};
		let crash = "";
		await Promise.all([
			child.exited,
			eachLine(child.stdout, (line) => {
				const one = Object(parseJson(line));
				if (one.step) onStep(one.step);
				Object.assign(said, one);
			}),
			eachLine(child.stderr, (line) => {
				if (/^(?:\w*error|panic)\b/i.test(line)) crash = `: ${truncate(withoutTokens(oneLine(line)), maxReasonLength)}`;
			}),
		]).finally(() => clearInterval(guard));
		const { answer } = said;
		const error = said.error || ending || (child.signalCode ? "its process was killed" : `it crashed${crash}`);
		if (!answer) throw new ToolError(`The rehearsal failed: ${error.replace(/\.$/, "")}. The guild is as it was.`);
		if (answer.proven)
			await this.backups.prove(guildId, answer.proven).catch((error: Error) => {
				answer.lines.push(`That the backup is proven could not be stored: ${error.message}`);
			});
		return answer;
	}

	/** Without emoji, of which the copy has its own, members that are not in the copy, and what people wrote. */
	async latestBackup(guildId: string, memberIds: ReadonlySet<string>): Promise<Rehearsal["backup"]> {
		const { name, document } = await this.backups.read(guildId, "latest");
		const { emojis: _, messages: __, bans: ___, members = [], ...rest } = document;
		return { name, document: { ...rest, members: members.filter(({ id }) => memberIds.has(id)) } };
	}
}
