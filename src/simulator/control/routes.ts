// The simulator's control routes: records, faults, state and sockets.

import * as v from "valibot";
import type {
	Interaction,
	Interactions,
} from "../interactions/interactions.ts";
import type { UserClient } from "../interactions/user-client.ts";
import { type Faults, type InjectedFault, isMatch } from "../rest/faults.ts";
import type { Journal, RequestLog } from "../rest/journal.ts";
import type { UnknownRoute } from "../rest/router.ts";
import { allRoutes } from "../rest/routes/all.ts";
import type { SocketHub } from "../socket/socket.ts";
import type { Message } from "../world/state/entities.ts";
import { inGuild, isGuildChannel, isVoice } from "../world/state/entities.ts";
import type { World } from "../world/world.ts";
import { BadRequest, type ControlRoutes, readBody } from "./control.ts";

const match = v.pipe(
	v.string(),
	v.check(
		isMatch,
		'expected a method and a route such as "POST /channels/*/messages"',
	),
);
const limits = {
	match,
	times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
	actor: v.optional(v.string()),
};
const integer = (min: number, max: number) =>
	v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const status = integer(400, 599);

const faultRequest = v.variant("kind", [
	v.strictObject({
		kind: v.literal("refuse"),
		...limits,
		code: v.pipe(v.number(), v.integer()),
		status: v.optional(status),
		message: v.optional(v.string()),
	}),
	v.strictObject({
		kind: v.literal("stall"),
		...limits,
		after: v.optional(v.boolean()),
	}),
	v.strictObject({
		kind: v.literal("drop"),
		...limits,
		when: v.picklist(["before", "after"]),
	}),
	v.strictObject({
		kind: v.literal("rateLimit"),
		...limits,
		retryAfterMs: v.pipe(v.number(), v.minValue(0)),
		global: v.optional(v.boolean()),
		scope: v.optional(v.picklist(["user", "global", "shared"])),
	}),
	v.strictObject({
		kind: v.literal("indexing"),
		...limits,
		retryAfterSeconds: v.pipe(v.number(), v.minValue(0)),
	}),
	v.strictObject({
		kind: v.literal("fail"),
		...limits,
		status: v.pipe(status, v.minValue(500)),
		executed: v.optional(v.boolean()),
	}),
	v.strictObject({
		kind: v.literal("answer"),
		...limits,
		status: integer(200, 599),
		body: v.optional(v.string()),
		headers: v.optional(v.record(v.string(), v.string())),
		executed: v.optional(v.boolean()),
	}),
]);

const disconnectRequest = v.strictObject({
	how: v.optional(v.picklist(["close", "invalidate", "reconnect"]), "close"),
	code: v.optional(integer(1000, 4999)),
	resumable: v.optional(v.boolean()),
});

const voiceRequest = v.strictObject({
	user_id: v.string(),
	channel_id: v.nullable(v.string()),
	self_mute: v.optional(v.boolean()),
	self_deaf: v.optional(v.boolean()),
});

const voteRequest = v.strictObject({
	username: v.string(),
	channel_id: v.string(),
	message_id: v.string(),
	answer_ids: v.array(v.number()),
});

const applicationRequest = v.strictObject({
	client_id: v.string(),
	client_secret: v.optional(v.pipe(v.string(), v.minLength(1))),
	redirect_uris: v.optional(v.array(v.pipe(v.string(), v.url()))),
});

const milliseconds = v.pipe(v.number(), v.minValue(0));
const lifetimesRequest = v.strictObject({
	code_ms: v.optional(milliseconds),
	access_token_ms: v.optional(milliseconds),
});

const refusalRequest = v.strictObject({ status: v.nullable(status) });

const connectionsRequest = v.strictObject({ held: v.boolean() });

const heartbeatsRequest = v.strictObject({ answered: v.boolean() });

/** The parts of a Discord simulator that tests and the simulator's control routes use. */
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

/** Returns the handlers of the simulator's control routes ("GET /simulator/journal" and others). */
export function controlRoutes(simulator: Controllable): ControlRoutes {
	return {
		"GET /simulator/journal": () => simulator.journal.entries(),
		"GET /simulator/requests": () => ({
			invalid: simulator.requests.invalid,
			requests: simulator.requests.list(),
		}),
		"GET /simulator/interactions": () =>
			simulator.interactions
				.list()
				.map((one) => summarizeInteraction(simulator, one)),
		"GET /simulator/unknown-routes": () => simulator.unknownRoutes,
		"GET /simulator/routes": () => allRoutes.map(({ name }) => name),
		"GET /simulator/state": () => summary(simulator),
		"GET /simulator/faults": () => simulator.faults.list().map(summarizeFault),
		"POST /simulator/faults": async (request) =>
			summarizeFault(
				injectFault(simulator, await readBody(faultRequest, request)),
			),
		"DELETE /simulator/faults": () => {
			simulator.faults.clear();
			return [];
		},
		"POST /simulator/sockets/disconnect": async (request) => {
			const { sockets } = simulator;
			const { how, ...given } = await readBody(disconnectRequest, request);
			const disconnected = sockets.connected;
			if (how === "close") sockets.disconnect(given);
			else if (how === "invalidate") sockets.invalidate(given);
			else sockets.requestReconnect();
			return { disconnected };
		},
		"POST /simulator/voice": async (request) =>
			setVoice(simulator, await readBody(voiceRequest, request)),
		"POST /simulator/votes": async (request) =>
			vote(simulator, await readBody(voteRequest, request)),
		"POST /simulator/oauth2/application": async (request) =>
			configureApplication(
				simulator,
				await readBody(applicationRequest, request),
			),
		"POST /simulator/oauth2/lifetimes": async (request) => {
			const { authorizations } = simulator.world;
			const given = await readBody(lifetimesRequest, request);
			authorizations.codeLifetimeMs =
				given.code_ms ?? authorizations.codeLifetimeMs;
			authorizations.tokenLifetimeMs =
				given.access_token_ms ?? authorizations.tokenLifetimeMs;
			return {
				code_ms: authorizations.codeLifetimeMs,
				access_token_ms: authorizations.tokenLifetimeMs,
			};
		},
		"POST /simulator/sockets/refusal": async (request) => {
			const given = await readBody(refusalRequest, request);
			simulator.sockets.refuseConnections(given.status ?? undefined);
			return given;
		},
		"POST /simulator/sockets/connections": async (request) => {
			const given = await readBody(connectionsRequest, request);
			simulator.sockets.holdConnections(given.held);
			return given;
		},
		"POST /simulator/sockets/heartbeats": async (request) => {
			const given = await readBody(heartbeatsRequest, request);
			simulator.sockets.ignoreHeartbeats(!given.answered);
			return given;
		},
	};
}

function injectFault(
	{ faults }: Controllable,
	request: v.InferOutput<typeof faultRequest>,
): InjectedFault {
	switch (request.kind) {
		case "refuse":
			return faults.refuse(request.match, request.code, request);
		case "stall":
			return faults.stall(request.match, request);
		case "drop":
			return faults.drop(request.match, request);
		case "rateLimit":
			return faults.rateLimit(request.match, request);
		case "indexing":
			return faults.indexing(request.match, request);
		case "fail":
			return faults.fail(request.match, request.status, request);
		case "answer":
			return faults.answer(request.match, request);
	}
}

/** Connects a user to a voice channel; disconnects them from voice if channel_id is null. */
function setVoice(
	{ world }: Controllable,
	{ user_id, channel_id, ...own }: v.InferOutput<typeof voiceRequest>,
) {
	const channel = world.channels.get(channel_id ?? "");
	const guilds = [...world.guilds.values()].filter(({ members }) =>
		members.has(user_id),
	);
	if (channel_id === null) {
		for (const guild of guilds) {
			const member = guild.members.get(user_id);
			if (member) world.voice.leave(guild, member);
		}
		return { user_id, channel_id };
	}
	if (!channel || !isGuildChannel(channel) || !isVoice(channel))
		throw new BadRequest(`channel_id: ${channel_id} is not a voice channel`);
	const member = world.guilds.of(channel).members.get(user_id);
	if (!member)
		throw new BadRequest(`user_id: ${user_id} is not a member of that guild`);
	world.voice.join(channel, member, own);
	return { user_id, channel_id };
}

/** Changes the OAuth2 settings of a bot's application. Throws BadRequest if there is no such bot. */
function configureApplication(
	{ world }: Controllable,
	given: v.InferOutput<typeof applicationRequest>,
) {
	const { client_id, client_secret, redirect_uris } = given;
	if (!world.authorizations.settings(client_id))
		throw new BadRequest(
			`client_id: ${client_id} is not the id of a bot's application`,
		);
	world.authorizations.configure(client_id, {
		...(client_secret !== undefined && { clientSecret: client_secret }),
		...(redirect_uris && { redirectUris: redirect_uris }),
	});
	return { client_id, ...oauth2Summary(world, client_id) };
}

/** Returns the OAuth2 settings of a bot's application as JSON. */
export function oauth2Summary({ authorizations }: World, clientId: string) {
	const settings = authorizations.settings(clientId);
	return {
		client_secret: settings?.clientSecret,
		redirect_uris: settings?.redirectUris,
	};
}

/** Votes in a poll as the user with the requested user name. Throws BadRequest if that is not possible. */
async function vote(
	simulator: Controllable,
	given: v.InferOutput<typeof voteRequest>,
) {
	const { username, channel_id, message_id, answer_ids } = given;
	try {
		const message = { id: message_id, channel_id };
		await simulator.user(username).vote(message, ...answer_ids);
	} catch (error) {
		throw new BadRequest((error as Error).message);
	}
	return given;
}

function summarizeFault({ match, effect, hits }: InjectedFault) {
	const { kind, executed } = effect;
	return { kind, match, executed, hits };
}

/**
 * Describes the use of a command or button and the bot's response as JSON, without the interaction token, which is
 * secret.
 */
function summarizeInteraction(
	{ interactions }: Controllable,
	interaction: Interaction,
) {
	const { id, state, user, application, channel, data } = interaction;
	const summarizeMessage = (message: Message) => ({
		id: message.id,
		content: message.content,
		embeds: message.embeds,
		components: message.components,
		flags: message.flags,
		edits: interactions.editsOf(message),
		deleted: !interactions.exists(message),
	});
	return {
		id,
		state,
		data,
		user: user.username,
		application: application.user.username,
		channel_id: channel.id,
		reply: interaction.original ? summarizeMessage(interaction.original) : null,
		follow_ups: interaction.followUps.map(summarizeMessage),
	};
}

function summary({ world, sockets, url, api, cdn }: Controllable) {
	const accounts = [...world.accounts.values()].map(({ token, user }) => ({
		id: user.id,
		username: user.username,
		token,
		bot: user.bot === true,
	}));
	return {
		url,
		api,
		cdn,
		connected: sockets.connected,
		bots: accounts
			.filter(({ bot }) => bot)
			.map((bot) => ({ ...bot, ...oauth2Summary(world, bot.id) })),
		users: accounts.filter(({ bot }) => !bot),
		guilds: [...world.guilds.values()].map((guild) => ({
			id: guild.id,
			name: guild.name,
			owner_id: guild.owner_id,
			member_count: guild.members.size,
			channels: [...guild.channels.values()].map(({ id, name, type }) => ({
				id,
				name,
				type,
			})),
			threads: [...guild.threads.values()].map(
				({ id, name, type, parent_id, archived }) => {
					return { id, name, type, parent_id, archived };
				},
			),
			roles: [...guild.roles.values()].map(({ id, name, position }) => ({
				id,
				name,
				position,
			})),
		})),
		direct_channels: [...world.channels.values()].flatMap((channel) =>
			inGuild(channel)
				? []
				: [
						{
							id: channel.id,
							recipients: channel.recipients.map(({ username }) => username),
						},
					],
		),
	};
}
