// The emoji that guilds have of their own: making, renaming and removing them.
// https://discord.com/developers/docs/resources/emoji

import { AuditLogEvent } from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import type { Guild, GuildEmoji, User } from "../state/entities.ts";
import * as present from "../state/serialize.ts";
import {
	apply,
	type Changes,
	type Doing,
	type Telling,
} from "../state/state.ts";

/** What may be changed of an emoji. */
export type EmojiChanges = Changes<Pick<GuildEmoji, "name" | "roles">>;

export class Emojis {
	readonly #world: Telling;

	constructor(world: Telling) {
		this.#world = world;
	}

	/** A new emoji by this user; only members with one of `roles` may use it, everyone if there are none. */
	add(
		guild: Guild,
		user: User,
		given: { name: string; roles?: readonly string[]; animated?: boolean },
		doing?: Doing,
	): GuildEmoji {
		const emoji: GuildEmoji = {
			id: this.#world.newId(),
			name: given.name,
			roles: given.roles ?? [],
			user,
			require_colons: true,
			managed: false,
			animated: given.animated ?? false,
			available: true,
		};
		guild.emojis.set(emoji.id, emoji);
		this.#tell(guild);
		this.#world.log(guild, doing, AuditLogEvent.EmojiCreate, emoji.id, {
			changes: changesBetween({}, { name: emoji.name }),
		});
		return emoji;
	}

	edit(
		guild: Guild,
		emoji: GuildEmoji,
		changes: EmojiChanges,
		doing?: Doing,
	): void {
		const before = { ...emoji };
		apply(emoji, changes);
		this.#tell(guild);
		this.#world.log(guild, doing, AuditLogEvent.EmojiUpdate, emoji.id, {
			changes: changesBetween(before, changes),
		});
	}

	remove(guild: Guild, emoji: GuildEmoji, doing?: Doing): void {
		guild.emojis.delete(emoji.id);
		this.#tell(guild);
		this.#world.log(guild, doing, AuditLogEvent.EmojiDelete, emoji.id, {
			changes: changesBetween({ name: emoji.name }, {}),
		});
	}

	/** The emoji with this id, in whichever of the user's guilds it is. */
	usableBy(user: User, id: string): GuildEmoji | undefined {
		for (const { members, emojis } of this.#world.guilds.values()) {
			const emoji = emojis.get(id);
			if (emoji && members.has(user.id)) return emoji;
		}
		return undefined;
	}

	/** The event has all that there are. */
	#tell(guild: Guild): void {
		this.#world.tell("GUILD_EMOJIS_UPDATE", guild, () => ({
			guild_id: guild.id,
			emojis: present.emojis(guild),
		}));
	}
}
