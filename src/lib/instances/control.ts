// The protocol of the Unix socket by which `up` takes commands, from its command line and from the gateway that it runs:
// JSON in the bodies of request and response.

export const controlCommands = ["status", "restart", "stop", "start", "log", "check", "add", "pause"] as const;

/** "log": the last lines. "add": makes an instance. "pause": ends a program, also the gateway, until "restart". */
export interface ControlRequest {
	command: (typeof controlCommands)[number];
	name?: string | undefined;
	/** For "add": the bot's, from Discord. */
	token?: string | undefined;
}

/** "starting": not listening yet. "running": listening. "waiting": for a restart. "stopped": on request. */
export type ProgramState = "starting" | "running" | "waiting" | "stopping" | "stopped";

export interface ProgramStatus {
	/** Of the instance, or "gateway". */
	name: string;
	state: ProgramState;
	/** Stopped until somebody starts it. */
	isHalted?: boolean | undefined;
	/** In this state. */
	seconds: number;
	pid?: number | undefined;
	url?: string | undefined;
	/** How often it ended by itself and was started again. */
	restarts: number;
	/** Why the last start, or a replacement, failed. */
	issue?: string | undefined;
	/** Why it ended, while it waits for a restart: one line without invisible characters. */
	reason?: string | undefined;
	/** Absolute path of its SQLite file, or "PostgreSQL". */
	database?: string | undefined;
	/** "ok" if ready. Only `up status` asks for it. */
	health?: string | undefined;
}

/** As `up status --json` prints it: the gateway first, then the bots by name. */
export interface UpStatus {
	pid: number;
	version: string;
	/** A newer release, if it is known. */
	newer?: string | undefined;
	directory: string;
	programs: ProgramStatus[];
}

/** The URL at which it listens, or why it does not. */
export type Started = { url: string } | { reason: string };

/** To "status", to others what they print, or why they failed. */
export type ControlResponse = { status: UpStatus } | { lines: readonly string[] } | { error: string };

/** Rejects if `up` does not answer in time. */
export async function sendCommand(path: string, request: ControlRequest, maxMs: number): Promise<ControlResponse> {
	const signal = AbortSignal.timeout(maxMs);
	const response = await fetch("http://up/", { unix: path, method: "POST", body: JSON.stringify(request), signal });
	return (await response.json()) as ControlResponse;
}
