// The Unix socket by which commands reach the running `up`: a request of one line of JSON, and a response of one line.

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
	/** For receiving a request, in milliseconds. */
	requestMs?: number;
}

const maxRequestBytes = 4_096;
const maxConnections = 16;
const defaultRequestMs = 2_000;

interface Connection {
	received: string;
	pending: Buffer | undefined;
	timer: Timer | undefined;
	isAnswered: boolean;
}

/** The result stops listening and removes the socket. */
export function listenForCommands(options: ControlOptions): () => void {
	const { path, requestMs = defaultRequestMs } = options;
	let connections = 0;
	// A killed process may have left its socket behind. This process has locked the directory, so no other process uses
	// it.
	rmSync(path, { force: true });
	const listener = listen();
	chmodSync(path, 0o600);
	return () => {
		listener.stop(true);
		rmSync(path, { force: true });
	};

	function listen() {
		try {
			return Bun.listen<Connection>({
				unix: path,
				socket: {
					open(socket) {
						connections++;
						socket.data = {
							received: "",
							pending: undefined,
							timer: setTimeout(() => socket.terminate(), requestMs),
							isAnswered: false,
						};
						if (connections > maxConnections) answer(socket, { error: "too many commands at once" });
					},
					data: receive,
					drain: flush,
					error: (socket) => void socket.terminate(),
					close({ data }) {
						connections--;
						clearTimeout(data.timer);
					},
				},
			});
		} catch (error) {
			throw new ConfigError(path, [`cannot listen on the socket (${(error as NodeJS.ErrnoException).code ?? error})`]);
		}
	}

	function receive(socket: Bun.Socket<Connection>, chunk: Buffer): void {
		const { data } = socket;
		if (data.isAnswered) return;
		data.received += chunk.toString("latin1");
		const end = data.received.indexOf("\n");
		if (end < 0 && data.received.length <= maxRequestBytes) return;
		data.isAnswered = true;
		clearTimeout(data.timer);
		const line = Buffer.from(data.received.slice(0, end), "latin1").toString();
		if (end < 0 || end > maxRequestBytes) answer(socket, { error: "the request is too long" });
		else void respond(line, options).then((response) => answer(socket, response));
	}

	function answer(socket: Bun.Socket<Connection>, response: ControlResponse): void {
		socket.data.isAnswered = true;
		socket.data.pending = Buffer.from(`${JSON.stringify(response)}\n`);
		flush(socket);
	}

	function flush(socket: Bun.Socket<Connection>): void {
		const { data } = socket;
		if (!data.pending) return;
		const written = Math.max(socket.write(data.pending), 0);
		data.pending = data.pending.subarray(written);
		if (data.pending.length === 0) socket.end();
	}
}

/** Never rejects. */
export async function respond(
	line: string,
	{ programs, status }: Pick<ControlOptions, "programs" | "status">,
): Promise<ControlResponse> {
	try {
		const request = parseRequest(line);
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

function parseRequest(line: string): ControlRequest | undefined {
	try {
		const { command, name } = JSON.parse(line);
		if (!commands.includes(command)) return undefined;
		if (command === "status") return { command };
		return typeof name === "string" ? { command, name } : undefined;
	} catch {
		return undefined;
	}
}
