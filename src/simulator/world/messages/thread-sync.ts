// THREAD_LIST_SYNC: sends a bot that gains access to a channel the active threads there.
// https://discord.com/developers/docs/topics/threads#gaining-access-to-channels

import { PermissionFlagsBits as Permission } from "discord.js";
import type { Guild } from "../state/entities.ts";
import type { EventType, WorldEvent } from "../state/events.ts";
import { channelPermissions, has } from "../state/permissions.ts";
import * as serialize from "../state/serialize.ts";
import type { State } from "../state/state.ts";
import type { Threads } from "./threads.ts";

/** The types of Gateway events that can give a bot access to a channel which it could not view before. */
const visibilityEvents: readonly EventType[] = [
	"CHANNEL_UPDATE",
	"GUILD_ROLE_UPDATE",
	"GUILD_ROLE_DELETE",
	"GUILD_MEMBER_UPDATE",
];

export class ThreadSync {
	/** Pairs of a channel with threads and a bot that cannot view the channel, as "CHANNEL_ID BOT_ID". */
	readonly #hidden = new Set<string>();

	constructor(
		private readonly state: State,
		private readonly threads: Threads,
	) {
		state.subscribe((event) => this.#onEvent(event));
	}

	#onEvent({ type, guildId }: WorldEvent): void {
		const guild = this.state.guilds.get(guildId ?? "");
		if (!guild || guild.threads.size === 0) return;
		if (type === "THREAD_CREATE") this.#newlyVisible(guild);
		// The event that gave access is sent first.
		else if (visibilityEvents.includes(type))
			queueMicrotask(() => this.#sync(guild));
	}

	#sync(guild: Guild): void {
		for (const [botId, channel_ids] of this.#newlyVisible(guild)) {
			const threads = this.threads
				.active(guild, botId)
				.filter(({ parent_id }) => channel_ids.includes(parent_id));
			this.state.dispatchToGuild(
				"THREAD_LIST_SYNC",
				guild,
				{
					guild_id: guild.id,
					channel_ids,
					threads: threads.map((one) => serialize.thread(one, botId)),
					members: threads.flatMap(
						(one) => serialize.threadMember(one, botId) ?? [],
					),
				},
				{ only: [botId] },
			);
		}
	}

	/**
	 * Returns, by bot id, the ids of channels with threads that the bot can view now but could not view when this
	 * function was last called.
	 */
	#newlyVisible(guild: Guild): Map<string, string[]> {
		const channels = new Map<string, string[]>();
		const parents = new Set(
			[...guild.threads.values()].map(({ parent_id }) => parent_id),
		);
		const bots = [...guild.members.values()].filter(({ user }) => user.bot);
		for (const { user } of bots)
			for (const id of parents) {
				const channel = guild.channels.get(id);
				if (!channel) continue;
				const permissions = channelPermissions(guild, channel, user.id);
				const key = `${id} ${user.id}`;
				if (!has(permissions, Permission.ViewChannel)) this.#hidden.add(key);
				else if (this.#hidden.delete(key))
					channels.set(user.id, [...(channels.get(user.id) ?? []), id]);
			}
		return channels;
	}
}
