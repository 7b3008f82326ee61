// Custom emoji of guilds.
// https://discord.com/developers/docs/resources/emoji
//
// A gap: The roles of an emoji are stored and not enforced.

import type { Guild, GuildEmoji, User } from "../state/entities.ts";
import * as serialize from "../state/serialize.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";
import { drawPicture, type Picture, type Pictures } from "./pictures.ts";

export class Emojis {
	constructor(
		private readonly state: State,
		private readonly pictures: Pictures,
	) {}

	/** With role ids, only members with one of these roles may use it. A missing picture is drawn from the emoji's id. */
	add(
		guild: Guild,
		user: User,
		given: { name: string; roles?: readonly string[]; animated?: boolean; picture?: Picture },
		by?: Attribution,
	): GuildEmoji {
		const emoji: GuildEmoji = {
			id: this.state.nextId(),
			name: given.name,
			roles: given.roles ?? [],
			user,
			require_colons: true,
			managed: false,
			animated: given.picture?.animated ?? given.animated ?? false,
			available: true,
		};
		guild.emojis.set(emoji.id, emoji);
		this.pictures.set(`emojis/${emoji.id}`, given.picture ?? drawPicture(emoji.id, emoji.animated));
		this.#dispatch(guild);
		this.state.audit(guild, by, "EmojiCreate", emoji.id, { after: { name: emoji.name } });
		return emoji;
	}

	edit(guild: Guild, emoji: GuildEmoji, changes: Changes<Pick<GuildEmoji, "name" | "roles">>, by?: Attribution): void {
		const before = { ...emoji };
		apply(emoji, changes);
		this.#dispatch(guild);
		this.state.audit(guild, by, "EmojiUpdate", emoji.id, { before, after: changes });
	}

	remove(guild: Guild, emoji: GuildEmoji, by?: Attribution): void {
		guild.emojis.delete(emoji.id);
		// A guess (cdn-deleted): the CDN has its picture no more.
		this.pictures.delete(`emojis/${emoji.id}`);
		this.#dispatch(guild);
		this.state.audit(guild, by, "EmojiDelete", emoji.id, { before: { name: emoji.name } });
	}

	/** The custom emoji with this id; undefined unless the emoji belongs to a guild that the user is a member of. */
	usableBy(user: User, id: string): GuildEmoji | undefined {
		const guilds = this.state.guilds.values();
		return guilds.find(({ members, emojis }) => emojis.has(id) && members.has(user.id))?.emojis.get(id);
	}

	#dispatch(guild: Guild): void {
		this.state.dispatchToGuild("GUILD_EMOJIS_UPDATE", guild, { guild_id: guild.id, emojis: serialize.emojis(guild) });
	}
}
