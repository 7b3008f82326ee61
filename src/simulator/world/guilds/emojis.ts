// Custom emoji of guilds.
// https://discord.com/developers/docs/resources/emoji

import { AuditLogEvent } from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import type { Guild, GuildEmoji, User } from "../state/entities.ts";
import * as serialize from "../state/serialize.ts";
import {
	type Attribution,
	apply,
	type Changes,
	type State,
} from "../state/state.ts";

/** The fields of an emoji that can be edited. */
export type EmojiChanges = Changes<Pick<GuildEmoji, "name" | "roles">>;

export class Emojis {
	readonly #state: State;

	constructor(state: State) {
		this.#state = state;
	}

	/** Adds an emoji made by `user`. With `roles` only their members may use it. */
	add(
		guild: Guild,
		user: User,
		given: { name: string; roles?: readonly string[]; animated?: boolean },
		by?: Attribution,
	): GuildEmoji {
		const emoji: GuildEmoji = {
			id: this.#state.newId(),
			name: given.name,
			roles: given.roles ?? [],
			user,
			require_colons: true,
			managed: false,
			animated: given.animated ?? false,
			available: true,
		};
		guild.emojis.set(emoji.id, emoji);
		this.#dispatch(guild);
		this.#state.audit(guild, by, AuditLogEvent.EmojiCreate, emoji.id, {
			changes: changesBetween({}, { name: emoji.name }),
		});
		return emoji;
	}

	edit(
		guild: Guild,
		emoji: GuildEmoji,
		changes: EmojiChanges,
		by?: Attribution,
	): void {
		const before = { ...emoji };
		apply(emoji, changes);
		this.#dispatch(guild);
		this.#state.audit(guild, by, AuditLogEvent.EmojiUpdate, emoji.id, {
			changes: changesBetween(before, changes),
		});
	}

	remove(guild: Guild, emoji: GuildEmoji, by?: Attribution): void {
		guild.emojis.delete(emoji.id);
		this.#dispatch(guild);
		this.#state.audit(guild, by, AuditLogEvent.EmojiDelete, emoji.id, {
			changes: changesBetween({ name: emoji.name }, {}),
		});
	}

	/** The emoji with this id in any guild of the user. */
	usableBy(user: User, id: string): GuildEmoji | undefined {
		for (const { members, emojis } of this.#state.guilds.values()) {
			const emoji = emojis.get(id);
			if (emoji && members.has(user.id)) return emoji;
		}
		return undefined;
	}

	/** The event contains all emoji of the guild. */
	#dispatch(guild: Guild): void {
		this.#state.dispatchToGuild("GUILD_EMOJIS_UPDATE", guild, () => ({
			guild_id: guild.id,
			emojis: serialize.emojis(guild),
		}));
	}
}
