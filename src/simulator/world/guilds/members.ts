// Members: joining, changing, leaving, and who has been inactive.

import type { Users } from "../accounts/users.ts";
import type { Voice } from "../channels/voice.ts";
import type { Messages } from "../messages/messages.ts";
import type { Threads } from "../messages/threads.ts";
import type { AuditLogChange } from "../state/api-types.ts";
import { newMember } from "../state/defaults.ts";
import type { Ban, Guild, Member, User } from "../state/entities.ts";
import type { Audience } from "../state/events.ts";
import * as serialize from "../state/serialize.ts";
import { timeOf } from "../state/snowflake.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";
import type { Guilds } from "./guilds.ts";
import type { Roles } from "./roles.ts";

type MemberChanges = Changes<Omit<Member, "user" | "joined_at">>;

interface Parts {
	users: Users;
	guilds: Guilds;
	roles: Roles;
	voice: Voice;
	threads: Threads;
}

const dayMs = 24 * 60 * 60 * 1000;

export class Members {
	readonly #lastSeenMs = new WeakMap<Member, number>();

	constructor(
		private readonly state: State,
		private readonly parts: Parts,
	) {}

	/** `botPermissions` gives a bot a managed role. Returns an existing member unchanged. */
	add(guild: Guild, user: User, given: MemberChanges & { botPermissions?: bigint } = {}): Member {
		const known = guild.members.get(user.id);
		if (known) return known;
		const { botPermissions, ...changes } = given;
		const member = newMember(user);
		apply(member, changes);
		if (user.bot && botPermissions !== undefined) {
			const role = this.parts.roles.add(guild, {
				name: user.username,
				permissions: String(botPermissions),
				bot_id: user.id,
			});
			member.roles = [...member.roles, role.id];
		}
		guild.members.set(user.id, member);
		this.#dispatch("GUILD_MEMBER_ADD", guild, member, { except: user.id });
		if (user.bot) this.parts.guilds.dispatchCreate(guild, user);
		return member;
	}

	addMany(guild: Guild, count: number, prefix = "member"): void {
		const { users } = this.parts;
		for (let number = 1; number <= count; number += 1) this.add(guild, users.add({ username: `${prefix}${number}` }));
	}

	edit(guild: Guild, member: Member, changes: MemberChanges, by?: Attribution): void {
		const before = { ...member };
		const { roles, ...others } = changes;
		const { id } = member.user;
		apply(member, changes);
		this.#dispatch("GUILD_MEMBER_UPDATE", guild, member, { always: id });
		if (guild.voiceStates.has(id) && (changes.mute !== undefined || changes.deaf !== undefined))
			this.parts.voice.dispatch(guild, member);
		this.state.audit(guild, by, "MemberUpdate", id, { before, after: others });
		const moved = roles ? roleChanges(guild, before.roles, roles) : [];
		this.state.audit(guild, by, "MemberRoleUpdate", id, { changes: moved });
	}

	/** With `by`, the audit log records a kick by this user. */
	remove(guild: Guild, member: Member, by?: Attribution): void {
		const { user } = member;
		const { id } = guild;
		this.parts.voice.leave(guild, member);
		for (const thread of guild.threads.values()) this.parts.threads.leave(thread, user);
		guild.members.delete(user.id);
		this.state.dispatchToGuild("GUILD_MEMBER_REMOVE", guild, { guild_id: id, user });
		if (user.bot) this.state.dispatchToGuild("GUILD_DELETE", guild, { id }, { only: [user.id] });
		this.state.audit(guild, by, "MemberKick", user.id);
	}

	setLastSeen(member: Member, at: Date): void {
		this.#lastSeenMs.set(member, at.getTime());
	}

	inactive(guild: Guild, days: number, roleIds: readonly string[]): Member[] {
		const since = Date.now() - days * dayMs;
		return [...guild.members.values()].filter(
			(member) =>
				(this.#lastSeenMs.get(member) ?? Infinity) < since && member.roles.every((id) => roleIds.includes(id)),
		);
	}

	#dispatch(type: "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE", guild: Guild, member: Member, to: Audience): void {
		this.state.dispatchToGuild(type, guild, { ...serialize.member(member), guild_id: guild.id }, to);
	}
}

/** `$add` lists the added roles, `$remove` the removed ones. */
function roleChanges(guild: Guild, before: readonly string[], after: readonly string[]): AuditLogChange[] {
	const named = (ids: readonly string[]) => ids.map((id) => ({ id, name: guild.roles.get(id)?.name ?? id }));
	const added = named(after.filter((id) => !before.includes(id)));
	const removed = named(before.filter((id) => !after.includes(id)));
	return [
		...(added.length > 0 ? [{ key: "$add", new_value: added }] : []),
		...(removed.length > 0 ? [{ key: "$remove", new_value: removed }] : []),
	];
}

export function membersNamed(guild: Guild, query: string, limit: number): Member[] {
	const wanted = query.toLowerCase();
	const isFound = ({ user: { username, global_name }, nick }: Member) =>
		[username, global_name, nick].some((name) => name?.toLowerCase().startsWith(wanted));
	return guild.members.values().filter(isFound).take(limit).toArray();
}

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
		const since = Date.now() - deleteSeconds * 1000;
		for (const channel of deleteSeconds > 0 ? [...guild.channels.values(), ...guild.threads.values()] : []) {
			const recent = this.messages.in(channel.id).filter(({ author, id }) => author === user && timeOf(id) > since);
			if (recent.length > 0) this.messages.removeMany(channel, recent);
		}
		this.state.audit(guild, by, "MemberBanAdd", user.id);
		return ban;
	}

	remove(guild: Guild, { user }: Ban, by?: Attribution): void {
		guild.bans.delete(user.id);
		this.#dispatch("GUILD_BAN_REMOVE", guild, user);
		this.state.audit(guild, by, "MemberBanRemove", user.id);
	}

	#dispatch(type: "GUILD_BAN_ADD" | "GUILD_BAN_REMOVE", guild: Guild, user: User): void {
		this.state.dispatchToGuild(type, guild, { guild_id: guild.id, user });
	}
}
