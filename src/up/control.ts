// Takes the commands that reach the running `up` by its Unix socket.

import { chmodSync, rmSync } from "node:fs";
import { ConfigError } from "../lib/config.ts";
import { type ControlRequest, type ControlResponse, controlCommands, type UpStatus } from "../lib/instances/control.ts";
import { shownName } from "../lib/text.ts";
import type { Programs } from "./programs.ts";

/** On the command line. */
export const commands = ["status", "restart", "stop", "start"] as const;

export type Command = (typeof commands)[number];

interface ControlOptions {
	/** In a directory that only this user can open and that this process has locked (`claimState`). */
	path: string;
	programs: Pick<Programs, "bots" | "restart" | "stop" | "start" | "pause">;
	status(): UpStatus;
	log(name: string): readonly string[];
	/** Resolves with what it prints. */
	check(name: string): Promise<string[]>;
	/** Makes an instance, which is then started. Resolves with what it prints; rejects if it fails. */
	add(name: string, token: string): Promise<string[]>;
}

const maxRequestBytes = 4_096;
const maxConcurrent = 16;

/** The result stops listening and removes the socket. */
export function listenForCommands(options: ControlOptions): () => void {
	const { path } = options;
	// A killed process may have left its socket behind. This process has locked the directory, so no other process uses
	// it.
	rmSync(path, { force: true });
	const server = listen(options);
	chmodSync(path, 0o600);
	return () => {
		void server.stop(true);
		rmSync(path, { force: true });
	};
}

function listen(options: ControlOptions): Bun.Server<undefined> {
	const { path } = options;
	try {
		return Bun.serve({
			unix: path,
			development: false,
			maxRequestBodySize: maxRequestBytes,
			async fetch(request, { pendingRequests }) {
				const isBusy = pendingRequests > maxConcurrent;
				return Response.json(
					isBusy ? { error: "too many commands at once" } : await respond(await request.text(), options),
				);
			},
		});
	} catch (error) {
		throw new ConfigError(path, [`cannot listen on the socket (${(error as NodeJS.ErrnoException).code ?? error})`]);
	}
}

/** Never rejects. */
export async function respond(
	text: string,
	{ programs, status, log, check, add }: Omit<ControlOptions, "path">,
): Promise<ControlResponse> {
	try {
		const request = parseRequest(text);
		if (!request) return { error: "the request is not valid" };
		const { command, name = "", token = "" } = request;
		if (command === "status") return { status: status() };
		if (command === "add") return { lines: await add(name, token) };
		const bots = programs.bots.map(({ entry }) => entry.name);
		if (name === "gateway" && (command === "stop" || command === "start"))
			return { error: `the gateway can only be restarted; end up itself to ${command} it` };
		if (name !== "gateway" && !bots.includes(name))
			return { error: `there is no instance ${shownName(name)}; there are: ${bots.join(", ") || "none"}` };
		if (command === "log") return { lines: log(name) };
		if (command === "check") return { lines: await check(name) };
		if (command === "stop" || command === "pause") {
			const hasFailed = await programs[command](name);
			return { lines: [`${name} is stopped.${hasFailed ? " Nothing tries to start it again." : ""}`] };
		}
		const started = await programs[command](name);
		if ("reason" in started) return { error: `${name} cannot start: ${started.reason}` };
		return { lines: [`${name} listens at ${started.url}.`] };
	} catch (error) {
		return { error: (error as Error).message };
	}
}

function parseRequest(text: string): ControlRequest | undefined {
	try {
		const { command, name, token } = JSON.parse(text);
		if (!controlCommands.includes(command)) return undefined;
		if (command === "status") return { command };
		if (token !== undefined && typeof token !== "string") return undefined;
		return typeof name === "string" ? { command, name, token } : undefined;
	} catch {
		return undefined;
	}
}
