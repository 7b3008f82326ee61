// The Unix socket by which commands reach the running `up`, over HTTP: JSON in the bodies of request and response.

import { chmodSync, rmSync } from "node:fs";
import { ConfigError } from "../lib/config.ts";
import { shownName } from "../lib/text.ts";
import type { Programs } from "./programs.ts";
import type { UpStatus } from "./status.ts";
import type { Started } from "./supervisor.ts";

export const commands = ["status", "restart", "stop", "start"] as const;

export type Command = (typeof commands)[number];

export interface ControlRequest {
	command: Command;
	/** Absent for "status". */
	name?: string;
}

export type ControlResponse = { status: UpStatus } | { started: Started } | { stopped: true } | { error: string };

interface ControlOptions {
	/** In a directory that only this user can open and that this process has locked (`claimState`). */
	path: string;
	programs: Pick<Programs, "bots" | "restart" | "stop" | "start">;
	status(): Promise<UpStatus>;
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
	{ programs, status }: Pick<ControlOptions, "programs" | "status">,
): Promise<ControlResponse> {
	try {
		const request = parseRequest(text);
		if (!request) return { error: "the request is not valid" };
		const { command, name = "" } = request;
		if (command === "status") return { status: await status() };
		const bots = programs.bots.map(({ entry }) => entry.name);
		if (name === "gateway" && command !== "restart")
			return { error: `the gateway can only be restarted; end up itself to ${command} it` };
		if (name !== "gateway" && !bots.includes(name))
			return { error: `there is no instance ${shownName(name)}; there are: ${bots.join(", ") || "none"}` };
		if (command === "stop") {
			await programs.stop(name);
			return { stopped: true };
		}
		return { started: await programs[command](name) };
	} catch (error) {
		return { error: (error as Error).message };
	}
}

function parseRequest(text: string): ControlRequest | undefined {
	try {
		const { command, name } = JSON.parse(text);
		if (!commands.includes(command)) return undefined;
		if (command === "status") return { command };
		return typeof name === "string" ? { command, name } : undefined;
	} catch {
		return undefined;
	}
}
