// The simulator's control routes: records, faults, state and sockets.

import { Locale } from "discord.js";
import * as v from "valibot";
import { type InjectedFault, isMatch } from "../rest/faults.ts";
import { allRoutes } from "../rest/routes/all.ts";
import { type Guild, isGuildChannel, isVoice } from "../world/state/entities.ts";
import { channelPermissions, guildPermissions } from "../world/state/permissions.ts";
import { BadRequest, type ControlRoutes, count, withBody, withQuery } from "./control.ts";
import type { Controllable } from "./controllable.ts";
import { EventLog } from "./event-log.ts";
import { startRaid } from "./raid.ts";
import { summarizeCommands, summarizeFault, summarizeGuild, summarizeInteraction, summarizeState } from "./views.ts";

const match = v.pipe(v.string(), v.check(isMatch, 'expected a method and a route such as "POST /channels/*/messages"'));
const limits = { match, times: v.optional(count), actor: v.optional(v.string()) };
const integer = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const milliseconds = v.pipe(v.number(), v.minValue(0));
const wholeNumber = v.pipe(v.string(), v.digits(), v.transform(Number));
const status = integer(400, 599);

const faultRequest = v.variant("kind", [
	v.strictObject({
		kind: v.literal("refuse"),
		...limits,
		code: v.pipe(v.number(), v.integer()),
		status: v.optional(status),
		message: v.optional(v.string()),
	}),
	v.strictObject({ kind: v.literal("stall"), ...limits, after: v.optional(v.boolean()) }),
	v.strictObject({ kind: v.literal("drop"), ...limits, when: v.picklist(["before", "after"]) }),
	v.strictObject({
		kind: v.literal("rateLimit"),
		...limits,
		retryAfterMs: milliseconds,
		global: v.optional(v.boolean()),
		scope: v.optional(v.picklist(["user", "global", "shared"])),
	}),
	v.strictObject({ kind: v.literal("indexing"), ...limits, retryAfterSeconds: v.pipe(v.number(), v.minValue(0)) }),
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

export function controlRoutes(simulator: Controllable): ControlRoutes {
	return {
		...personRoutes(simulator),
		...recordRoutes(simulator),
		...socketRoutes(simulator),
		...stateRoutes(simulator),
	};
}

function stateRoutes(simulator: Controllable): ControlRoutes {
	const { world } = simulator;
	let log: EventLog | undefined;
	return {
		"GET /simulator/state": withQuery(v.object({ user: v.optional(v.string(), "") }), ({ user }) =>
			summarizeState(simulator, user),
		),
		"GET /simulator/events": () => {
			log ??= new EventLog().watch(simulator);
			return log.open();
		},
		"GET /simulator/guild": withQuery(v.object({ id: v.string(), user: v.optional(v.string(), "") }), ({ id, user }) =>
			summarizeGuild(world, guildOf(simulator, id), user),
		),
		"GET /simulator/commands": withQuery(
			v.object({ guild: v.string(), user: v.string(), channel: v.optional(v.string(), "") }),
			({ guild: id, user, channel }) => {
				const guild = guildOf(simulator, id);
				const place = guild.channels.get(channel);
				const permissions = place ? channelPermissions(guild, place, user) : guildPermissions(guild, user);
				return summarizeCommands(world, guild, { permissions, locale: world.users.locales.get(user) ?? "" });
			},
		),
	};
}

function recordRoutes(simulator: Controllable): ControlRoutes {
	const { faults, interactions, journal, requests } = simulator;
	return {
		"GET /simulator/journal": withQuery(v.object({ last: v.optional(wholeNumber) }), ({ last }) => {
			const entries = journal.entries();
			return last === undefined ? entries : entries.slice(-last || Infinity);
		}),
		"GET /simulator/requests": () => ({ invalid: requests.invalid, requests: requests.list() }),
		"GET /simulator/interactions": () => interactions.list().map((one) => summarizeInteraction(simulator, one)),
		"GET /simulator/unknown-routes": () => requests.unknownRoutes(),
		"GET /simulator/routes": () => allRoutes.map(({ name }) => name),
		"GET /simulator/faults": () => faults.list().map(summarizeFault),
		"POST /simulator/faults": withBody(faultRequest, (given) => summarizeFault(injectFault(simulator, given))),
		"DELETE /simulator/faults": withQuery(v.object({ id: v.optional(wholeNumber) }), ({ id }) => {
			const fault = faults.list().find((one) => one.id === id);
			if (id === undefined) faults.clear();
			else if (!fault) throw new BadRequest(`id: there is no fault ${id}`);
			fault?.release();
			return faults.list().map(summarizeFault);
		}),
	};
}

function socketRoutes({ sockets }: Controllable): ControlRoutes {
	return {
		"POST /simulator/sockets/disconnect": withBody(
			v.strictObject({
				how: v.optional(v.picklist(["close", "invalidate", "reconnect"]), "close"),
				code: v.optional(integer(1000, 4999)),
				resumable: v.optional(v.boolean()),
				shard: v.optional(integer(0, 9999)),
			}),
			({ how, ...given }) => {
				const disconnected = sockets.connected;
				if (how === "close") sockets.disconnect(given);
				else if (how === "invalidate") sockets.invalidate(given);
				else sockets.requestReconnect();
				return { disconnected };
			},
		),
		"POST /simulator/sockets/connections": withBody(v.strictObject({ held: v.boolean() }), (given) => {
			sockets.holdConnections(given.held);
			return given;
		}),
	};
}

function personRoutes(simulator: Controllable): ControlRoutes {
	const { world, sockets } = simulator;
	return {
		"POST /simulator/people": withBody(
			v.strictObject({
				// https://support.discord.com/hc/en-us/articles/12620128861463
				username: v.pipe(
					v.string(),
					v.regex(
						/^(?!.*\.\.)[a-z0-9_.]{2,32}$/,
						"expected 2 to 32 lower case letters, digits, underscores and periods",
					),
				),
				global_name: v.optional(v.nullable(v.pipe(v.string(), v.minLength(1), v.maxLength(32))), null),
			}),
			({ username, global_name }) => {
				for (const { user } of world.accounts.values())
					if (user.username === username) throw new BadRequest(`username: ${username} is taken`);
				const { user, token } = world.users.addPerson({ username, global_name });
				return { id: user.id, username, global_name, token };
			},
		),
		"POST /simulator/raid": withBody(v.strictObject({ guild_id: v.string() }), ({ guild_id }) =>
			startRaid(world, guildOf(simulator, guild_id)),
		),
		"POST /simulator/locale": withBody(
			v.strictObject({ user_id: v.string(), locale: v.picklist(Object.values(Locale)) }),
			({ user_id, locale }) => {
				const isPerson = world.users.people.some(({ user }) => user.id === user_id);
				if (!isPerson) throw new BadRequest(`user_id: ${user_id} is not a person with a token`);
				world.users.locales.set(user_id, locale);
				return { user_id, locale };
			},
		),
		// As in Discord's developer portal: the bot's sessions end, so that it identifies again.
		"POST /simulator/intents": withBody(
			v.strictObject({
				bot_id: v.string(),
				intents: v.array(v.picklist(["GuildMembers", "GuildPresences", "MessageContent"])),
			}),
			({ bot_id, intents }) => {
				const bot = world.users.bots.find(({ user }) => user.id === bot_id);
				found(bot, `bot_id: ${bot_id} is not the id of a bot`).privilegedIntents = intents;
				sockets.disconnect({ botId: bot_id, resumable: false });
				return { bot_id, intents };
			},
		),
		"POST /simulator/voice": withBody(
			v.strictObject({
				user_id: v.string(),
				channel_id: v.nullable(v.string()),
				self_mute: v.optional(v.boolean()),
				self_deaf: v.optional(v.boolean()),
			}),
			({ user_id, channel_id, ...own }) => {
				const channel = world.channels.get(channel_id ?? "");
				if (channel_id === null) {
					for (const guild of world.guilds.values()) {
						const member = guild.members.get(user_id);
						if (member) world.voice.leave(guild, member);
					}
				} else if (channel && isGuildChannel(channel) && isVoice(channel)) {
					const member = world.guilds.of(channel).members.get(user_id);
					world.voice.join(channel, found(member, `user_id: ${user_id} is not a member of that guild`), own);
				} else throw new BadRequest(`channel_id: ${channel_id} is not a voice channel`);
				return { user_id, channel_id };
			},
		),
		"POST /simulator/votes": withBody(
			v.strictObject({
				username: v.string(),
				channel_id: v.string(),
				message_id: v.string(),
				answer_ids: v.array(v.number()),
			}),
			async (given) => {
				const { username, channel_id, message_id, answer_ids } = given;
				try {
					await simulator.user(username).vote({ id: message_id, channel_id }, ...answer_ids);
				} catch (error) {
					throw new BadRequest((error as Error).message);
				}
				return given;
			},
		),
	};
}

function guildOf({ world }: Controllable, id: string): Guild {
	return found(world.guilds.get(id), `there is no guild ${id}`);
}

function found<T>(value: T | undefined, problem: string): T {
	if (value === undefined) throw new BadRequest(problem);
	return value;
}

function injectFault({ faults }: Controllable, request: v.InferOutput<typeof faultRequest>): InjectedFault {
	if (request.kind === "refuse") return faults.refuse(request.match, request.code, request);
	if (request.kind === "fail") return faults.fail(request.match, request.status, request);
	return faults[request.kind](request.match, request as never);
}
