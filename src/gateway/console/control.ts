// Control of the bots and the gateway in the console, through the `up` that runs them. Only for the holder of
// MCP_AUTH_TOKEN: it does what `up restart` and the others do on the command line.

import * as v from "valibot";
import type { Log } from "../../lib/log.ts";
import { ConsoleError, readJson } from "./respond.ts";
import type { StateOptions } from "./state.ts";
import type { Viewer } from "./viewer.ts";

/** Shorter than the time for which the browser's connection may be silent, in milliseconds. */
const maxMs = 55_000;

const given = v.strictObject({
	command: v.picklist(["restart", "stop", "start", "log", "check", "add"]),
	name: v.pipe(v.string(), v.maxLength(64)),
	token: v.optional(v.pipe(v.string(), v.maxLength(200))),
});

/** Responds with what the command printed. Without `up`, nothing can be controlled. */
export function createControl({ backends, up, log }: Pick<StateOptions, "backends" | "up"> & { log: Log }) {
	return async (request: Request, { person }: Viewer): Promise<{ lines: readonly string[] }> => {
		if (person) throw new ConsoleError("forbidden", "Only the holder of MCP_AUTH_TOKEN can control the bots.");
		if (!up) throw new ConsoleError("unavailable", "This gateway was not started by up, which starts and stops bots.");
		const { command, name, token } = await readJson(request, given);
		log.info("command from the console", { command, name });
		const response = await up.command({ command, name, token }, maxMs).catch(() => {
			throw new ConsoleError("unavailable", "It takes longer than usual. The bot's state shows when it is done.");
		});
		if ("error" in response) throw new ConsoleError("invalid", response.error);
		if (!("lines" in response)) throw new Error("unexpected response");
		// So that the page shows it as online at once.
		if (command === "restart" || command === "start") await backends.find((one) => one.name === name)?.refresh();
		return response;
	};
}
