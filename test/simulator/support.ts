// Shared by the simulator's tests: REST calls, a real discord.js client, and a raw socket.

import { test } from "bun:test";
import { Client, GatewayIntentBits as Intent } from "discord.js";
import type { UserClient } from "../../src/simulator/interactions/user-client.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import type { GuildChannel } from "../../src/simulator/world/state/entities.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

export interface Answer {
	readonly status: number;
	readonly headers: Headers;
	/** The parsed body. */
	json<T = Record<string, unknown>>(): T;
	/** Discord's error code, and the errors of a form by field path. */
	readonly code: unknown;
	readonly faults: Record<string, string>;
}

/** Calls the REST API as a bot or a person: `as(simulator, who)("GET", "/users/@me")`. */
export function as(simulator: Simulator, who: UserClient) {
	const { user } = simulator.world.accounts.get(who.token) ?? {};
	const authorization = user?.bot ? `Bot ${who.token}` : who.token;
	return async (
		method: string,
		path: string,
		body?: unknown,
		headers: Record<string, string> = {},
	): Promise<Answer> => {
		const response = await fetch(`${simulator.api}/v10${path}`, {
			method,
			headers: { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		const parsed: unknown = text === "" ? undefined : JSON.parse(text);
		const object = (parsed ?? {}) as Record<string, unknown>;
		return {
			status: response.status,
			headers: response.headers,
			json: <T>() => parsed as T,
			code: object.code,
			faults: flatten(object.errors ?? {}),
		};
	};
}

/** Flattens form errors to { "embeds.0.title": "BASE_TYPE_MAX_LENGTH" }. */
function flatten(tree: object, path = ""): Record<string, string> {
	const faults: Record<string, string> = {};
	for (const [key, value] of Object.entries(tree)) {
		if (key === "_errors") faults[path] = (value as { code: string }[]).map(({ code }) => code).join(",");
		else Object.assign(faults, flatten(value, path ? `${path}.${key}` : key));
	}
	return faults;
}

export const usualIntents = [
	Intent.Guilds,
	Intent.GuildMembers,
	Intent.GuildModeration,
	Intent.GuildMessages,
	Intent.GuildMessageTyping,
	Intent.GuildMessageReactions,
	Intent.DirectMessages,
	Intent.MessageContent,
];

export interface Connected extends AsyncDisposable {
	readonly client: Client<true>;
	/** The raw events it received, in order. */
	readonly events: { t: string; d: Record<string, unknown> }[];
	/** Resolves with the data of the first matching event of this type. */
	event(type: string, fits?: (data: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
}

/** A discord.js client that has logged in and knows its guilds. */
export async function connect(simulator: Simulator, bot = "alpha", intents = usualIntents): Promise<Connected> {
	const client = new Client({
		rest: { api: simulator.api },
		intents,
		// discord.js waits five seconds between two sessions by default.
		ws: { buildIdentifyThrottler: () => ({ waitForIdentify: async () => {} }) },
	});
	const events: Connected["events"] = [];
	client.on("raw", (packet: Connected["events"][number]) => events.push(packet));
	await client.login(simulator.bot(bot).token);
	await until("the client is ready", () => client.isReady());
	return {
		client: client as Client<true>,
		events,
		event: async (type, fits = () => true) => {
			const found = await until(`event ${type}`, () => events.find(({ t, d }) => t === type && fits(d)));
			return found.d;
		},
		[Symbol.asyncDispose]: () => client.destroy(),
	};
}

/** A payload of Discord's Gateway. */
export interface Payload {
	readonly op: number;
	readonly t: string | null;
	readonly s: number | null;
	readonly d: Record<string, unknown> | boolean | null;
}

/** A connection to Discord's Gateway without a library. */
export async function openSocket(simulator: Simulator, query = "v=10&encoding=json") {
	const socket = new WebSocket(`${simulator.url.replace("http", "ws")}/socket?${query}`);
	const received: Payload[] = [];
	let closed: number | undefined;
	socket.addEventListener("message", ({ data }) => received.push(JSON.parse(String(data)) as Payload));
	socket.addEventListener("close", ({ code }) => {
		closed = code;
	});
	await until("the socket opens", () => socket.readyState !== WebSocket.CONNECTING);
	return {
		received,
		send: (op: number, d: unknown) => socket.send(JSON.stringify({ op, d })),
		sendText: (text: string) => socket.send(text),
		/** Resolves with the first matching payload. */
		payload: (what: string, fits: (payload: Payload) => boolean) => until(what, () => received.find(fits)),
		/** Resolves with the close code. */
		closed: () => until("the socket closes", () => closed),
		close: () => socket.close(4000),
		[Symbol.dispose]: () => socket.close(),
	};
}

export { type Simulator, startSimulator };

/** The Cooks with their channel #general, their owner ada, and the REST API as their bot. */
export function cooksOf(simulator: Simulator) {
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const user = (name: string) => known(world.users.get(simulator.user(name).id), name);
	const named = <T extends { name: string }>(all: Map<string, T>, name: string) =>
		known(
			all.values().find((one) => one.name === name),
			name,
		);
	return {
		simulator,
		world,
		guild,
		channel: named(guild.channels, "general"),
		channelNamed: (name: string) => named(guild.channels, name),
		role: (name: string) => named(guild.roles, name),
		ada: user("ada"),
		/** A person or bot. */
		user,
		member: (name: string) => known(guild.members.get(simulator.user(name).id), name),
		alpha: as(simulator, simulator.bot("alpha")),
		/** The REST API as a person or bot. */
		as: (name: string) => as(simulator, simulator.user(name)),
		/** Denies permissions in a channel: to a role or user, by default to the bot. */
		deny: (channel: GuildChannel, bits: bigint, id = simulator.bot("alpha").id) =>
			world.channels.setOverwrite(channel, { id, type: guild.roles.has(id) ? 0 : 1, allow: "0", deny: String(bits) }),
	};
}

/** `test` with a simulator of its own. The test gets the Cooks, and what `setUp` adds for the file's tests. */
export function testWith<T extends object = Record<never, never>>(setUp?: (cooks: Cooks) => T | Promise<T>) {
	return (name: string, run: (given: Cooks & T) => Promise<void>) =>
		test(name, async () => {
			await using simulator = await startSimulator();
			const cooks = cooksOf(simulator);
			await run({ ...cooks, ...((await setUp?.(cooks)) as T) });
		});
}

export type Cooks = ReturnType<typeof cooksOf>;

/** A value that the demo's seed has. */
function known<T>(value: T | undefined, name: string): T {
	if (value === undefined) throw new Error(`${name} is not in the demo's seed`);
	return value;
}
