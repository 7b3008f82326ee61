// Who sees a channel and who writes in it: the permission overwrites that follow from the access arguments of a tool call.
// https://discord.com/developers/docs/topics/permissions

import { type Guild, OverwriteType, PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import type { RawChannel } from "../../../discord/channel-order.ts";
import type { Finder } from "../../../discord/find.ts";
import * as find from "../../../discord/find.ts";
import {
	allowed,
	type Bits,
	botBitsWith,
	botMember,
	describeBits,
	isAdministrator,
} from "../../../discord/permissions.ts";
import type { EditedKind } from "../../../guild-document/names/channel-kinds.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { listedAs } from "../../../mcp/json-schema.ts";
import { type ArgumentsOf, invalidParameters } from "../../../mcp/tool.ts";
import { found, list, permissionList, readPermissions, snowflake } from "../../tool/arguments/arguments.ts";

const {
	Administrator,
	Connect,
	CreatePrivateThreads,
	CreatePublicThreads,
	ManageChannels,
	ManageRoles,
	SendMessages,
	SendMessagesInThreads,
	Speak,
	ViewChannel,
} = PermissionFlagsBits;

const viewBits = (kind: EditedKind) => (kind === "voice" || kind === "stage" ? ViewChannel | Connect : ViewChannel);

const textBits = SendMessages | SendMessagesInThreads | CreatePublicThreads | CreatePrivateThreads;

function writeBits(kind: EditedKind): bigint {
	if (kind === "stage") return SendMessages;
	if (kind === "voice") return SendMessages | Speak;
	return kind === "category" ? textBits | Speak : textBits;
}

const maxSubjects = 50;

const overwrite = v.strictObject({
	id: snowflake("role or member"),
	allow: v.optional(permissionList("What to allow."), []),
	deny: v.optional(permissionList("What to deny."), []),
});

function subjects<Thing>(find: Finder<Thing>, what: string, description: string) {
	return v.optional(list(found(find, what), 1, maxSubjects, description));
}

export const accessFields = {
	view_role_ids: subjects(find.role, "role", "Only these see it."),
	view_user_ids: subjects(find.member, "member", "Members who see it."),
	write_role_ids: subjects(find.role, "role", "Only these write; others read."),
};

/** All overwrites of a new channel, as audit logs have those of deleted ones. */
export const permission_overwrites = v.optional(
	v.pipe(
		v.array(overwrite),
		v.minLength(1, "expected at least 1"),
		v.maxLength(100, "expected at most 100"),
		v.description("All permission overwrites, by names of permissions."),
		listedAs({ type: "array", items: { type: "object" }, description: "{id, allow, deny}." }),
	),
);
export type GivenOverwrites = v.InferOutput<typeof permission_overwrites>;

export type Access = ArgumentsOf<typeof accessFields>;

export const accessNames = Object.keys(accessFields) as (keyof Access)[];

export const givesAccess = (access: Access): boolean => accessNames.some((name) => access[name] !== undefined);

interface Entry extends Bits {
	type: OverwriteType;
}

/** By the id of the role or member. */
export type Entries = ReadonlyMap<string, Entry>;

export function entriesOf(overwrites: RawChannel["permission_overwrites"] = []): Entries {
	return new Map(
		overwrites.map(({ id, type, allow, deny }) => [id, { type, allow: BigInt(allow), deny: BigInt(deny) }]),
	);
}

export function overwriteOptions(entries: Entries) {
	return [...entries].map(([id, { type, allow, deny }]) => ({ id, type, allow, deny }));
}

export async function readEntries(
	guild: Guild,
	given: NonNullable<GivenOverwrites>,
	connection: find.MemberState,
): Promise<Entries> {
	const entries = new Map<string, Entry>();
	for (const { id, ...bits } of given) {
		if (entries.has(id))
			throw invalidParameters([`permission_overwrites: expected each id once, received ${id} twice`]);
		const field = "permission_overwrites";
		const allow = readPermissions(field, bits.allow);
		const deny = readPermissions(field, bits.deny);
		if ((allow & deny) !== 0n)
			throw invalidParameters([
				`${field}: ${describeBits(allow & deny)} cannot be both allowed and denied for the role or member ${id}`,
			]);
		const isRole = guild.roles.cache.has(id);
		if (!isRole) await requireMember(guild, id, connection);
		const type = isRole ? OverwriteType.Role : OverwriteType.Member;
		entries.set(id, { type, allow, deny });
	}
	return entries;
}

async function requireMember(guild: Guild, id: string, connection: find.MemberState): Promise<void> {
	try {
		await find.member(guild, id, connection);
	} catch (error) {
		if (!(error instanceof ToolError)) throw error;
		throw new ToolError(
			`permission_overwrites: ${id} is neither a role nor a member of the guild ${guild.id}. Nothing was done.`,
			{ cause: error },
		);
	}
}

/** `base`, so that only those in the arguments see the channel or write in it. Roles that may write may also see it. */
export function restricted(
	guild: Guild,
	kind: EditedKind,
	base: Entries,
	{ view_role_ids, view_user_ids, write_role_ids }: Access,
): Entries {
	const entries = new Map(base);
	const me = botMember(guild);
	const ofBot = [me.id, me.roles.botRole?.id];
	const change = (id: string, type: OverwriteType, next: (old: Bits) => Bits) => {
		const old = entries.get(id) ?? { type, allow: 0n, deny: 0n };
		const now = { type: old.type, ...next(old) };
		if ((now.allow | now.deny) === 0n) entries.delete(id);
		else entries.set(id, now);
	};
	// Denies `bits` to @everyone, takes them from all others but the bot, and allows each of `subjects` `own`.
	const allowOnly = (bits: bigint, own: bigint, subjects: ReadonlyMap<string, OverwriteType>) => {
		for (const [id, { type }] of [...entries])
			if (!subjects.has(id) && !ofBot.includes(id))
				change(id, type, ({ allow, deny }) => ({ allow: allow & ~bits, deny }));
		if (!subjects.has(guild.id))
			change(guild.id, OverwriteType.Role, ({ allow, deny }) => ({ allow: allow & ~bits, deny: deny | bits }));
		for (const [id, type] of subjects) {
			// @everyone needs no more than its role has in the guild.
			const inGuild = id === guild.id ? guild.roles.everyone.permissions.bitfield : 0n;
			change(id, type, ({ allow, deny }) => ({ allow: allow | (own & ~inGuild), deny: deny & ~own }));
		}
	};
	const roles = (ids: readonly string[] = []) => ids.map((id) => [id, OverwriteType.Role] as const);
	const members = (view_user_ids ?? []).map((id) => [id, OverwriteType.Member] as const);
	const view = viewBits(kind);
	const writers = roles(write_role_ids);
	const isPrivate = view_role_ids !== undefined || view_user_ids !== undefined;
	if (isPrivate) {
		const others = writers.filter(([id]) => id !== guild.id);
		allowOnly(ViewChannel, view, new Map([...roles(view_role_ids), ...members, ...others]));
	}
	if (write_role_ids !== undefined) {
		const write = writeBits(kind);
		allowOnly(write, write, new Map(writers));
		for (const [id, type] of writers)
			if (id !== guild.id) change(id, type, ({ allow, deny }) => ({ allow: allow | view, deny: deny & ~view }));
	}
	return entries;
}

/** With an overwrite for the bot if it would lose what it needs. `before`: its present permissions as a bit field. */
export function withBotAccess(guild: Guild, kind: EditedKind, entries: Entries, before: bigint): Entries {
	const me = botMember(guild);
	if (isAdministrator(me)) return entries;
	const wanted = viewBits(kind) | ManageChannels | writeBits(kind);
	const lost = wanted & before & ~botBitsWith(guild, entries);
	if (lost === 0n) return entries;
	const old = entries.get(me.id) ?? { allow: 0n, deny: 0n };
	const own = { type: OverwriteType.Member, allow: old.allow | lost, deny: old.deny & ~lost };
	return new Map([...entries, [me.id, own]]);
}

/** Whether the bot could not see or manage a new channel with these, although it can in the guild. */
export function wouldLoseBot(guild: Guild, kind: EditedKind, entries: Entries): boolean {
	const { permissions } = botMember(guild);
	const needed = (viewBits(kind) | ManageChannels) & permissions.bitfield;
	return !permissions.has(Administrator) && (needed & ~botBitsWith(guild, entries)) !== 0n;
}

/** For a new channel in the category: without what the bot or the person may not allow there (`lost`). */
export function grantable(guild: Guild, entries: Entries): { entries: Entries; lost: bigint } {
	const inGuild = allowed(guild, undefined);
	if ((inGuild & Administrator) !== 0n) return { entries, lost: 0n };
	const mayAllow = inGuild & ~ManageRoles;
	let lost = 0n;
	const kept = [...entries].map(([id, { allow, ...rest }]) => {
		lost |= allow & ~mayAllow;
		return [id, { ...rest, allow: allow & mayAllow }] as const;
	});
	return { entries: new Map(kept), lost };
}
