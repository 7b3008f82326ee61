// The commands `up status`, `up restart`, `up stop` and `up start`, which send a request to the running `up`.

import { ConfigError } from "../lib/config.ts";
import { type ControlRequest, type ControlResponse, sendCommand } from "../lib/instances/control.ts";
import { installedInstances } from "../lib/program/instances.ts";
import { runs } from "../lib/program/program.ts";
import { escapeBreaks } from "../lib/text.ts";
import { hasState, socketPath } from "./claim.ts";
import type { Command } from "./control.ts";
import { formatStatus, isWell, withHealth } from "./status.ts";

export interface CommandLine {
	command: Command;
	/** Empty for "status". */
	names: readonly string[];
	all: boolean;
	json: boolean;
}

export function usageIssue({ command, names, all, json }: CommandLine): string | undefined {
	if (json && command !== "status") return "--json is for status.";
	if (all && command !== "restart") return "--all is for restart.";
	if (command === "status") return names.length > 0 ? "status takes no name." : undefined;
	if (all && names.length > 0) return "Expected a name or --all, not both.";
	return names.length === 1 || all ? undefined : `Expected the name of an instance after ${command}.`;
}

const progressMs = 2_000;
const maxMs = 120_000;

/** Exit code 1 if it failed, or for "status" if a program is not as it should be. ConfigError if no `up` runs. */
export async function runCommand(line: CommandLine, directory: string): Promise<number> {
	const { command, json } = line;
	const ask = (request: ControlRequest) => send(directory, request);
	if (command === "status") {
		const response = await ask({ command });
		if (!("status" in response)) return fail(response);
		const status = await withHealth(response.status);
		console.log(json ? JSON.stringify(status) : formatStatus(status).join("\n"));
		return status.programs.every(isWell) ? 0 : 1;
	}
	const names = line.all ? await allNames(ask) : line.names;
	let code = 0;
	for (const name of names) {
		const response = await ask({ command, name });
		if ("lines" in response) console.log(response.lines.join("\n"));
		else code = fail(response);
	}
	return code;
}

async function allNames(ask: (request: ControlRequest) => Promise<ControlResponse>): Promise<string[]> {
	const response = await ask({ command: "status" });
	const programs = "status" in response ? response.status.programs : [];
	const names = programs.filter(({ state }) => state !== "stopped").map(({ name }) => name);
	return [...names.filter((name) => name !== "gateway"), "gateway"];
}

function fail(response: ControlResponse): number {
	const reason = "error" in response ? response.error : "unexpected response";
	console.error(reason.split("\n").map(escapeBreaks).join("\n  "));
	return 1;
}

export async function send(directory: string, request: ControlRequest): Promise<ControlResponse> {
	const path = hasState(directory) ? socketPath(directory) : undefined;
	const start = performance.now();
	const what = [request.command, request.name].join(" ").trim();
	const progress = setInterval(() => {
		const seconds = Math.round((performance.now() - start) / 1_000);
		console.error(`… ${what} (${seconds} s)`);
	}, progressMs);
	try {
		if (path) return await sendCommand(path, request, maxMs);
	} catch (error) {
		const { code, name } = error as NodeJS.ErrnoException;
		if (name === "TimeoutError") throw new ConfigError(path ?? directory, ["up does not answer"]);
		if (!["ENOENT", "ECONNREFUSED", "ECONNRESET"].includes(code ?? "")) throw error;
	} finally {
		clearInterval(progress);
	}
	throw new ConfigError(directory, [
		`up is not running there. Start it with: ${directory === installedInstances ? "systemctl start guildhall" : runs("up")}`,
	]);
}
