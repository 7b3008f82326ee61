// The commands for guild documents with a bot made of functions: confirmation, signals, a bot that is silent, exit codes.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	guildFile,
	NoResponse,
	type OwnDocuments,
} from "../../../../src/bot/guild-documents/command-line/guild-file.ts";
import { createInterrupts } from "../../../../src/bot/guild-documents/command-line/interrupts.ts";
import type { GuildFileCommand } from "../../../../src/bot/guild-documents/command-line/options.ts";
import type { DocumentRequest } from "../../../../src/bot/guild-documents/command-line/requests.ts";
import { CheckFailed } from "../../../../src/lib/program/check.ts";
import { ToolError } from "../../../../src/lib/tool-error.ts";
import { botConfig } from "../../../support/bot-config.ts";
import { recordLog } from "../../../support/log.ts";

let directory: string;

beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	writeFileSync(join(directory, "a.yaml"), "version: 1\nchannels: []\n");
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const hash = "0".repeat(32);
const job = (state: string, done: number) => ({
	text: `Job 1: ${state}`,
	job_id: "1",
	state,
	done,
	total: 2,
	failed: 0,
});
const plan = { text: "the plan", plan_hash: hash, steps: 2, refusals: 0 };
const nothing = { ...plan, steps: 0 };
type Answers = Partial<Record<DocumentRequest, unknown[]>>;

/** Runs a command. Each request gets the next of its answers; the last one is repeated. Errors are thrown. */
async function run({
	answers = {},
	command = {},
	ask = true,
	on = () => {},
	open,
	silenceMs,
}: {
	answers?: Answers;
	command?: Partial<GuildFileCommand>;
	ask?: boolean;
	/** Called for each request, with the process that gets signals. */
	on?: (name: DocumentRequest, process: EventEmitter) => void;
	open?: () => Promise<OwnDocuments>;
	silenceMs?: number;
}) {
	const process = new EventEmitter();
	const sent: DocumentRequest[] = [];
	const lines: string[] = [];
	let ms = 0;
	const all: Answers = {
		"running-job": [{}],
		plan: [plan],
		apply: [{ job: job("running", 0) }],
		job: [job("done", 2)],
		cancel: [job("running", 1)],
		...answers,
	};
	let closed = 0;
	const own = {
		async send(name: DocumentRequest) {
			sent.push(name);
			on(name, process);
			const left = all[name] ?? [];
			const answer = left.length > 1 ? left.shift() : left[0];
			if (answer instanceof Error) throw answer;
			return answer;
		},
		startJobs() {},
		async close() {
			closed += 1;
		},
	} as unknown as OwnDocuments;
	const code = await guildFile(
		{
			action: "apply",
			file: join(directory, "a.yaml"),
			guildId: undefined,
			parts: undefined,
			backup: undefined,
			prune: false,
			force: false,
			yes: false,
			...command,
		},
		botConfig(),
		recordLog().log,
		{
			open: open ?? (async () => own),
			write: async (text) => lines.push(text.trimEnd()),
			report: (line) => lines.push(line),
			ask: async () => ask,
			// Each signal is another press of Ctrl-C.
			interrupts: createInterrupts(process as unknown as NodeJS.Process, () => (ms += 1_000)),
			lookMs: 1,
			...(silenceMs !== undefined && { silenceMs }),
		},
	);
	expect(process.eventNames()).toEqual([]);
	if (!open) expect(closed).toBe(1);
	return { code, sent, text: lines.join("\n") };
}

test("a plan exits with 0 if nothing differs, otherwise with 3", async () => {
	const command = { action: "plan" } as const;
	expect(await run({ command })).toMatchObject({ code: 3, sent: ["plan"] });
	expect(await run({ command, answers: { plan: [nothing] } })).toMatchObject({ code: 0 });
	const cannot = { ...nothing, refusals: 1 };
	expect(await run({ command, answers: { plan: [cannot] } })).toMatchObject({ code: 3 });
});

test("nothing is applied unless it is confirmed", async () => {
	const refused = await run({ ask: false });
	expect(refused).toMatchObject({ code: 1, sent: ["running-job", "plan"] });
	expect(refused.text).toContain("pass --yes");
	expect(await run({ ask: false, command: { yes: true } })).toMatchObject({
		code: 0,
		sent: ["running-job", "plan", "apply", "job"],
	});
	expect(await run({ answers: { plan: [nothing] } })).toMatchObject({ code: 0, sent: ["running-job", "plan"] });
});

test("a job that did not do everything exits with 3", async () => {
	const failed = { ...job("failed", 1), failed: 1 };
	expect(await run({ answers: { job: [failed] } })).toMatchObject({ code: 3 });
	const refusing = { ...plan, refusals: 1 };
	expect(await run({ answers: { plan: [refusing] } })).toMatchObject({ code: 3 });
});

test("an earlier job is finished before the guild is compared", async () => {
	const { code, sent } = await run({ answers: { "running-job": [{ job: job("running", 1) }] } });
	expect(code).toBe(0);
	expect(sent).toEqual(["running-job", "job", "plan", "apply", "job"]);
});

test("Ctrl-C cancels a job, and a second one stops waiting for its end", async () => {
	let looks = 0;
	const cancelled = await run({
		answers: { job: [job("running", 1), job("cancelled", 1)] },
		on: (name, process) => {
			if (name === "apply") process.emit("SIGINT");
		},
	});
	expect(cancelled).toMatchObject({ code: 3 });
	expect(cancelled.sent).toEqual([...(["running-job", "plan", "apply", "cancel", "job", "job"] as const)]);
	expect(cancelled.text).toEndWith("Job 1: cancelled");
	const left = await run({
		answers: { job: [job("running", 1)] },
		on: (name, process) => {
			if (name !== "job") return;
			looks += 1;
			if (looks <= 2) process.emit("SIGINT");
		},
	});
	expect(left).toMatchObject({ code: 1 });
	expect(left.text).toContain("Not waiting for the end of the job 1, which is being cancelled.");
});

test("SIGTERM leaves a job to continue, and says how", async () => {
	const { code, text, sent } = await run({
		answers: { job: [job("running", 1)] },
		on: (name, process) => {
			if (name === "job") process.emit("SIGTERM");
		},
	});
	expect(code).toBe(1);
	expect(sent).not.toContain("cancel");
	expect(text).toContain("the job continues when the bot starts");
});

test("a signal before the job ends the command, and nothing is changed", async () => {
	const { code, text, sent } = await run({
		on: (name, process) => {
			if (name === "plan") process.emit("SIGINT");
		},
	});
	expect(code).toBe(1);
	expect(sent).not.toContain("apply");
	expect(text).toContain("Interrupted. The guild was not changed.");
});

test("a bot that does not respond for a moment is asked again, and not for ever", async () => {
	const silent = new NoResponse("the bot at http://a: the connection was lost");
	const answers = { job: [silent, new ToolError("not connected"), job("done", 2)] };
	expect(await run({ answers })).toMatchObject({ code: 0 });
	const lost = await run({ answers: { job: [silent] }, silenceMs: 0 });
	expect(lost).toMatchObject({ code: 1 });
	expect(lost.text).toContain("The job 1 cannot be watched");
	expect(lost.text).toContain("It is not lost");
});

test("the errors of the bot and of the start are shown, and nothing is written", async () => {
	const file = join(directory, "b.yaml");
	const command = { action: "export", file } as const;
	const refused = await run({ command, answers: { export: [new ToolError("No guild was named.")] } });
	expect(refused).toMatchObject({ code: 1 });
	expect(refused.text).toContain("No guild was named.");
	const failed = await run({ command, open: () => Promise.reject(new CheckFailed("the database is in use")) });
	expect(failed).toMatchObject({ code: 1 });
	expect(failed.text).toContain("the database is in use");
	expect(failed.text).toContain("is not known: MCP_PORT is 0");
	expect(readdirSync(directory)).toEqual(["a.yaml"]);
});
