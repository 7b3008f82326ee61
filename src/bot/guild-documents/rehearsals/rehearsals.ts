// Rehearsals: a scenario played on a copy of a guild, in a child process that has no token and reaches no server. One of a
// guild runs at a time.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
	toml: BotConfig["toml"];
	document: GuildDocument;
	settings: Readonly<Record<string, unknown>>;
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
	key: string;
	/** The latest one. */
	step: string;
	/** Then nobody reads the answer any more. Infinity while it runs. */
	goodUntil: number;
	/** Of the latest call that waits. */
	onStep(step: string): void;
	ended: Promise<Answer>;
}

export class Rehearsals {
	/** By guild id, until the answer was read. `key` is equal for equal calls. */
	readonly #latest = new Map<string, Run>();

	constructor(
		private readonly backups: Pick<Backups, "read" | "prove">,
		private readonly command: readonly string[] = commandOf("rehearsal"),
		private readonly timeoutMs = 120_000,
	) {}

	/**
	 * The step that it is in after `waitMs`: then the same call goes on waiting. Rejects with a ToolError, also while another one
	 * runs.
	 */
	async play(
		guildId: string,
		key: string,
		make: () => Promise<Rehearsal>,
		waitMs: number,
		onStep: Run["onStep"] = () => {},
	): Promise<Answer | string> {
		let run = this.#latest.get(guildId);
		if (run && performance.now() > run.goodUntil) run = undefined;
		if (run?.goodUntil === Infinity && run.key !== key)
			throw new ToolError("Another rehearsal of this guild is running. Wait for its end.");
		if (run?.key !== key) {
			const ended = make().then((given) =>
				this.#run(guildId, given, (step) => {
					begun.step = step;
					begun.onStep(step);
				}),
			);
			const step = "reading the guild";
			const begun: Run = { key, goodUntil: Infinity, step, onStep, ended };
			const end = () => {
				begun.goodUntil = performance.now() + unreadMs;
			};
			ended.then(end, end);
			run = begun;
			this.#latest.set(guildId, run);
		}
		run.onStep = onStep;
		onStep(run.step);
		try {
			const answer = await within(waitMs, run.ended);
			return answer === "late" ? run.step : answer;
		} finally {
			if (run.goodUntil < Infinity) this.#latest.delete(guildId);
		}
	}

	async #run(guildId: string, given: Rehearsal, onStep: Run["onStep"]): Promise<Answer> {
		const directory = mkdtempSync(join(tmpdir(), "guildhall-rehearsal-"));
		const stdin = new Blob([JSON.stringify({ ...given, directory })]);
		const timeout = given.isWatched ? watchedMs : this.timeoutMs;
		const limits = { timeout, killSignal: "SIGKILL" } as const;
		const command = given.isWatched ? [...this.command, "--watch"] : [...this.command];
		const child = Bun.spawn(command, { env: {}, stdin, stdout: "pipe", stderr: "ignore", ...limits });
		const startedAt = performance.now();
		const end = () => {
			child.kill("SIGKILL");
			rmSync(directory, { recursive: true, force: true });
		};
		process.once("exit", end);
		let said: { step?: string; answer?: Answer; error?: string } = {};
		await eachLine(child.stdout, (line) => {
			said = Object(parseJson(line));
			if (said.step) onStep(said.step);
		});
		await child.exited;
		process.off("exit", end);
		end();
		const isLate = performance.now() - startedAt >= timeout;
		const ended = isLate ? `it was ended after ${timeout / 1000} s` : "its process was killed";
		const ending = child.signalCode ? ended : "it crashed";
		const { answer, error = ending } = said;
		if (answer?.proven) await this.backups.prove(guildId, answer.proven);
		if (answer) return answer;
		throw new ToolError(`The rehearsal failed: ${error.replace(/\.$/, "")}. The guild is as it was.`);
	}

	/** Without pictures, and without members that are not in the copy. */
	async latestBackup(guildId: string, memberIds: ReadonlySet<string>): Promise<Rehearsal["backup"]> {
		const { name, document } = await this.backups.read(guildId, "latest");
		const { emojis: _, settings: { icon: __, ...settings } = {}, members = [], ...rest } = document;
		const kept = members.filter(({ id }) => memberIds.has(id));
		return { name, document: { ...rest, settings, members: kept } };
	}
}
