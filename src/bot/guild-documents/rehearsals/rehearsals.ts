// Rehearsals: a scenario played on a copy of a guild, in a child process that has no token and reaches no server. One
// of a bot runs at a time, and one of a guild on a machine. A watched one ends when another one is asked for.

import { readFile } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import type { Guild } from "discord.js";
import { maxReasonLength, oneLine, truncate, withoutTokens } from "../../../discord/text.ts";
import type { GuildDocument } from "../../../guild-document/format/document.ts";
import { parseJson } from "../../../lib/json.ts";
import { commandOf } from "../../../lib/program/launch.ts";
import { eachLine } from "../../../lib/program/lines.ts";
import { claimFile } from "../../../lib/store/sqlite.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { within } from "../../../lib/wait.ts";
import type { BotConfig } from "../../config/config.ts";
import { instanceName } from "../../store/store.ts";
import type { Backups } from "../backups/backups.ts";

/** How long the guild may have changed before an answer is read. */
const unreadMs = 60_000;
const watchedMs = 30 * 60_000;
/** Members that a copy has one by one, if no more are asked for or needed. The limits grow with more. */
export const maxOneByOne = 20_000;

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
	/** Members who are not in `document`, by the ids of their roles. */
	counted: readonly { roles: readonly string[]; count: number }[];
	settings: Readonly<Record<string, unknown>>;
	botId: string;
	/** Name of the bot's own role. */
	botRole: string | undefined;
	backup: { name: string; madeAt: number; document: GuildDocument } | undefined;
	/** To be applied. */
	change: GuildDocument | undefined;
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
	/** Of one that is watched. */
	stop?: () => void;
	ended: Promise<Answer>;
}

const defaultLimits = { timeoutMs: 120_000, memoryBytes: 1_000_000_000 };

export class Rehearsals {
	/** By guild id and `key`, until each call has read the answer. */
	readonly #runs = new Map<string, Run>();

	constructor(
		private readonly backups: Pick<Backups, "read" | "prove">,
		private readonly command: readonly string[] = commandOf("rehearsal"),
		private readonly limits = defaultLimits,
	) {}

	/**
	 * The step that it is in after `waitMs`: then the same call goes on waiting. `key` is equal for equal calls, which share a
	 * run. Rejects with a ToolError, also while another one runs.
	 */
	async play(
		guild: Guild,
		key: string,
		make: () => Promise<Rehearsal>,
		waitMs: number,
		onStep = (_step: string) => {},
	): Promise<Answer | string> {
		const id = `${guild.id} ${key}`;
		for (const [one, { goodUntil }] of this.#runs) if (performance.now() > goodUntil) this.#runs.delete(one);
		const run = this.#runs.get(id) ?? this.#begin(guild, id, make);
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

	#begin(guild: Guild, id: string, make: () => Promise<Rehearsal>): Run {
		const running = [...this.#runs.values()].findLast(({ goodUntil }) => goodUntil === Infinity);
		if (running && !running.stop) throw new ToolError("The bot plays another rehearsal. Wait for its end.");
		running?.stop?.();
		const ended = Promise.allSettled([running?.ended]).then(() => this.#playAlone(guild, make, run));
		const run: Run = { step: "reading the guild", goodUntil: Infinity, owed: 0, onSteps: new Set(), ended };
		const end = () => {
			run.goodUntil = performance.now() + unreadMs;
		};
		ended.then(end, end);
		this.#runs.set(id, run);
		return run;
	}

	async #playAlone({ id, client }: Guild, make: () => Promise<Rehearsal>, run: Run): Promise<Answer> {
		const where = Bun.hash(`${process.getuid?.()} ${client.options.rest?.api} ${id}`);
		const file = join(tmpdir(), `guildhall-rehearsal-${where}`);
		// Containers may have no directory for temporary files, and no other bot there.
		const lock = await claimFile(file, instanceName(client.user.username)).catch(() => undefined);
		if (typeof lock === "string") throw new ToolError(`This guild is rehearsed by ${lock}. Wait for its end.`);
		const played = make().then((given) => this.#play(id, given, run));
		return played.finally(() => lock?.close());
	}

	async #play(guildId: string, given: Rehearsal, run: Run): Promise<Answer> {
		const count = given.document.members?.length ?? 0;
		const scale = Math.max(1, Math.ceil(count / maxOneByOne));
		const timeoutMs = (given.isWatched ? watchedMs : this.limits.timeoutMs) * scale;
		const memoryBytes = Math.max(this.limits.memoryBytes, Math.min(this.limits.memoryBytes * scale, totalmem() / 2));
		const onStep = (step: string) => {
			run.step = step;
			for (const tell of run.onSteps) tell(step);
		};
		onStep(
			`building the copy: ${count} members one by one, at most ${timeoutMs / 1000} s and ${Math.floor(memoryBytes / 1e6)} MB`,
		);
		const child = Bun.spawn(given.isWatched ? [...this.command, "--watch"] : [...this.command], {
			// Garbage is collected as on a machine with so little memory, and before the heap has grown by a sixth.
			env: { BUN_JSC_forceRAMSize: "100000000", BUN_JSC_largeHeapGrowthFactor: "1.15", MEMORY_BYTES: `${memoryBytes}` },
			stdin: new Blob([JSON.stringify(given)]),
			stdout: "pipe",
			stderr: "pipe",
		});
		let ending = "";
		const end = (why: string) => {
			ending ||= why;
			child.kill("SIGKILL");
		};
		if (given.isWatched) run.stop = () => end("another one was asked for");
		const endsAt = performance.now() + timeoutMs;
		// Its own event loop may not run for seconds. Only Linux has /proc; elsewhere it looks itself, while time passes.
		const guard = setInterval(async () => {
			const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
			const kB = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
			if (performance.now() > endsAt) end(`it was ended after ${timeoutMs / 1000} s`);
			if (kB * 1024 > memoryBytes) end(`the copy takes more than ${Math.floor(memoryBytes / 1e6)} MB of memory`);
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

	/** Without emoji, of which the copy has its own, and what people wrote. */
	async latestBackup(guildId: string): Promise<Rehearsal["backup"]> {
		const { name, madeAt, document } = await this.backups.read(guildId, "latest");
		const { emojis: _, messages: __, bans: ___, ...rest } = document;
		return { name, madeAt: Number(madeAt), document: rest };
	}
}
