// The output of `up status`: the state of each program, as JSON and as text.

import { styleText } from "node:util";
import type { ProgramState, ProgramStatus, UpStatus } from "../lib/instances/control.ts";
import { isNewer } from "../lib/program/program.ts";
import { duration, escapeBreaks, onOneLine } from "../lib/text.ts";
import type { Programs } from "./programs.ts";
import type { Supervisor } from "./supervisor.ts";

const healthMs = 1_000;
const maxHealthLength = 100;
const maxReasonLength = 200;

export function describePrograms(programs: Programs, now: number): ProgramStatus[] {
	const { all, gateway, gatewayIssue } = programs;
	return all.map((supervisor) => ({
		...describeProgram(supervisor, now),
		database: programs.databaseOf(supervisor.name),
		...(supervisor === gateway && gatewayIssue !== undefined && { issue: gatewayIssue }),
	}));
}

/** `now`: its clock in milliseconds. */
export function describeProgram(supervisor: Supervisor, now: number): ProgramStatus {
	const { name, state, isHalted, since, pid, url, restarts, issue, endReason } = supervisor;
	const seconds = Math.floor((now - since) / 1_000);
	const reason =
		state === "waiting" && issue === undefined && endReason !== undefined
			? onOneLine(endReason, maxReasonLength)
			: undefined;
	return { name, state, isHalted: isHalted || undefined, seconds, pid, url, restarts, issue, reason };
}

/** Asks those that are running. */
export async function withHealth(status: UpStatus): Promise<UpStatus> {
	const programs = status.programs.map(async (program) => {
		const { state, url } = program;
		return state === "running" && url !== undefined ? { ...program, health: await askHealth(url) } : program;
	});
	return { ...status, programs: await Promise.all(programs) };
}

async function askHealth(url: string): Promise<string> {
	try {
		const response = await fetch(new URL("/readyz", url), {
			signal: AbortSignal.timeout(healthMs),
			keepalive: false,
			redirect: "manual",
		});
		return (await response.text()).trim().slice(0, maxHealthLength);
	} catch {
		return "no answer";
	}
}

/** Ready, or a bot that the operator has stopped. */
export function isWell(program: ProgramStatus): boolean {
	const { name, state, health, issue } = program;
	if (state === "stopped") return name !== "gateway";
	return state === "running" && health === "ok" && issue === undefined;
}

/** With colours if `stream` supports them. */
export function formatStatus(
	{ pid, version, newer, directory, programs }: UpStatus,
	stream: NodeJS.WriteStream = process.stdout,
): string[] {
	const width = Math.max(...programs.map(({ name }) => name.length));
	return [
		`guildhall ${version}, process ${pid}, ${escapeBreaks(directory)}`,
		...newerLines(newer),
		...programs.flatMap((program) => {
			const name = program.name.padEnd(width);
			const [first = "", ...rest] = stateLines(program);
			const style = colourOf(program);
			return [
				`  ${name}  ${styleText(style, first, { stream })}`,
				...rest.map((line) => `  ${" ".repeat(width)}  ${line}`),
			];
		}),
	];
}

/** The programs, and this one, may be newer than the running `up`. */
export function newerLines(newer: string | undefined): string[] {
	return newer === undefined || !isNewer(newer)
		? []
		: [`Version ${escapeBreaks(newer)} is available: guildhall upgrade`];
}

function colourOf(program: ProgramStatus): "green" | "yellow" | "red" | "gray" {
	if (program.state === "stopped") return "gray";
	if (isWell(program)) return "green";
	return program.issue === undefined ? "yellow" : "red";
}

/** Further lines say why it does not start, or why it ended. */
export function stateLines(program: ProgramStatus): string[] {
	const { state, seconds, pid, url, restarts, issue, reason } = program;
	const details = [
		duration(seconds * 1_000),
		...(pid === undefined ? [] : [`process ${pid}`]),
		...(state === "running" && url !== undefined ? [url] : []),
		...(restarts === 0 ? [] : [`restarted ${restarts} ${restarts === 1 ? "time" : "times"}`]),
	];
	return [`${stateWord(program)} (${details.join(", ")})`, ...((issue ?? reason)?.split("\n").map(escapeBreaks) ?? [])];
}

function stateWord({ state, issue, health }: ProgramStatus): string {
	if (state !== "running") return issue === undefined ? states[state] : "cannot start";
	return health === undefined || health === "ok" ? states.running : escapeBreaks(health);
}

const states: Record<ProgramState, string> = {
	starting: "starting",
	running: "running",
	waiting: "ended, will be started again",
	stopping: "stopping",
	stopped: "stopped",
};
