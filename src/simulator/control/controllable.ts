// The interface of a simulator for its control routes.

import type { Interactions } from "../interactions/interactions.ts";
import type { UserClient } from "../interactions/user-client.ts";
import type { Faults } from "../rest/faults.ts";
import type { Journal, RequestLog } from "../rest/journal.ts";
import type { SocketHub } from "../socket/socket.ts";
import type { World } from "../world/world.ts";

export interface Controllable {
	url: string;
	/** The base URL of the simulated REST API without its version, for the option `rest.api` of discord.js. */
	api: string;
	/** The base URL of the simulated CDN, for the option `rest.cdn` of discord.js. */
	cdn: string;
	world: World;
	journal: Journal;
	requests: RequestLog;
	faults: Faults;
	interactions: Interactions;
	sockets: SocketHub;
	/** The steps of the page's tour: title, text, "person/guild/channel" to open, "raid" or "-", questions. */
	tour: string[][];
	/** Returns a client that acts as the person or bot with this user name. Throws if there is none. */
	user(username: string): UserClient;
}
