// The simulator's control routes: records, faults, state and sockets.

import type * as v from "valibot";
import type { InjectedFault } from "../rest/faults.ts";
import { allRoutes } from "../rest/routes/all.ts";
import type { Account, Guild, Member } from "../world/state/entities.ts";
import { isGuildChannel, isVoice } from "../world/state/entities.ts";
import { channelPermissions, guildPermissions } from "../world/state/permissions.ts";
import { BadRequest, type ControlRoutes, readBody, readQuery } from "./control.ts";
import type { Controllable } from "./controllable.ts";
import { EventLog } from "./event-log.ts";
import * as requests from "./requests.ts";
import {
	oauth2Summary,
	summarizeCommands,
	summarizeFault,
	summarizeGuild,
	summarizeInteraction,
	summarizeState,
} from "./views.ts";
import { watch } from "./watch.ts";

export function controlRoutes(simulator: Controllable): ControlRoutes {
	const log = new EventLog();
	let isWatched = false;
	const events = () => {
		if (!isWatched) watch(simulator, log);
		isWatched = true;
		return log;
	};
	return {
		...personRoutes(simulator),
		...recordRoutes(simulator),
		...socketRoutes(simulator),
		"GET /simulator/state": () => ({
			...summarizeState(simulator),
			last_event_id: events().lastId,
		}),
		"GET /simulator/events": (request) => {
			const { after } = readQuery(requests.eventsQuery, request);
			return events().open(request.headers.get("last-event-id") ?? after);
		},
		"GET /simulator/guild": (request) => {
			const { id, user = "" } = readQuery(requests.guildQuery, request);
			return summarizeGuild(simulator.world, guildOf(simulator, id), user);
		},
		"GET /simulator/commands": (request) => {
			const { guild: id, user, channel } = readQuery(requests.commandsQuery, request);
			const guild = guildOf(simulator, id);
			const place = guild.channels.get(channel ?? "");
			const permissions = place ? channelPermissions(guild, place, user) : guildPermissions(guild, user);
			return summarizeCommands(simulator.world, guild, permissions);
		},
		"POST /simulator/oauth2/application": async (request) =>
			configureApplication(simulator, await readBody(requests.applicationRequest, request)),
		"POST /simulator/oauth2/lifetimes": async (request) => {
			const { authorizations } = simulator.world;
			const given = await readBody(requests.lifetimesRequest, request);
			authorizations.codeLifetimeMs = given.code_ms ?? authorizations.codeLifetimeMs;
			authorizations.tokenLifetimeMs = given.access_token_ms ?? authorizations.tokenLifetimeMs;
			return {
				code_ms: authorizations.codeLifetimeMs,
				access_token_ms: authorizations.tokenLifetimeMs,
			};
		},
	};
}

function recordRoutes(simulator: Controllable): ControlRoutes {
	return {
		"GET /simulator/journal": (request) => {
			const { last } = readQuery(requests.journalQuery, request);
			const entries = simulator.journal.entries();
			return last === undefined ? entries : entries.slice(-last || Infinity);
		},
		"GET /simulator/requests": () => ({
			invalid: simulator.requests.invalid,
			requests: simulator.requests.list(),
		}),
		"GET /simulator/interactions": () =>
			simulator.interactions.list().map((one) => summarizeInteraction(simulator.interactions, one)),
		"GET /simulator/unknown-routes": () => simulator.unknownRoutes,
		"GET /simulator/routes": () => allRoutes.map(({ name }) => name),
		"GET /simulator/faults": () => simulator.faults.list().map(summarizeFault),
		"POST /simulator/faults": async (request) =>
			summarizeFault(injectFault(simulator, await readBody(requests.faultRequest, request))),
		"DELETE /simulator/faults": (request) => {
			const { faults } = simulator;
			const { id } = readQuery(requests.faultQuery, request);
			const fault = faults.list().find((one) => one.id === id);
			if (id === undefined) faults.clear();
			else if (!fault) throw new BadRequest(`id: there is no fault ${id}`);
			fault?.release();
			return faults.list().map(summarizeFault);
		},
	};
}

function socketRoutes(simulator: Controllable): ControlRoutes {
	return {
		"POST /simulator/sockets/disconnect": async (request) => {
			const { sockets } = simulator;
			const { how, ...given } = await readBody(requests.disconnectRequest, request);
			const disconnected = sockets.connected;
			if (how === "close") sockets.disconnect(given);
			else if (how === "invalidate") sockets.invalidate(given);
			else sockets.requestReconnect();
			return { disconnected };
		},
		"POST /simulator/sockets/sharding": async (request) =>
			configureSharding(simulator, await readBody(requests.shardingRequest, request)),
		"POST /simulator/sockets/refusal": async (request) => {
			const given = await readBody(requests.refusalRequest, request);
			simulator.sockets.refuseConnections(given.status ?? undefined);
			return given;
		},
		"POST /simulator/sockets/connections": async (request) => {
			const given = await readBody(requests.connectionsRequest, request);
			simulator.sockets.holdConnections(given.held);
			return given;
		},
		"POST /simulator/sockets/heartbeats": async (request) => {
			const given = await readBody(requests.heartbeatsRequest, request);
			simulator.sockets.ignoreHeartbeats(!given.answered);
			return given;
		},
	};
}

function configureSharding({ world: { sharding } }: Controllable, given: Body<"shardingRequest">) {
	const { settings } = sharding;
	const { shards = settings.shards } = given;
	sharding.configure({
		shards: shards ?? undefined,
		maxConcurrency: given.max_concurrency ?? settings.maxConcurrency,
		maxGuilds: given.max_guilds ?? settings.maxGuilds,
		identifyMs: given.identify_ms ?? settings.identifyMs,
	});
	return {
		shards: settings.shards ?? null,
		max_concurrency: settings.maxConcurrency,
		max_guilds: settings.maxGuilds,
		identify_ms: settings.identifyMs,
	};
}

function personRoutes(simulator: Controllable): ControlRoutes {
	return {
		"POST /simulator/people": async (request) => addPerson(simulator, await readBody(requests.personRequest, request)),
		"POST /simulator/intents": async (request) =>
			setIntents(simulator, await readBody(requests.intentsRequest, request)),
		"POST /simulator/screening": async (request) =>
			passScreening(simulator, await readBody(requests.screeningRequest, request)),
		"POST /simulator/voice": async (request) => setVoice(simulator, await readBody(requests.voiceRequest, request)),
		"POST /simulator/votes": async (request) => vote(simulator, await readBody(requests.voteRequest, request)),
	};
}

function guildOf({ world }: Controllable, id: string): Guild {
	const guild = world.guilds.get(id);
	if (!guild) throw new BadRequest(`there is no guild ${id}`);
	return guild;
}

function addPerson({ world }: Controllable, { username, global_name = null }: Body<"personRequest">) {
	for (const { user } of world.accounts.values())
		if (user.username === username) throw new BadRequest(`username: ${username} is taken`);
	const { user, token } = world.users.addPerson({ username, global_name });
	return { id: user.id, username, global_name, token };
}

/** As in Discord's developer portal: the bot's sessions end, so that it identifies again. */
function setIntents({ world, sockets }: Controllable, { bot_id, intents }: Body<"intentsRequest">) {
	const isMeant = ({ user }: Account) => user.bot && user.id === bot_id;
	const bot = world.accounts.values().find(isMeant);
	if (!bot) throw new BadRequest(`bot_id: ${bot_id} is not the id of a bot`);
	bot.privilegedIntents = intents;
	sockets.disconnect({ botId: bot_id, resumable: false });
	return { bot_id, intents };
}

function passScreening(simulator: Controllable, { guild_id, user_id }: Body<"screeningRequest">) {
	const guild = guildOf(simulator, guild_id);
	const member = memberOf(guild, user_id);
	if (member.pending) simulator.world.members.edit(guild, member, { pending: false });
	return { guild_id, user_id };
}

function memberOf(guild: Guild, userId: string): Member {
	const member = guild.members.get(userId);
	if (!member) throw new BadRequest(`user_id: ${userId} is not a member of that guild`);
	return member;
}

type Body<Name extends keyof typeof requests> = v.InferOutput<(typeof requests)[Name]>;

function injectFault({ faults }: Controllable, request: Body<"faultRequest">): InjectedFault {
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

function setVoice({ world }: Controllable, { user_id, channel_id, ...own }: Body<"voiceRequest">) {
	const channel = world.channels.get(channel_id ?? "");
	const guilds = [...world.guilds.values()].filter(({ members }) => members.has(user_id));
	if (channel_id === null) {
		for (const guild of guilds) {
			const member = guild.members.get(user_id);
			if (member) world.voice.leave(guild, member);
		}
		return { user_id, channel_id };
	}
	if (!channel || !isGuildChannel(channel) || !isVoice(channel))
		throw new BadRequest(`channel_id: ${channel_id} is not a voice channel`);
	const member = memberOf(world.guilds.of(channel), user_id);
	world.voice.join(channel, member, own);
	return { user_id, channel_id };
}

function configureApplication({ world }: Controllable, given: Body<"applicationRequest">) {
	const { client_id, client_secret, redirect_uris } = given;
	if (!world.authorizations.settings(client_id))
		throw new BadRequest(`client_id: ${client_id} is not the id of a bot's application`);
	world.authorizations.configure(client_id, {
		...(client_secret !== undefined && { clientSecret: client_secret }),
		...(redirect_uris && { redirectUris: redirect_uris }),
	});
	return { client_id, ...oauth2Summary(world, client_id) };
}

async function vote(simulator: Controllable, given: Body<"voteRequest">) {
	const { username, channel_id, message_id, answer_ids } = given;
	try {
		const message = { id: message_id, channel_id };
		await simulator.user(username).vote(message, ...answer_ids);
	} catch (error) {
		throw new BadRequest((error as Error).message);
	}
	return given;
}
