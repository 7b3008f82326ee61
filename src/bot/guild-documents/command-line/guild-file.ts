// `bot --export-guild`, `--plan-guild` and `--apply-guild`: guilds as files. Through the bot that runs on this machine if
// there is one; otherwise the command logs in to Discord and opens the database itself.

import { setTimeout as sleep } from "node:timers/promises";
import type { GuildDocument } from "../../../guild-document/format/document.ts";
import { picturesIn } from "../../../guild-document/read/picture.ts";
import { describeConnectionError } from "../../../lib/http.ts";
import { isObject, parseJson } from "../../../lib/json.ts";
import type { Log } from "../../../lib/log.ts";
import { askOnTerminal } from "../../../lib/program/ask.ts";
import { CheckFailed } from "../../../lib/program/check.ts";
import { askPort } from "../../../lib/program/own-port.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { within } from "../../../lib/wait.ts";
import type { BotConfig } from "../../config/config.ts";
import { askPortOwner, botHeaders, botUrl, type PortOwner } from "../../setup/port-owner.ts";
import { routePrefix } from "../route.ts";
import {
	formatDocument,
	picturesDirectory,
	readDocumentFile,
	readPicture,
	requireWritable,
	standardStream,
	writeDocument,
} from "./document-file.ts";
import { createInterrupts, type Interrupts } from "./interrupts.ts";
import type { GuildFileCommand } from "./options.ts";
import { maxDocumentBytes, type RequestOutput, requestTimeoutMs, type SendDocumentRequest } from "./requests.ts";

const exitCodes = {
	done: 0,
	error: 1,
	/** The plan has differences, or not all changes were made. */
	differs: 3,
} as const;

/** For the command's own process, because the bot is not running. */
export interface OwnDocuments {
	send: SendDocumentRequest;
	/** Also continues jobs that an earlier process did not finish. */
	startJobs(): void;
	close(): Promise<void>;
}

const defaults = {
	/** Receives the result: a document, a plan, or the outcome. */
	write: (text: string): Promise<unknown> => Bun.write(Bun.stdout, text),
	/** Receives progress and errors, line by line. */
	report: (line: string): void => console.error(line),
	/** False if stdin is not a terminal. */
	ask: askOnTerminal,
	/** Milliseconds between two requests for the progress of a job. */
	lookMs: 1_000,
	/** Milliseconds between two messages: about new progress, and that the command is still waiting. */
	reportMs: [2_000, 10_000] as readonly [number, number],
	/** Milliseconds without a response of the bot after which the command stops waiting for the job. */
	silenceMs: 60_000,
};

interface GuildFileOptions extends Partial<typeof defaults> {
	/** Logs in and opens the database. Rejects with a CheckFailed if one is unavailable. */
	open(
		config: BotConfig,
		log: Log,
		options: { needsMembers: boolean; report: (line: string) => void },
	): Promise<OwnDocuments>;
	interrupts?: Interrupts;
}

type Work = typeof defaults &
	Omit<OwnDocuments, "close"> & { command: GuildFileCommand; interrupts: Interrupts; whoContinues: string };

/** Resolves with the exit code. */
export async function guildFile(
	command: GuildFileCommand,
	config: BotConfig,
	log: Log,
	options: GuildFileOptions,
): Promise<number> {
	const { interrupts = createInterrupts(), open, ...given } = options;
	const knobs = { ...defaults, ...given };
	try {
		const { action, file, parts } = command;
		if (action === "export") requireWritable(file, command.force);
		// Before anything is asked of the bot: most mistakes are in the document.
		const document = action === "export" ? undefined : await readDocumentFile(file, parts);
		const needsMembers = document?.members !== undefined || (parts?.includes("members") ?? false);
		const way = await findWay(config, log, { ...knobs, open, needsMembers });
		const work: Work = {
			...knobs,
			...way,
			command,
			interrupts,
			// Work goes on behind an interrupted command, until its next request.
			send: (name, input) => {
				interrupts.check();
				return way.send(name, input);
			},
		};
		try {
			return await interrupts.race(document ? compareOrApply(work, document) : exportGuild(work));
		} finally {
			await way.close();
		}
	} catch (error) {
		return reportError(error, knobs.report);
	} finally {
		interrupts.end();
	}
}

function reportError(error: unknown, report: (line: string) => void): number {
	if (error instanceof CheckFailed) {
		report(error.message);
		if (error.nextStep) report(error.nextStep);
	} else if (error instanceof ToolError) report(error.message);
	else if (error instanceof NoResponse) report(`No response from ${error.message}. Run the command again.`);
	else throw error;
	return exitCodes.error;
}

/** Through the running bot, or by itself; tells the operator which. */
async function findWay(
	config: BotConfig,
	log: Log,
	{ open, needsMembers, ...knobs }: typeof defaults & Pick<GuildFileOptions, "open"> & { needsMembers: boolean },
) {
	const owner: PortOwner = config.mcpPort === 0 ? { why: "is not known: MCP_PORT is 0" } : await askPortOwner(config);
	const url = botUrl(config);
	const { report } = knobs;
	if (owner.bot === config.botName) {
		report(`Using the running bot ${config.botName} at ${url}.`);
		const nothing = { startJobs() {}, async close() {} };
		return { send: createBotClient(config), ...nothing, whoContinues: "the bot continues the job" };
	}
	report(
		`No bot of this configuration runs at ${url} (it ${owner.why}). Logging in to Discord and opening the database.`,
	);
	try {
		const own = await withProgress(knobs, "logging in to Discord", open(config, log, { needsMembers, report }));
		return { ...own, whoContinues: "the job continues when the bot starts, or with the same --apply-guild" };
	} catch (error) {
		if (!(error instanceof CheckFailed)) throw error;
		throw new CheckFailed(
			error.message,
			error.nextStep ??
				`No bot answered at ${url}: the program there ${owner.why}. If the bot runs on another machine, run this command there. If the bot runs on this machine at another address, stop it and run this command again.`,
			{ cause: error },
		);
	}
}

async function exportGuild(work: Work): Promise<number> {
	const { command, send, report, write } = work;
	const { file, guildId, parts, backup, force } = command;
	const what = backup === undefined ? "reading the guild" : "reading the backup";
	const asked = send("export", { guild_id: guildId, parts: parts && [...parts], backup });
	const { guild, document, missing } = await withProgress(work, what, asked);
	for (const line of missing) report(`Left out: ${line}`);
	const text = formatDocument(file, document);
	if (file === standardStream) {
		await write(text);
		if (picturesIn(document).length > 0) report("Its pictures are not written: they need a file name.");
		return exitCodes.done;
	}
	const pictures = await withProgress(work, "fetching pictures", fetchPictures(work, document));
	work.interrupts.check();
	writeDocument(file, text, pictures, force);
	const size = `${Math.ceil(Buffer.byteLength(text) / 1024)} KiB`;
	report(
		`Wrote ${file} (${size})${pictures.size > 0 ? ` and ${pictures.size} pictures in ${picturesDirectory(file)}` : ""}: ${backup === undefined ? guild : `backup ${backup} of ${guild}`}.`,
	);
	return exitCodes.done;
}

async function fetchPictures({ send, report }: Work, document: GuildDocument): Promise<Map<string, Uint8Array>> {
	const pictures = new Map<string, Uint8Array>();
	for (const hash of picturesIn(document)) {
		const { data } = await send("picture", { hash });
		if (data === undefined) report(`Left out: the bot has no picture ${hash}.`);
		else pictures.set(hash, new Uint8Array(Buffer.from(data, "base64")));
	}
	return pictures;
}

async function compareOrApply(work: Work, document: GuildDocument): Promise<number> {
	const { command, send, write, report, ask } = work;
	const { action, guildId, prune, yes } = command;
	if (Buffer.byteLength(JSON.stringify(document)) > maxDocumentBytes)
		throw new CheckFailed(`${command.file} is larger than ${maxDocumentBytes / 1024 / 1024} MiB as JSON`);
	const named = { guild_id: guildId };
	if (action === "apply") {
		const { job } = await send("running-job", named);
		if (job) {
			report("A job in this guild has not ended yet. It is finished first.");
			const end = await runJob(work, async () => job);
			if (!end) return exitCodes.error;
			// The operator has seen enough.
			if (end.state === "cancelled") return exitCodes.differs;
		}
	}
	await withProgress(work, "sending pictures", sendPictures(work, document));
	const asked = send("plan", { ...named, document, prune });
	const plan = await withProgress(work, "comparing the guild with the document", asked);
	await write(`${plan.text}\n`);
	const differs = plan.refusals > 0 ? exitCodes.differs : exitCodes.done;
	if (plan.steps === 0) return differs;
	if (action === "plan") return exitCodes.differs;
	if (!yes && !(await ask("Change the guild like this?")))
		throw new CheckFailed(
			"The changes were not confirmed, so the guild was not changed.",
			"Run the command on a terminal and answer yes to the question, or pass --yes.",
		);
	const end = await runJob(work, async () => {
		const started = send("apply", { plan_hash: plan.plan_hash, reason: "--apply-guild" });
		const { job } = await withProgress(work, "starting the job", started);
		if (!job) throw new CheckFailed("The plan has no changes that the bot can make, so the guild was not changed.");
		return job;
	});
	if (!end) return exitCodes.error;
	return end.state === "done" ? differs : exitCodes.differs;
}

async function runJob(work: Work, start: () => Promise<Job>): Promise<Job | undefined> {
	// From here on a signal must not end the command before it is known whether there is a job.
	work.interrupts.check();
	work.interrupts.handle();
	try {
		work.startJobs();
		const job = await start();
		work.report(`Job ${job.job_id}. Ctrl-C cancels it after its running step.`);
		const end = await follow(work, job);
		if (end) await work.write(`${end.text}\n`);
		return end;
	} finally {
		work.interrupts.release();
	}
}

async function sendPictures({ send, report, command }: Work, document: GuildDocument): Promise<void> {
	const wanted = picturesIn(document);
	if (wanted.length === 0) return;
	const directory = picturesDirectory(command.file);
	const { hashes } = await send("missing-pictures", { hashes: wanted });
	for (const hash of hashes) {
		const picture = readPicture(directory, hash);
		if ("issue" in picture) report(`The bot has no picture ${hash}, and neither have you: ${picture.issue}.`);
		else await send("add-picture", { hash, data: Buffer.from(picture.bytes).toString("base64") });
	}
}

type Job = NonNullable<RequestOutput<"apply">["job"]>;

async function follow(work: Work, started: Job): Promise<Job | undefined> {
	const { send, report, interrupts, lookMs, silenceMs, whoContinues } = work;
	let job = started;
	let shown = "";
	let shownAt = performance.now();
	let heardAt = shownAt;
	let isCancelled = false;
	while (job.state === "running") {
		await sleep(lookMs);
		if (interrupts.last === "leave") {
			const why = isCancelled ? ", which is being cancelled" : `: ${whoContinues}`;
			report(`Not waiting for the end of the job ${job.job_id}${why}.`);
			return undefined;
		}
		try {
			if (interrupts.last === "cancel" && !isCancelled) {
				report("Cancelling after the running step. Ctrl-C again stops waiting.");
				job = await send("cancel", { job_id: job.job_id });
				isCancelled = true;
			} else job = await send("job", { job_id: job.job_id });
			heardAt = performance.now();
		} catch (error) {
			// The bot may be restarting, or its database.
			if (!(error instanceof NoResponse || error instanceof ToolError)) throw error;
			if (performance.now() - heardAt < silenceMs) continue;
			throw new CheckFailed(
				`The job ${job.job_id} cannot be watched: ${error.message}`,
				`It is not lost: ${whoContinues}.`,
				{ cause: error },
			);
		}
		const { done, total, failed, waiting } = job;
		const line = `${done} of ${total} done${failed > 0 ? `, ${failed} failed` : ""}${waiting === undefined ? "" : `; waiting: ${waiting}`}`;
		const [changedMs, sameMs] = work.reportMs;
		const sinceMs = performance.now() - shownAt;
		if (sinceMs < (line === shown ? sameMs : changedMs)) continue;
		shown = line;
		shownAt = performance.now();
		report(line);
	}
	return job;
}

async function withProgress<T>(
	{ report, reportMs: [firstMs, againMs] }: Pick<Work, "report" | "reportMs">,
	what: string,
	work: Promise<T>,
): Promise<T> {
	const from = performance.now();
	for (let waitMs = firstMs; (await within(waitMs, work)) === "late"; waitMs = againMs)
		report(`${what} … ${Math.round((performance.now() - from) / 1000)} s`);
	return work;
}

/** Added to the bot's own timeout, so that the bot's error message still arrives. */
const reserveMs = 10_000;

/** It is then unknown whether the bot carried out the request. */
export class NoResponse extends Error {
	override name = "NoResponse";
}

/** Sends requests to the bot that runs on this machine, over HTTP. */
function createBotClient(config: Pick<BotConfig, "mcpBindAddress" | "mcpPort" | "mcpToken">): SendDocumentRequest {
	const url = botUrl(config);
	const address = { hostname: config.mcpBindAddress, port: config.mcpPort };
	return async (name, input) => {
		const signal = AbortSignal.timeout(requestTimeoutMs + reserveMs);
		const headers = { ...botHeaders(config), "Content-Type": "application/json" };
		const ask = askPort(address, signal)(`${routePrefix}${name}`, headers, JSON.stringify(input));
		const { status, body } = await ask.catch((error) => {
			const reason = signal.aborted ? "it did not respond in time" : describeConnectionError(error);
			throw new NoResponse(`the bot at ${url}: ${reason}`, { cause: error });
		});
		const value = parseJson(body);
		if (status === 200) return value as RequestOutput<typeof name>;
		throw new ToolError(
			isObject(value) && typeof value.error === "string"
				? value.error
				: `The bot at ${url} refuses the request with HTTP status ${status}: ${body.trim().slice(0, 200)}`,
		);
	};
}
