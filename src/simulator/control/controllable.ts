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
	readonly url: string;
	/** The base URL of the simulated REST API without its version, for the option `rest.api` of discord.js. */
	readonly api: string;
	/** The base URL of the simulated CDN, for the option `rest.cdn` of discord.js. */
	readonly cdn: string;
	/** The simulated guilds, channels, users and messages. Changes to them send the same events as on Discord. */
	readonly world: World;
	/** The REST requests that changed something in the simulated Discord, in order. */
	readonly journal: Journal;
	/** The log of all REST requests to the simulator. */
	readonly requests: RequestLog;
	/** Routes that clients have requested but the simulator does not implement. */
	readonly unknownRoutes: readonly UnknownRoute[];
	readonly faults: Faults;
	/** Every use of a slash command or button, with the bot's response. */
	readonly interactions: Interactions;
	/** The bots' WebSocket connections to the simulated Gateway. Tests can close and delay them. */
	readonly sockets: SocketHub;
	/** Returns a client that acts as the person or bot with this user name. Throws if there is none. */
	user(username: string): UserClient;
}
