// Bans, which also delete recent messages.

import { AuditLogEvent } from "discord.js";
import type { Messages } from "../messages/messages.ts";
import type { Ban, Guild, User } from "../state/entities.ts";
import { timeOf } from "../state/snowflake.ts";
import type { Attribution, State } from "../state/state.ts";
import type { Members } from "./members.ts";

export class Bans {
	constructor(
		private readonly state: State,
		private readonly members: Members,
		private readonly messages: Messages,
	) {}

	/** Member or not; deletes their messages of the last `deleteSeconds` seconds. Returns an existing ban. */
	add(guild: Guild, user: User, deleteSeconds = 0, by?: Attribution): Ban {
		const known = guild.bans.get(user.id);
		if (known) return known;
		const ban: Ban = { user, reason: by?.reason ?? null };
		guild.bans.set(user.id, ban);
		const member = guild.members.get(user.id);
		if (member) this.members.remove(guild, member);
		this.#dispatch("GUILD_BAN_ADD", guild, user);
		if (deleteSeconds > 0) this.#deleteMessages(guild, user, deleteSeconds);
		this.state.audit(guild, by, AuditLogEvent.MemberBanAdd, user.id);
		return ban;
	}

	#deleteMessages(guild: Guild, user: User, seconds: number): void {
		const since = Date.now() - seconds * 1000;
		const { channels, threads } = guild;
		for (const channel of [...channels.values(), ...threads.values()]) {
			const recent = this.messages.in(channel.id).filter(({ author, id }) => author === user && timeOf(id) > since);
			if (recent.length > 0) this.messages.removeMany(channel, recent);
		}
	}

	remove(guild: Guild, { user }: Ban, by?: Attribution): void {
		guild.bans.delete(user.id);
		this.#dispatch("GUILD_BAN_REMOVE", guild, user);
		this.state.audit(guild, by, AuditLogEvent.MemberBanRemove, user.id);
	}

	#dispatch(type: "GUILD_BAN_ADD" | "GUILD_BAN_REMOVE", guild: Guild, user: User): void {
		const guild_id = guild.id;
		this.state.dispatchToGuild(type, guild, { guild_id, user });
	}
}
