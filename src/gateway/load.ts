// Loads the parts that many gateways do not use, or not at the start: without them a gateway starts sooner and needs less
// memory. `require` loads a part at once, so that nothing has to wait for it.

import type { Console, ConsoleOptions } from "./console/console.ts";
import { paths } from "./oauth/protocol/metadata.ts";

const consoleAfterMs = 1_000;

/** Loads a second after the start or at a request: an update may later replace the files by ones that do not fit. */
export function createLazyConsole(
	options: ConsoleOptions,
	{ afterMs = consoleAfterMs, load = loadConsole } = {},
): Console {
	let console: Console | undefined;
	let isClosed = false;
	const create = () => {
		const created = load().createConsole(options);
		// Otherwise its streams would keep the gateway from stopping.
		if (isClosed) created.close();
		return created;
	};
	const get = () => {
		console ??= create();
		return console;
	};
	const timer = setTimeout(() => {
		try {
			get();
		} catch {
			// A request for the console tries again. Its error is logged.
		}
	}, afterMs).unref();
	return {
		respond: (request, path, http) => (path.startsWith(paths.console) ? get().respond(request, path, http) : undefined),
		close() {
			isClosed = true;
			clearTimeout(timer);
			console?.close();
		},
	};
}

const loadConsole = (): Pick<typeof import("./console/console.ts"), "createConsole"> => require("./console/console.ts");

export const loadOAuth = () => require("./oauth/oauth.ts") as typeof import("./oauth/oauth.ts");

export const loadClients = () => require("./oauth/clients/clients.ts") as typeof import("./oauth/clients/clients.ts");

export const loadStoreFile = () => require("./store/file.ts") as typeof import("./store/file.ts");

export const loadStore = () => require("./store/store.ts") as typeof import("./store/store.ts");

export const loadWithdrawals = () => require("./calls/withdrawals.ts") as typeof import("./calls/withdrawals.ts");
