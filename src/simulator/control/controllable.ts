// The interface of a simulator for its control routes.

import type { Interactions } from "../interactions/interactions.ts";
import type { UserClient } from "../interactions/user-client.ts";
import type { Faults } from "../rest/faults.ts";
import type { Journal, RequestLog } from "../rest/journal.ts";
import type { UnknownRoute } from "../rest/router.ts";
import type { SocketHub } from "../socket/socket.ts";
import type { World } from "../world/world.ts";

export interface Controllable {
	/** The simulator's URL: "http://127.0.0.1:PORT". */
	url: string;
	/** The base URL of the simulated REST API without its version, for the option `rest.api` of discord.js. */
	api: string;
	/** The base URL of the simulated CDN, for the option `rest.cdn` of discord.js. */
	cdn: string;
	/** The simulated guilds, channels, users and messages. Changes to them send the same events as on Discord. */
	world: World;
	/** The REST requests that changed something in the simulated Discord, in order. */
	journal: Journal;
	requests: RequestLog;
	/** Routes that clients have requested but the simulator does not implement. */
	unknownRoutes: readonly UnknownRoute[];
	faults: Faults;
	/** Every use of a slash command or button, with the bot's response. */
	interactions: Interactions;
	/** The bots' WebSocket connections to the simulated Gateway. Tests can close and delay them. */
	sockets: SocketHub;
	/** The steps of the page's tour: title, text, "person/guild/channel" to open, "raid" or "-", questions. */
	tour: string[][];
	/** Returns a client that acts as the person or bot with this user name. Throws if there is none. */
	user(username: string): UserClient;
}
