// What the bot may not do: permissions of Discord, the role hierarchy, and what would take from the bot what it needs.
// https://discord.com/developers/docs/topics/permissions

import {
	AutoModerationActionType,
	GuildScheduledEventEntityType as EventType,
	type Guild,
	type GuildBasedChannel,
	PermissionFlagsBits as Permission,
} from "discord.js";
import { channelName, roleName } from "../../../discord/describe.ts";
import {
	allowed,
	botBitsWith,
	botMember,
	botPermissions,
	canManageOverwrites,
	describeBits,
	everything,
	impliedIn,
	type Overwrites,
	overwritesOf,
	requireGrantable,
	requirePermissions,
} from "../../../discord/permissions.ts";
import { requireMembersBelow, requireRolesBelow } from "../../../discord/role-hierarchy.ts";
import { kindOf } from "../../../guild-document/names/channel-kinds.ts";
import { changedBits } from "../../../guild-document/names/overwrites.ts";
import type { RawOverwrite, Step } from "../../../guild-document/steps.ts";
import { ToolError } from "../../../lib/tool-error.ts";

/** What the bot needs to change a guild: steps that take it from the bot are refused. */
const working =
	Permission.Connect |
	Permission.CreateEvents |
	Permission.CreateGuildExpressions |
	Permission.ManageChannels |
	Permission.ManageEvents |
	Permission.ManageGuild |
	Permission.ManageGuildExpressions |
	Permission.ManageRoles |
	Permission.ManageWebhooks |
	Permission.ViewAuditLog |
	Permission.ViewChannel;

/** With its request; new things have placeholders, such as "+role/Mods", as ids. */
export interface CheckedStep extends Step {
	path: string;
	/** {} if the request has no body or a list. */
	body: Readonly<Record<string, unknown>>;
	/** Of a request that orders roles or channels; otherwise []. */
	entries: readonly { id: string }[];
}

/** `ids`: by placeholder, for the request. */
export function withRequest(step: Step, ids: ReadonlyMap<string, string>): CheckedStep {
	const hasAll = step.needs.every((need) => ids.has(need));
	const { path, body } = step.request(
		hasAll ? ids : new Map([...step.needs.map((need) => [need, need] as const), ...ids]),
	);
	const idOf = (id: string) => ids.get(id) ?? id;
	const { parentId, roleIds } = step.guard;
	const isList = Array.isArray(body);
	return {
		...step,
		guard: { ...step.guard, parentId: parentId && idOf(parentId), roleIds: roleIds?.map(idOf) },
		path,
		body: (isList ? {} : (body ?? {})) as CheckedStep["body"],
		entries: isList ? body : [],
	};
}

const textIn = (body: CheckedStep["body"], field: string) =>
	typeof body[field] === "string" ? body[field] : undefined;

const numberIn = (body: CheckedStep["body"], field: string) =>
	typeof body[field] === "number" ? body[field] : undefined;

/** Undefined if the step does not set them. */
export function permissionsAfter({ kind, action, body }: CheckedStep): bigint | undefined {
	if (kind !== "role" && kind !== "everyone") return undefined;
	if (action === "delete") return 0n;
	const permissions = textIn(body, "permissions");
	return permissions === undefined ? undefined : BigInt(permissions);
}

/** With @everyone. */
export function ownRoles(guild: Guild): Map<string, bigint> {
	return new Map(botMember(guild).roles.cache.map(({ id, permissions }) => [id, permissions.bitfield]));
}

interface Need {
	channel?: GuildBasedChannel | undefined;
	bits: bigint;
	why?: string;
}

/** Sentences; [] if it may. `own`: the permissions of the bot's roles before the step, by role id. */
export function refusedPermissions(guild: Guild, own: ReadonlyMap<string, bigint>, step: CheckedStep): string[] {
	const checks = [
		...needsOf(guild, step).map(
			({ channel, bits, why }) =>
				() =>
					requirePermissions(guild, channel, bits, () => (why ? [why] : [])),
		),
		() => requireRank(guild, step),
		() => requireGift(guild, step),
		() => refusedRoleLoss(guild, own, step),
		() => refusedChannelLoss(guild, step),
	];
	return checks.map(reasonOf).filter((reason) => reason !== undefined);
}

/** The reason or the message of its ToolError, without "Nothing was done."; undefined if the check passes. */
export function reasonOf(check: () => unknown): string | undefined {
	try {
		const reason = check();
		return typeof reason === "string" ? reason : undefined;
	} catch (error) {
		if (!(error instanceof ToolError)) throw error;
		return error.message.replace(" Nothing was done.", "");
	}
}

function needsOf(guild: Guild, step: CheckedStep): readonly Need[] {
	const needs = ownNeeds(guild, step);
	if (step.action !== "create" || step.guard.channelId !== undefined) return needs;
	const why = "If Discord's response to a request gets lost, the bot looks in the audit log for what it created.";
	return [...needs, { bits: Permission.ViewAuditLog, why }];
}

const community = { bits: Permission.Administrator, why: "Only administrators can enable or disable Community." };

function ownNeeds(guild: Guild, step: CheckedStep): readonly Need[] {
	const { kind, action, path, body, guard, targetId = "" } = step;
	switch (kind) {
		case "everyone":
		case "role":
		case "member":
			return [{ bits: Permission.ManageRoles }];
		case "settings":
		case "welcome_screen":
		case "invite":
			return [{ bits: Permission.ManageGuild }, ...(guard.fields?.includes("community") ? [community] : [])];
		case "onboarding":
			return [{ bits: Permission.ManageGuild | Permission.ManageRoles }];
		case "category":
		case "channel":
			return channelNeeds(guild, step);
		case "emoji": {
			const isOwn = guild.emojis.cache.get(targetId)?.author?.id === guild.client.user.id;
			const manages = (allowed(guild, undefined) & Permission.ManageGuildExpressions) !== 0n;
			const creates = action === "create" || (isOwn && !manages);
			return [{ bits: creates ? Permission.CreateGuildExpressions : Permission.ManageGuildExpressions }];
		}
		case "automod":
			return [{ bits: moderates(body) ? Permission.ManageGuild | Permission.ModerateMembers : Permission.ManageGuild }];
		case "event":
			return eventNeeds(guild, step);
		case "webhook": {
			const [, created] = /^\/channels\/(.+)\/webhooks$/.exec(path) ?? [];
			return [inChannel(guild, created ?? textIn(body, "channel_id"), Permission.ManageWebhooks)];
		}
		case "message":
		case "post":
		case "pin":
			return [messageNeed(guild, step)];
		// The settings check that.
		case "bot":
			return [];
		case "ban":
			return [{ bits: Permission.BanMembers }];
		case "person": {
			const isIn = (field: string, bit: bigint) => (guard.fields?.includes(field) ? bit : 0n);
			const bits = isIn("nickname", Permission.ManageNicknames) | isIn("timeout", Permission.ModerateMembers);
			return [{ bits: action === "delete" ? Permission.KickMembers : bits }];
		}
	}
}

/** Without some of them, Discord leaves embeds and pings out and says nothing. */
function messageNeed(guild: Guild, { body, guard }: CheckedStep): Need {
	const { embeds } = { ...body, ...Object(body.message) } as Readonly<Record<string, unknown>>;
	const bits =
		Permission.SendMessages |
		(embeds ? Permission.EmbedLinks : 0n) |
		(guard.pingsMany ? Permission.MentionEveryone : 0n);
	return inChannel(guild, guard.channelId, bits);
}

function inChannel(guild: Guild, id: string | null | undefined, bits: bigint): Need {
	const channel = guild.channels.cache.get(id ?? "");
	return { channel, bits: bits | impliedIn(channel) };
}

function moderates({ actions }: CheckedStep["body"]): boolean {
	const { BlockMemberInteraction, Timeout } = AutoModerationActionType;
	return Array.isArray(actions) && actions.some(({ type }) => type === Timeout || type === BlockMemberInteraction);
}

/**
 * Order: MANAGE_CHANNELS in the guild or category; a move: in the channel and the new category.
 * https://discord.com/developers/docs/resources/guild#modify-guild-channel-positions
 */
function channelNeeds(guild: Guild, { action, body, guard, targetId = "", entries }: CheckedStep): Need[] {
	const parentOf = (id: string) => guild.channels.cache.get(id)?.parentId ?? "";
	if (action === "create") return [{ bits: Permission.ManageChannels }];
	if (action === "order") {
		if ((allowed(guild, undefined) & Permission.ManageChannels) !== 0n) return [];
		const parents = new Set(entries.map(({ id }) => parentOf(id)));
		return [...parents].map((id) => inChannel(guild, id, Permission.ManageChannels));
	}
	const needed =
		body.permission_overwrites === undefined
			? Permission.ManageChannels
			: Permission.ManageChannels | Permission.ManageRoles;
	const { parentId } = guard;
	const isMoved = parentId && parentId !== parentOf(targetId);
	return [
		inChannel(guild, targetId, needed),
		...(isMoved ? [inChannel(guild, parentId, Permission.ManageChannels)] : []),
	];
}

const needsOfEvents = new Map<number, bigint>([
	[EventType.StageInstance, Permission.ManageChannels | Permission.MuteMembers | Permission.MoveMembers],
	[EventType.Voice, Permission.ViewChannel | Permission.Connect],
]);

function eventNeeds(guild: Guild, { action, body, targetId = "" }: CheckedStep): Need[] {
	const before = guild.scheduledEvents.cache.get(targetId);
	// Of an event that is not known, Discord decides.
	const isOwn = !before || before.creatorId === guild.client.user.id;
	const need = (type: number | undefined, channelId: string | null | undefined): Need => {
		const channel = guild.channels.cache.get(channelId ?? "");
		const manages = (allowed(guild, channel) & Permission.ManageEvents) !== 0n;
		const creates = action === "create" || (isOwn && !manages);
		return {
			channel,
			bits: (creates ? Permission.CreateEvents : Permission.ManageEvents) | (needsOfEvents.get(type ?? 0) ?? 0n),
		};
	};
	const channelId = body.channel_id === null ? "" : (textIn(body, "channel_id") ?? before?.channelId);
	const after = need(numberIn(body, "entity_type") ?? before?.entityType, channelId);
	return before ? [need(before.entityType, before.channelId), after] : [after];
}

function requireRank(guild: Guild, { kind, guard, targetId = "" }: CheckedStep): void {
	const ids = guard.roleIds?.filter((id) => id !== guild.id) ?? [];
	requireRolesBelow(
		guild,
		ids.flatMap((id) => guild.roles.cache.get(id) ?? []),
	);
	const member = guild.members.cache.get(targetId);
	if ((kind === "ban" || kind === "person") && member) requireMembersBelow(guild, [member]);
}

/** To a role, in a channel, or to the bot itself with a role. */
function requireGift(guild: Guild, step: CheckedStep): void {
	const { action, guard, targetId = "", body } = step;
	const after = action === "delete" ? undefined : permissionsAfter(step);
	if (after !== undefined) {
		const before = guild.roles.cache.get(targetId)?.permissions.bitfield ?? 0n;
		requireGrantable(guild, undefined, after ^ before);
	} else if (action === "assign") {
		const role = guild.roles.cache.get(guard.roleIds?.[0] ?? "");
		// Later steps are judged by the permissions that the bot has then.
		if (targetId.startsWith(`${guild.client.user.id}/`))
			requireGrantable(guild, undefined, role?.permissions.bitfield ?? 0n);
	} else if (guard.overwrites && body.permission_overwrites !== undefined) {
		const { before, after } = guard.overwrites;
		const bits = changedBits(toOverwrites(before), toOverwrites(after));
		requireGrantable(guild, action === "create" ? "new" : guild.channels.cache.get(targetId), bits);
	}
}

export const toOverwrites = (list: readonly RawOverwrite[]): Overwrites =>
	new Map(list.map(({ id, allow, deny }) => [id, { allow, deny }]));

/** Refuses what takes from the bot the access that it needs to change or undo that. */
function refusedChannelLoss(guild: Guild, { action, guard, targetId = "" }: CheckedStep): string | undefined {
	const channel = guild.channels.cache.get(targetId);
	if (action !== "edit" || !guard.overwrites || !channel || channel.isThread()) return undefined;
	if (botPermissions(guild, undefined) === everything) return undefined;
	const after = toOverwrites(guard.overwrites.after);
	const needed = Permission.ManageChannels | Permission.ManageRoles | impliedIn(channel);
	const lost = needed & botPermissions(guild, channel) & ~botBitsWith(guild, after);
	const losesOverwrite = canManageOverwrites(guild, overwritesOf(channel)) && !canManageOverwrites(guild, after);
	if (lost === 0n && !losesOverwrite) return undefined;
	const what = lost === 0n ? "the overwrite with MANAGE_ROLES" : describeBits(lost);
	return `This would take ${what} in ${channelName(channel)} from the bot, which could not undo it. Allow it there to ${ownRole(guild)} in the document, or let an administrator do this in Discord.`;
}

function ownRole(guild: Guild): string {
	const { botRole, highest } = botMember(guild).roles;
	return roleName(botRole ?? highest);
}

/** Refuses what takes from the bot, in the whole guild, what it needs to change guilds. */
function refusedRoleLoss(guild: Guild, own: ReadonlyMap<string, bigint>, step: CheckedStep): string | undefined {
	const { targetId = "" } = step;
	const after = permissionsAfter(step);
	if (after === undefined || !own.has(targetId) || guild.ownerId === guild.client.user.id) return undefined;
	const held = (roles: ReadonlyMap<string, bigint>) => {
		const bits = [...roles.values()].reduce((all, one) => all | one, 0n);
		return (bits & Permission.Administrator) === 0n ? bits : everything;
	};
	const lost = held(own) & ~held(new Map(own).set(targetId, after)) & (working | Permission.Administrator);
	if (lost === 0n) return undefined;
	return `This would take ${describeBits(lost)} from the bot, which needs that to change the guild. Give it to ${ownRole(guild)} first.`;
}

/** The bot could not see or manage the new channel. `categories`: overwrites of new ones, by placeholder. */
export function noteOnNewChannel(
	guild: Guild,
	{ kind, action, body, guard }: CheckedStep,
	categories: ReadonlyMap<string, Overwrites>,
): string | undefined {
	if (action !== "create" || (kind !== "channel" && kind !== "category")) return undefined;
	const has = allowed(guild, undefined);
	if (has === everything) return undefined;
	const kindOfChannel = kindOf(numberIn(body, "type") ?? 0);
	const isVoice = kindOfChannel === "voice" || kindOfChannel === "stage";
	const needed = Permission.ViewChannel | Permission.ManageChannels | (isVoice ? Permission.Connect : 0n);
	const parent = guild.channels.cache.get(guard.parentId ?? "");
	// Without overwrites of its own a channel gets those of its category.
	const inherited = parent && !parent.isThread() ? overwritesOf(parent) : categories.get(guard.parentId ?? "");
	const isGiven = body.permission_overwrites !== undefined && guard.overwrites;
	const overwrites = isGiven ? toOverwrites(isGiven.after) : (inherited ?? new Map());
	// Without VIEW_CHANNEL in the guild, the bot does not see new channels either.
	const lost = ((needed & has) | Permission.ViewChannel) & ~botBitsWith(guild, overwrites, has);
	if (lost === 0n) return undefined;
	const cause =
		(lost & has) === 0n
			? `it lacks ${describeBits(lost)} there`
			: `its permission overwrites take ${describeBits(lost)} from the bot`;
	return `The bot creates this, but cannot change it afterwards: ${cause}. To keep it, allow it there to ${ownRole(guild)} in the document.`;
}
