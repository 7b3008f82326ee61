// A control socket in the place of the running `up`. It starts and stops nothing.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ControlRequest, ControlResponse, ProgramStatus } from "../../src/lib/instances/control.ts";

export type FakeUp = ReturnType<typeof startFakeUp>;

export function startFakeUp(names: readonly string[]) {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	const socket = join(directory, "control.sock");
	const programs = new Map(
		names.map((name): [string, ProgramStatus] => [name, { name, state: "running", seconds: 1, restarts: 0 }]),
	);
	/** All but "status". */
	const commands: ControlRequest[] = [];

	function respond(request: ControlRequest): ControlResponse {
		const { command, name = "" } = request;
		if (command === "status")
			return { status: { pid: 1, version: "0", directory: "/instances", programs: [...programs.values()] } };
		commands.push(request);
		if (command === "log") return { lines: [`12:00:00 INFO ${name}: logged in`, "a second line"] };
		if (command === "check") return { lines: [`${name}  ✓ config.toml`] };
		if (command === "add")
			return programs.has(name)
				? { error: `${name}: the name is taken` }
				: { lines: [`Wrote instances/${name}`, "https://discord.com/oauth2/authorize?client_id=1"] };
		up.set(name, command === "stop" ? { state: "stopped", isHalted: true } : { state: "running", isHalted: undefined });
		return { lines: [`${name} ${command === "stop" ? "is stopped" : "listens at http://127.0.0.1:1/mcp"}.`] };
	}

	const server = Bun.serve({
		unix: socket,
		fetch: async (request) => Response.json(respond((await request.json()) as ControlRequest)),
	});
	const up = {
		socket,
		commands,
		/** Changes what it says of a program. */
		set(name: string, change: Partial<ProgramStatus>) {
			const known = programs.get(name);
			if (known) programs.set(name, { ...known, ...change });
		},
		async [Symbol.asyncDispose]() {
			await server.stop(true);
			rmSync(directory, { recursive: true });
		},
	};
	return up;
}
