// The bot's connection to Discord, without the rest of the bot, and a stub of Discord's Gateway.

import type { Client } from "discord.js";
import { Connection, type ConnectionOptions } from "../../src/discord/connection/connection.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { recordLog } from "./log.ts";
import { startSimulator } from "./simulator.ts";

export interface OpenOptions extends Partial<ConnectionOptions> {
	/** For each new client, before it logs in. */
	attach?: (client: Client) => void;
}

/** A connection that is being opened, and reconnects at once. */
export function openConnection(api: string, { attach, ...options }: OpenOptions = {}) {
	const recorded = recordLog("info");
	const connection = new Connection({
		token: "token",
		api,
		cdn: new URL(api).origin,
		log: recorded.log,
		// Tests send more than 50 per second.
		requestsPerSecond: 1_000_000,
		privileged: ["GuildMembers"],
		...options,
		timing: { backOffMs: [1, 4], invalidSessionMs: [1, 4], identifyMs: 0, ...options.timing },
	});
	const opened = connection.open(attach);
	return {
		connection,
		recorded,
		/** Resolves when it is logged in or has failed. */
		opened,
		/** The log entries of lost connections, of reconnects, and of failed attempts. */
		losses: () => recorded.entries("lost the connection to Discord's Gateway, reconnecting"),
		returns: () => recorded.entries("reconnected to Discord's Gateway"),
		failures: () => recorded.entries("could not connect to Discord's Gateway, trying again"),
		async [Symbol.asyncDispose]() {
			await connection.close();
			await opened;
		},
	};
}

/** The connection of the bot "alpha" to a simulator of its own. */
export async function startConnection(prepare: (simulator: Simulator) => void = () => {}, options: OpenOptions = {}) {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator());
	prepare(simulator);
	const { id, token } = simulator.bot("alpha");
	const alpha = stack.use(openConnection(simulator.api, { token, ...options }));
	const account = simulator.world.accounts.get(token);
	if (!account) throw new Error("alpha has an account");
	const owned = stack.move();
	return {
		...alpha,
		simulator,
		account,
		logins: () => simulator.world.users.sessionStarts.used.get(id),
		dropped: (type: string) => alpha.connection.droppedEvents.counts.get(type)?.count ?? 0,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** Discord's response to GET /gateway/bot. */
export function gatewayInfo(port: number | undefined) {
	const limit = { total: 1000, remaining: 1000, reset_after: 0 };
	return Response.json({
		url: `ws://127.0.0.1:${port}`,
		shards: 1,
		session_start_limit: { ...limit, max_concurrency: 1 },
	});
}

interface StubOptions {
	/** Undefined: it says no Hello. */
	heartbeatMs?: number | undefined;
	/** What it answers to a payload. */
	answer?(payload: { op: number }, socket: Bun.ServerWebSocket<undefined>): object[];
}

/** A Discord without guilds, which says nothing of its own accord but Hello. */
export function stubDiscord({ heartbeatMs, answer = () => [] }: StubOptions = {}) {
	const seen = { connections: 0, /** Of the latest one. */ heartbeats: 0 };
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch: (request, server) => (server.upgrade(request) ? undefined : gatewayInfo(server.port)),
		websocket: {
			open(socket) {
				seen.connections += 1;
				seen.heartbeats = 0;
				const d = { heartbeat_interval: heartbeatMs };
				if (heartbeatMs) socket.send(JSON.stringify({ op: 10, d }));
			},
			message(socket, text) {
				const payload = JSON.parse(String(text));
				if (payload.op === 1) seen.heartbeats += 1;
				for (const one of answer(payload, socket)) socket.send(JSON.stringify(one));
			},
		},
	});
	const ready = {
		v: 10,
		user: { id: "140000000000000001", username: "alpha" },
		guilds: [],
		session_id: "session",
		resume_gateway_url: `ws://127.0.0.1:${server.port}`,
		application: { id: "140000000000000001", flags: 0 },
	};
	return {
		seen,
		api: `http://127.0.0.1:${server.port}/api`,
		ready: { op: 0, t: "READY", s: 1, d: ready },
		[Symbol.asyncDispose]: () => server.stop(true),
	};
}
