// THREAD_LIST_SYNC: a bot to which a channel opens is told of the threads that it did not see before.
// https://discord.com/developers/docs/topics/threads#gaining-access-to-channels

import { PermissionFlagsBits } from "discord.js";
import type { Guild } from "../state/entities.ts";
import type { EventType, WorldEvent } from "../state/events.ts";
import { channelPermissions, has } from "../state/permissions.ts";
import * as serialize from "../state/serialize.ts";
import type { State } from "../state/state.ts";
import type { Threads } from "./threads.ts";

/** What may open a channel to someone. */
const opening: readonly EventType[] = [
	"CHANNEL_UPDATE",
	"GUILD_ROLE_UPDATE",
	"GUILD_ROLE_DELETE",
	"GUILD_MEMBER_UPDATE",
];

export class ThreadSync {
	readonly #state: State;
	readonly #threads: Threads;
	/** "CHANNEL BOT" for each channel with threads that a bot does not see. */
	readonly #hidden = new Set<string>();

	constructor(state: State, threads: Threads) {
		this.#threads = threads;
		this.#state = state;
		state.subscribe((event) => this.#hear(event));
	}

	#hear({ type, guildId }: WorldEvent): void {
		const guild = this.#state.guilds.get(guildId ?? "");
		if (!guild || guild.threads.size === 0) return;
		if (type === "THREAD_CREATE") this.#opened(guild);
		// What opened the channel is told first.
		else if (opening.includes(type)) queueMicrotask(() => this.#sync(guild));
	}

	#sync(guild: Guild): void {
		for (const [botId, channel_ids] of this.#opened(guild)) {
			const threads = this.#threads
				.active(guild, botId)
				.filter(({ parent_id }) => channel_ids.includes(parent_id));
			this.#state.dispatchToGuild(
				"THREAD_LIST_SYNC",
				guild,
				() => ({
					guild_id: guild.id,
					channel_ids,
					threads: threads.map((one) => serialize.thread(one, botId)),
					members: threads.flatMap(
						(one) => serialize.threadMember(one, botId) ?? [],
					),
				}),
				{ only: [botId] },
			);
		}
	}

	/** The channels that have opened to each bot since the last look. */
	#opened(guild: Guild): Map<string, string[]> {
		const opened = new Map<string, string[]>();
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
				if (!has(permissions, PermissionFlagsBits.ViewChannel))
					this.#hidden.add(key);
				else if (this.#hidden.delete(key))
					opened.set(user.id, [...(opened.get(user.id) ?? []), id]);
			}
		return opened;
	}
}
