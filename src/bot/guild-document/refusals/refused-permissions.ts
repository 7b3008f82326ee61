// What the bot may not do: permissions of Discord, the role hierarchy, and what would take from the bot what it needs.
// https://discord.com/developers/docs/topics/permissions

import {
	AutoModerationActionType,
	GuildScheduledEventEntityType as EventType,
	type Guild,
	type GuildBasedChannel,
	PermissionFlagsBits,
} from "discord.js";
import { kindOf } from "../../../guild-document/names/channel-kinds.ts";
import { changedBits } from "../../../guild-document/names/overwrites.ts";
import type { RawOverwrite } from "../../../guild-document/steps.ts";
import { ToolError } from "../../../mcp/tool.ts";
import { channelName, roleName } from "../../discord/describe.ts";
import { effectivePermissions, impliedIn } from "../../discord/effective-permissions.ts";
import {
	allowed,
	botBitsWith,
	botMember,
	canManageOverwrites,
	describeBits,
	everything,
	type Overwrites,
	overwritesOf,
	requireGrantable,
	requirePermissions,
} from "../../discord/permissions.ts";
import { requireMembersBelow, requireRolesBelow } from "../../discord/role-hierarchy.ts";
import {
	type CheckedStep,
	featuresIn,
	type GuildFacts,
	numberIn,
	overwritesOfNew,
	parentIn,
	permissionsIn,
	textIn,
	webhookChannel,
} from "./guild-facts.ts";

const {
	Administrator,
	BanMembers,
	Connect,
	CreateEvents,
	CreateGuildExpressions,
	ManageChannels,
	ManageEvents,
	ManageGuild,
	ManageGuildExpressions,
	ManageRoles,
	ManageWebhooks,
	ModerateMembers,
	MoveMembers,
	MuteMembers,
	ViewAuditLog,
	ViewChannel,
} = PermissionFlagsBits;

/**
 * Permissions that the bot needs to change a guild. The bot refuses plan steps that would take one of them from the bot
 * itself.
 */
const working =
	Connect |
	CreateEvents |
	CreateGuildExpressions |
	ManageChannels |
	ManageEvents |
	ManageGuild |
	ManageGuildExpressions |
	ManageRoles |
	ManageWebhooks |
	ViewAuditLog |
	ViewChannel;

interface Need {
	channel?: GuildBasedChannel | undefined;
	bits: bigint;
	why?: string;
}

/** Returns why the bot may not carry out a plan step (permissions or role hierarchy), as sentences; [] if it may. */
export function refusedPermissions(guild: Guild, facts: GuildFacts, step: CheckedStep): string[] {
	const needs = needsOf(guild, facts, step);
	return [
		...needs.map(({ channel, bits, why }) =>
			reasonOf(() => requirePermissions(guild, channel, bits, () => (why ? [why] : []))),
		),
		refusedAfterLoss(guild, facts, step, needs),
		...[refusedRank, refusedGift, refusedLoss, refusedHidden].map((refused) => refused(guild, facts, step)),
	].filter((reason) => reason !== undefined);
}

/** Returns all permissions that the bot needs for a plan step, guild-wide or in any channel, as a bit field. */
export function neededBits(guild: Guild, facts: GuildFacts, step: CheckedStep): bigint {
	return needsOf(guild, facts, step).reduce((all, { bits }) => all | bits, 0n);
}

/**
 * Runs a check. Returns the reason that the check returns, or the message of the ToolError that it throws, without the
 * sentence "Nothing was done."; undefined if the check passes.
 */
export function reasonOf(check: () => unknown): string | undefined {
	try {
		const reason = check();
		return typeof reason === "string" ? reason : undefined;
	} catch (error) {
		if (!(error instanceof ToolError)) throw error;
		return error.message.replace(" Nothing was done.", "");
	}
}

function needsOf(guild: Guild, facts: GuildFacts, step: CheckedStep): readonly Need[] {
	const needs = ownNeeds(guild, facts, step);
	if (step.action !== "create") return needs;
	const why = "If Discord's response to a request gets lost, the bot looks in the audit log for what it created.";
	return [...needs, { bits: ViewAuditLog, why }];
}

function ownNeeds(guild: Guild, facts: GuildFacts, step: CheckedStep): readonly Need[] {
	const { kind, action, body, targetId = "" } = step;
	const inGuild = (bits: bigint) => [{ bits }];
	switch (kind) {
		case "everyone":
		case "role":
		case "member":
			return inGuild(ManageRoles);
		case "settings":
			return [...inGuild(ManageGuild), ...communityNeeds(facts, step)];
		case "welcome_screen":
			return inGuild(ManageGuild);
		case "onboarding":
			return inGuild(ManageGuild | ManageRoles);
		case "category":
		case "channel":
			return channelNeeds(guild, facts, step);
		case "emoji": {
			if (action === "create") return inGuild(CreateGuildExpressions);
			const isOwn = facts.emojis.get(targetId)?.creatorId === guild.client.user.id;
			const manages = (allowed(guild, undefined) & ManageGuildExpressions) !== 0n;
			return inGuild(isOwn && !manages ? CreateGuildExpressions : ManageGuildExpressions);
		}
		case "automod":
			return inGuild(action !== "delete" && moderates(body) ? ManageGuild | ModerateMembers : ManageGuild);
		case "event":
			return eventNeeds(guild, facts, step);
		case "webhook": {
			const id = webhookChannel(step) ?? facts.webhooks?.get(targetId) ?? "";
			const moved = textIn(body, "channel_id") ?? "";
			return [...new Set([id, moved || id])].map((id) => inChannel(guild, id, ManageWebhooks));
		}
		case "ban":
			return inGuild(BanMembers);
	}
}

function inChannel(guild: Guild, id: string, bits: bigint): Need {
	const channel = guild.channels.cache.get(id);
	return { channel, bits: bits | impliedIn(channel) };
}

function communityNeeds(facts: GuildFacts, step: CheckedStep): Need[] {
	const features = featuresIn(step);
	const isChanged = features && features.has("COMMUNITY") !== facts.features.has("COMMUNITY");
	const why = "Only administrators can enable or disable Community.";
	return isChanged ? [{ bits: Administrator, why }] : [];
}

function moderates({ actions }: CheckedStep["body"]): boolean {
	const { BlockMemberInteraction, Timeout } = AutoModerationActionType;
	return Array.isArray(actions) && actions.some(({ type }) => type === Timeout || type === BlockMemberInteraction);
}

/**
 * Returns which permissions the bot needs for a plan step that changes channels. To reorder channels, it needs
 * MANAGE_CHANNELS in the guild or in their category. To move a channel to another category, it needs MANAGE_CHANNELS in
 * the channel and in the new category.
 * https://discord.com/developers/docs/resources/guild#modify-guild-channel-positions
 */
function channelNeeds(guild: Guild, facts: GuildFacts, step: CheckedStep): Need[] {
	const { action, path, body, targetId = "", entries } = step;
	const parentOf = (id: string) => facts.channels.get(id)?.parentId ?? "";
	if (action === "create") return [{ bits: ManageChannels }];
	if (action === "delete") return [inChannel(guild, targetId, ManageChannels)];
	if (action === "order") {
		const isManager = (allowed(guild, undefined) & ManageChannels) !== 0n;
		const places = new Set(
			entries.flatMap((entry) => {
				const id = String(entry.id);
				const parent = textIn(entry, "parent_id");
				if (entry.parent_id !== undefined && (parent ?? "") !== parentOf(id)) return [id, parent ?? ""];
				return isManager ? [] : [parentOf(id)];
			}),
		);
		const locked = entries.filter((entry) => entry.lock_permissions === true);
		return [
			...[...places].map((id) => inChannel(guild, id, ManageChannels)),
			...locked.map(({ id }) => inChannel(guild, String(id), ManageRoles)),
		];
	}
	if (path.includes("/permissions/")) return [inChannel(guild, targetId, ManageRoles)];
	const parent = parentIn(step);
	const setsAccess = body.permission_overwrites !== undefined;
	return [
		inChannel(guild, targetId, setsAccess ? ManageChannels | ManageRoles : ManageChannels),
		...(parent && parent !== parentOf(targetId) ? [inChannel(guild, parent, ManageChannels)] : []),
	];
}

function eventNeeds(guild: Guild, facts: GuildFacts, step: CheckedStep): Need[] {
	const { action, body, targetId = "" } = step;
	const { StageInstance, Voice } = EventType;
	const before = facts.events?.get(targetId);
	const more = new Map<number, bigint>([
		[StageInstance, ManageChannels | MuteMembers | MoveMembers],
		[Voice, ViewChannel | Connect],
	]);
	// Of an event that is not known, Discord decides.
	const isOwn = !before || before.creatorId === guild.client.user.id;
	const forEvents = (channel: GuildBasedChannel | undefined) => {
		if (action === "create") return CreateEvents;
		const manages = (allowed(guild, channel) & ManageEvents) !== 0n;
		return isOwn && !manages ? CreateEvents : ManageEvents;
	};
	const need = (type: number | undefined, channelId: string): Need => {
		const channel = guild.channels.cache.get(channelId);
		return {
			channel,
			bits: forEvents(channel) | (more.get(type ?? 0) ?? 0n),
		};
	};
	const after = need(
		numberIn(body, "entity_type") ?? before?.type,
		body.channel_id === null ? "" : (textIn(body, "channel_id") ?? before?.channelId ?? ""),
	);
	return before ? [need(before.type, before.channelId), after] : [after];
}

/**
 * Returns why the bot cannot carry out a plan step on roles or members, because it does not rank above them in the role
 * hierarchy or because an integration owns the role; undefined if it can.
 */
function refusedRank(guild: Guild, facts: GuildFacts, step: CheckedStep): string | undefined {
	const { kind, action, guard, targetId = "" } = step;
	const ids = (guard.roleIds ?? []).filter((id) => id !== guild.id);
	if (action === "delete" || action === "assign") {
		const managed = ids.find((id) => facts.roles.get(id)?.managed);
		const name = facts.roles.get(managed ?? "")?.name ?? "";
		if (managed)
			return action === "delete"
				? `${roleName({ name, id: managed })} belongs to an integration, such as a bot: Discord deletes it when the integration is removed.`
				: `${roleName({ name, id: managed })} belongs to an integration, such as a bot, and cannot be given to members.`;
	}
	const roles = ids.flatMap((id) => guild.roles.cache.get(id) ?? []);
	const reason = reasonOf(() => requireRolesBelow(guild, roles));
	if (reason) return reason;
	if (kind === "role" && action === "order") return refusedPlace(guild, facts, step);
	const member = guild.members.cache.get(targetId);
	if (kind === "ban" && member) return reasonOf(() => requireMembersBelow(guild, [member]));
	if (kind === "ban" && targetId === guild.ownerId) return "Nobody can ban the owner of the guild.";
	return undefined;
}

/**
 * Returns why the bot cannot carry out a plan step that orders roles, because a role would no longer rank below the
 * bot's highest role; undefined if it can.
 */
function refusedPlace(guild: Guild, facts: GuildFacts, { entries }: CheckedStep): string | undefined {
	const me = botMember(guild);
	const { highest } = me.roles;
	if (guild.ownerId === me.id) return undefined;
	const own = facts.roles.get(highest.id)?.position ?? highest.rawPosition;
	const below = [...facts.roles].filter(
		([id, { position }]) => id !== guild.id && id !== highest.id && position <= own,
	);
	const isNew = ({ id }: (typeof entries)[number]) => !facts.roles.has(String(id));
	// New roles move the bot's role up, also those that the bot has not heard of yet.
	const limit = Math.max(own, below.length + entries.filter(isNew).length + 1);
	const above = entries.find(
		({ id, position }) =>
			id !== highest.id &&
			typeof position === "number" &&
			position !== facts.roles.get(String(id))?.position &&
			position >= limit,
	);
	if (!above) return undefined;
	const id = String(above.id);
	const name = facts.roles.get(id)?.name ?? id;
	return `${roleName({ name, id })} would no longer rank below the bot's highest role, ${roleName(highest)}. Someone who ranks above both can move the bot's role up.`;
}

/**
 * Returns why a plan step is refused because it allows or denies permissions that the bot does not have, or gives the
 * bot a role with such permissions; undefined if it does not.
 */
function refusedGift(guild: Guild, facts: GuildFacts, step: CheckedStep): string | undefined {
	const { kind, action, guard, targetId = "" } = step;
	if (kind === "role" || kind === "everyone") {
		const bits = changedPermissions(facts, step);
		return reasonOf(() => requireGrantable(guild, undefined, bits));
	}
	if (action === "assign") {
		const [memberId] = targetId.split("/");
		const [roleId = ""] = guard.roleIds ?? [];
		// Later steps are judged by the permissions that the bot has then.
		return memberId === guild.client.user.id
			? reasonOf(() => requireGrantable(guild, undefined, facts.roles.get(roleId)?.permissions ?? 0n))
			: undefined;
	}
	if (!guard.overwrites || !setsOverwrites(step)) return undefined;
	const bits = changedIn(guard.overwrites);
	const channel = guild.channels.cache.get(targetId);
	return reasonOf(() => requireGrantable(guild, action === "create" ? "new" : channel, bits));
}

/**
 * Returns why the bot cannot carry out a step because an earlier step of the plan takes a guild-wide permission from
 * the bot; undefined if it can.
 */
function refusedAfterLoss(
	guild: Guild,
	facts: GuildFacts,
	step: CheckedStep,
	needs: readonly Need[],
): string | undefined {
	const me = botMember(guild);
	const own = [guild.id, ...me.roles.cache.keys()];
	const held = (of: (id: string) => bigint | undefined) => own.reduce((bits, id) => bits | (of(id) ?? 0n), 0n);
	const left = held((id) => facts.roles.get(id)?.permissions);
	if (guild.ownerId === me.id || (left & Administrator) !== 0n) return undefined;
	const lost = held((id) => facts.permissionsBefore.get(id)) & ~left;
	if (lost === 0n) return undefined;
	const { kind } = step;
	const given =
		kind === "role" || kind === "everyone"
			? changedPermissions(facts, step)
			: changedAccess(guild, step, allowed(guild, undefined) & ~lost);
	const bits = lost & needs.filter(({ channel }) => !channel).reduce((all, { bits }) => all | bits, given);
	if (bits === 0n) return undefined;
	return `The bot lacks ${describeBits(bits)} by then: it has that only through @everyone or a role, from which an earlier step of this plan takes it. Give it to ${roleName(me.roles.botRole ?? me.roles.highest)} first.`;
}

/**
 * Returns, as a bit field, the permissions that a plan step allows or denies in a channel and that the bot must have
 * guild-wide to do so. Leaves out permissions that the bot has through overwrites of the channel or its category.
 * `inGuild`: the bot's guild-wide permissions.
 */
function changedAccess(guild: Guild, step: CheckedStep, inGuild: bigint): bigint {
	const { overwrites } = step.guard;
	if (!overwrites || !setsOverwrites(step)) return 0n;
	if (step.action === "create") return changedIn(overwrites);
	const channel = guild.channels.cache.get(step.targetId ?? "");
	if (!channel || channel.isThread()) return 0n;
	if (canManageOverwrites(guild, overwritesOf(channel))) return 0n;
	const { parent } = channel;
	const inCategory = parent ? botBitsWith(guild, overwritesOf(parent), inGuild) : 0n;
	return changedIn(overwrites) & ~inCategory;
}

function changedPermissions(facts: GuildFacts, step: CheckedStep): bigint {
	const { action, guard, targetId = "" } = step;
	const after = permissionsIn(step);
	const before = facts.roles.get(targetId)?.permissions ?? 0n;
	const changed = after === undefined ? 0n : after ^ before;
	return action === "create" ? (guard.gives ?? after ?? 0n) : (guard.gives ?? 0n) | changed;
}

function setsOverwrites({ path, body }: CheckedStep): boolean {
	return body.permission_overwrites !== undefined || path.includes("/permissions/");
}

const changedIn = ({ before, after }: NonNullable<CheckedStep["guard"]["overwrites"]>) =>
	changedBits(toOverwrites(before), toOverwrites(after));

const toOverwrites = (list: readonly RawOverwrite[]): Overwrites =>
	new Map(list.map(({ id, allow, deny }) => [id, { allow, deny }]));

/**
 * Returns why a plan step is refused because it would take a permission from the bot that the bot needs to change the
 * guild or to undo the step; undefined if it would not.
 */
function refusedLoss(guild: Guild, facts: GuildFacts, step: CheckedStep): string | undefined {
	const { kind, action, guard, targetId = "" } = step;
	if (kind === "role" || kind === "everyone") return refusedRoleLoss(guild, facts, step);
	const channel = guild.channels.cache.get(targetId);
	if (action !== "edit" || !guard.overwrites || !channel || channel.isThread()) return undefined;
	const me = botMember(guild);
	const after = toOverwrites(guard.overwrites.after);
	const { bits, reasonForEverything } = effectivePermissions(guild, me, channel, after);
	if (reasonForEverything) return undefined;
	const needed = ManageChannels | ManageRoles | impliedIn(channel);
	const lost = needed & allowed(guild, channel) & ~bits;
	const losesOverwrite = canManageOverwrites(guild, overwritesOf(channel)) && !canManageOverwrites(guild, after);
	if (lost === 0n && !losesOverwrite) return undefined;
	const what = lost === 0n ? "the overwrite with MANAGE_ROLES" : describeBits(lost);
	return `This would take ${what} in ${channelName(channel)} from the bot, which could not undo it. ${keepAccess(guild)}`;
}

function keepAccess(guild: Guild): string {
	const { botRole, highest } = botMember(guild).roles;
	return `Allow it there to ${roleName(botRole ?? highest)} in the document, or let an administrator do this in Discord.`;
}

/**
 * Returns why a change of a role is refused because it would take a permission from the bot in the whole guild;
 * undefined if it would not.
 */
function refusedRoleLoss(guild: Guild, facts: GuildFacts, step: CheckedStep): string | undefined {
	const me = botMember(guild);
	const { targetId = "", action } = step;
	const own = new Set([guild.id, ...me.roles.cache.keys()]);
	if (guild.ownerId === me.id || !own.has(targetId)) return undefined;
	const held = (changed: bigint | undefined) => {
		let bits = 0n;
		for (const id of own)
			bits |= id === targetId && changed !== undefined ? changed : (facts.roles.get(id)?.permissions ?? 0n);
		return (bits & Administrator) === 0n ? bits : everything;
	};
	const after = action === "delete" ? 0n : permissionsIn(step);
	const lost = held(undefined) & ~held(after) & (working | Administrator);
	if (lost === 0n) return undefined;
	const { botRole, highest } = me.roles;
	return `This would take ${describeBits(lost)} from the bot, which needs that to change the guild. Give it to ${roleName(botRole ?? highest)} first.`;
}

/**
 * Returns why the bot cannot put a webhook or event into a new channel, because it will not be able to see or manage
 * that channel; undefined if it can.
 */
function refusedHidden(_: Guild, { hidden }: GuildFacts, step: CheckedStep): string | undefined {
	const { kind, action, body } = step;
	const id = webhookChannel(step) ?? textIn(body, "channel_id");
	const isWithin = kind === "webhook" || kind === "event";
	return isWithin && action !== "delete" && id && hidden.has(id)
		? "The bot will not be able to see or manage the new channel in which this would be."
		: undefined;
}

/**
 * Returns a warning if the bot can create the channel of a plan step, but cannot see or manage it afterwards because of
 * its permission overwrites; undefined otherwise.
 */
export function noteOnNewChannel(guild: Guild, facts: GuildFacts, step: CheckedStep): string | undefined {
	const isChannel = step.kind === "channel" || step.kind === "category";
	if (step.action !== "create" || !isChannel) return undefined;
	const has = allowed(guild, undefined);
	if (has === everything) return undefined;
	const kind = kindOf(numberIn(step.body, "type") ?? 0);
	const isVoice = kind === "voice" || kind === "stage";
	const needed = ViewChannel | ManageChannels | (isVoice ? Connect : 0n);
	const overwrites = toOverwrites(overwritesOfNew(facts, step));
	// Without VIEW_CHANNEL in the guild, the bot does not see new channels either.
	const lost = ((needed & has) | ViewChannel) & ~botBitsWith(guild, overwrites, has);
	const cause =
		(lost & has) === 0n
			? `it lacks ${describeBits(lost)} there`
			: `its permission overwrites take ${describeBits(lost)} from the bot`;
	return lost === 0n
		? undefined
		: `The bot creates this, but cannot change it afterwards: ${cause}. To keep it, allow it there to ${roleName(botMember(guild).roles.botRole ?? botMember(guild).roles.highest)} in the document.`;
}
