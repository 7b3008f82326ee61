// Locking channels: denies all but staff to write and speak. The database keeps what unlocking restores.

import { ChannelType, type Guild, OverwriteType, PermissionFlagsBits, type Snowflake } from "discord.js";
import * as v from "valibot";
import { channelsFromTop } from "../../discord/channel-order.ts";
import { channelName, time } from "../../discord/describe.ts";
import * as find from "../../discord/find.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import { fetchCurrent, requireUndoable } from "../../discord/overwrites.ts";
import {
	describeBits,
	grantableBits,
	impliedIn,
	overwritesOf,
	requireGrantable,
	requirePermissions,
} from "../../discord/permissions.ts";
import { isStaffOnly } from "../../discord/staff.ts";
import { resultLines } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { joined, type Said, said, type Value } from "../../texts/texts.ts";
import {
	asking,
	at,
	forModels,
	listed,
	mentionOf,
	channels as mentionsOf,
	type Part,
	parts,
	reasonOf,
	result,
} from "../results/result.ts";
import type { ChannelLockRow } from "../store/tables/channel-locks.ts";
import { flag, found, guild_id, list, reason } from "../tool/arguments/arguments.ts";
import { planEach, sample } from "../tool/bulk.ts";
import type { CaseDraft } from "../tool/case-record.ts";
import type { Locks } from "../tool/channel-locks.ts";
import type { BotContext } from "../tool/context.ts";
import { editTool } from "../tool/define.ts";
import {
	allowedByOverwrites,
	bitsOf,
	type Connecting,
	connectingFor,
	type Denied,
	essentialPermissions,
	heldByMembers,
	inForce,
	lockedBits,
	lockPermissions,
	lostByBot,
	restore,
	restoredBits,
	rowsFor,
	stateOf,
	writeBits,
} from "./channels/channel-lock.ts";
import { subjectName } from "./channels/channel-text.ts";

interface Chosen {
	guild_id?: string | undefined;
	channel_ids?: string[] | undefined;
	all: boolean;
}

function idsToLock({ guild_id, channel_ids = [], all }: Chosen, { connection, guildId }: BotContext): Snowflake[] {
	const guild = connection.discord.guilds.cache.get(guild_id || (guildId ?? ""));
	const inGuild = guild ? channelsFromTop(guild) : [];
	const chosen = inGuild.filter(
		({ id, parentId }) => all || channel_ids.includes(id) || channel_ids.includes(parentId ?? ""),
	);
	return [...new Set([...channel_ids, ...chosen.map(({ id }) => id)])];
}

type Of<Plan> = Plan & { channel: find.Channel };

/** Why a channel is left as it is. */
interface Why {
	models: string;
	people: Value;
}

/** `left`: with the channels for which there is no plan, and `others`. Throws a ToolError if there is none for any. */
async function plansOf<Plan extends object>(
	channels: readonly find.Channel[],
	label: string,
	{ channel_ids }: Chosen,
	plan: (channel: find.Channel) => Promise<Plan | Why>,
	others: readonly Part[] = [],
): Promise<{ plans: Of<Plan>[]; left: Part[]; leavesOut: boolean }> {
	const plans: Of<Plan>[] = [];
	const refused: Of<{ why: Why }>[] = [];
	for (const channel of channels)
		try {
			const needed = PermissionFlagsBits.ManageRoles | impliedIn(channel);
			requirePermissions(channel.guild, channel, needed);
			const result = await plan(channel);
			if ("models" in result) refused.push({ channel, why: result });
			else plans.push({ channel, ...result });
		} catch (error) {
			if (channel_ids?.includes(channel.id) || !(error instanceof ToolError)) throw error;
			const models = error.message.replace(/\.( Nothing was done\.)?$/, "");
			refused.push({ channel, why: { models, people: reasonOf(error) } });
		}
	const left = parts(leftLines(label, refused), others);
	if (plans.length === 0) throw nothingChanged(left);
	return { plans, left, leavesOut: refused.length > 0 };
}

async function chosenChannels(guild: Guild, { channel_ids, all }: Chosen, channels: readonly find.Channel[] = []) {
	if (all === (channel_ids !== undefined)) throw invalidParameters(["channel_ids, all: expected exactly one of these"]);
	const isCategory = ({ type }: find.Channel) => type === ChannelType.GuildCategory;
	const own = channels.filter((channel) => !isCategory(channel));
	const parents = channels.filter(isCategory).map(({ id }) => id);
	const inside = channelsFromTop(guild).filter(
		(channel) => !isCategory(channel) && (all || parents.includes(channel.parentId ?? "")),
	);
	const chosen = [...new Set([...own, ...inside])];
	if (chosen.length === 0)
		throw new SaidError(said("refusal.no_channels"), {
			models:
				"There are no channels to lock or unlock in the given categories. Nothing was done; list_channels shows the channels.",
		});
	return fetchCurrent(guild, chosen);
}

type LockPlan = Exclude<Awaited<ReturnType<typeof planLock>>, Why>;

export const lockChannel = editTool({
	name: "lock_channel",
	toolset: "channels",
	offered: "extra",
	title: "Lock or unlock channels",
	description:
		"Deny all but staff to write, react and create threads in channels, and in voice to connect and speak, or undo that (unlock). Exempt: administrators, and staff and bots allowed by overwrites. Changes that others made since the lock stay.",
	lock: idsToLock,
	person: { may: "lock" },
	permissions: ["ManageRoles"],
	permissionsIn: "run",
	input: {
		guild_id,
		channel_ids: v.optional(list(found(find.channel, "channel"), 1, 50, "Channels; a category: those in it.")),
		all: flag("All but those of staff, or all locked.", false),
		unlock: flag("Unlock them.", false),
		reason,
	},
	destructive({ unlock, all }, { channels = [] }) {
		const isCategory = channels.some(({ type }) => type === ChannelType.GuildCategory);
		const isMany = all || isCategory || channels.length > 1;
		return isMany && !unlock ? `silences @everyone in ${all ? "all" : "several"} channels` : undefined;
	},
	async plan(args, { guild, channels: given, locks }) {
		const channels = await chosenChannels(guild, args, given);
		return (args.unlock ? unlockChannels : lockChannels)(guild, channels, args, locks);
	},
});

async function lockChannels(guild: Guild, channels: readonly find.Channel[], args: Chosen, locks: Locks) {
	const unseen = args.all ? channels.filter(isObfuscated) : [];
	const closed = args.all ? channels.filter((one) => !isObfuscated(one) && isStaffOnly(one)) : [];
	const hidden = parts(
		closed.length > 0 &&
			result(
				`Left, because only staff see them: ${namesOf(closed)}. channel_ids locks them.`,
				said("result.lock.staff", { where: mentionsOf(closed) }),
			),
		unseen.length > 0 &&
			result(
				`Left, because the bot cannot see them: ${unseen.map(({ id }) => `<#${id}>`).join(", ")}.`,
				said("result.lock.unseen", { where: mentionsOf(unseen) }),
			),
	);
	const open = channels.filter((one) => !unseen.includes(one) && !closed.includes(one));
	const plan = (channel: find.Channel) => planLock(channel, locks);
	const { plans, left, leavesOut } = await plansOf(open, "Not locked", args, plan, hidden);
	const isPartial = plans.some(({ left }) => left.length > 0);
	const all = plans.reduce((bits, { denied }) => bits | bitsIn(denied), 0n);
	const describe = ({ channel, denied, left, connecting, exempt, inside }: (typeof plans)[number]) =>
		resultLines(
			channelName(channel),
			left.length > 0 &&
				`not locked for ${targets(left)}, who may still ${describeBits(bitsIn(left))}: the caller or the bot lacks that permission`,
			denied.some(({ id }) => id !== guild.id) && `for ${targets(denied)}`,
			connecting.length > 0 && `can still connect to unlock it: ${targets(connecting)}`,
			exempt.length > 0 && `exempt: ${targets(exempt)}`,
			inside > 0 && `still in it: ${inside}`,
		).join("; ");
	const asks = (shown: typeof plans) =>
		asking(
			[
				`Would lock ${plans.length} channel(s): members could no longer ${describeBits(all)}.`,
				...sample(shown, maxShown, describe),
			],
			said("result.lock.ask", { where: mentionsOf(plans.map(({ channel }) => channel)) }),
		);
	return planEach({
		items: plans,
		asks: asks(plans),
		rest: left,
		// People join and leave voice channels meanwhile.
		basis: forModels(parts(asks(plans.map((plan) => ({ ...plan, inside: 0 }))), left)),
		leavesOut: leavesOut || isPartial,
		record: caseOf("lock", plans),
		idOf: ({ channel }) => channel.id,
		describe,
		write: ({ channel, rows }) => locks.begin(rows, (row) => writeBits(channel, row, lockedBits(channel, row))),
		done: (done, of) =>
			`Locked ${done === of ? "" : `${done} of `}${of} channel(s): ${isPartial ? "not for all; " : ""}members may no longer ${describeBits(all)}. unlock = true undoes it.`,
		people: saidOfLocks,
		mention: ({ channel }) => `<#${channel.id}>`,
	});
}

function caseOf(action: "lock" | "unlock", plans: readonly { channel: find.Channel }[]): CaseDraft {
	return { action, userIds: [], channelIds: plans.map(({ channel }) => channel.id) };
}

async function planLock(channel: find.Channel, locks: Locks) {
	const { guild } = channel;
	const rows = await locks.of(channel.id);
	if (rows.length > 0) return describeLocked(channel, rows);
	const bits = lockPermissions(channel);
	const everyone: Denied = {
		id: guild.id,
		type: OverwriteType.Role,
		name: "@everyone",
		bits: heldByMembers(channel, bits),
	};
	const allowed = allowedByOverwrites(channel, bits);
	const wanted = [everyone, ...allowed.filter(({ isExempt }) => !isExempt)];
	const all = bitsIn(wanted);
	if (all === 0n)
		return {
			models: "nobody but staff may do there what a lock denies, and unlocking would not change that",
			people: said("refusal.lock_nothing"),
		} satisfies Why;
	const grantable = grantableBits(guild, channel, all);
	if ((everyone.bits & ~grantable & essentialPermissions) !== 0n) requireGrantable(guild, channel, everyone.bits);
	const only = (mask: bigint) =>
		wanted.map((one) => ({ ...one, bits: one.bits & mask })).filter(({ bits }) => bits !== 0n);
	const denied = only(grantable);
	if (denied.length === 0) requireGrantable(guild, channel, all);
	const denies = bitsIn(denied);
	const locked = new Set(denied.map(({ id }) => id));
	const own = lostByBot(guild, channel, denies, locked);
	const connecting = connectingFor(guild, channel, denies, locked);
	return {
		rows: rowsFor(guild, channel, denied, { own, connecting }),
		left: only(~grantable),
		denied,
		connecting,
		exempt: allowed.filter((one) => one.isExempt),
		inside: find.isVoice(channel) ? channel.members.size : 0,
	};
}

function bitsIn(denied: readonly Denied[]): bigint {
	return denied.reduce((all, { bits }) => all | bits, 0n);
}

function targets(denied: readonly Connecting[]): string {
	return sample(denied, maxNames, ({ name }) => name).join(", ");
}

function describeLocked(channel: find.Channel, rows: readonly ChannelLockRow[]): Why {
	const ended = rows.reduce((bits, row) => bits | (bitsOf(row) & ~inForce(channel, row)), 0n);
	const since = rows[0]?.locked_at ?? 0;
	const but = ended === 0n ? "" : `, but ${describeBits(ended)} is not in force`;
	return {
		models: `has been locked since ${time(since)}${but}; unlock = true unlocks it`,
		people: said("refusal.locked", { since: at(since) }),
	};
}

const maxNames = 30;
const maxShown = 50;

function namesOf(channels: readonly find.Channel[]): string {
	return sample(channels, maxNames, channelName).join(", ");
}

function leftLines(label: string, refused: readonly Of<{ why: Why }>[]): Part[] {
	const byReason = Map.groupBy(refused, ({ why }) => why.models);
	return [...byReason.values()].flatMap((some) => {
		const [{ why } = {}] = some;
		if (!why) return [];
		const channels = some.map(({ channel }) => channel);
		return result(
			`${label}: ${namesOf(channels)}: ${why.models}.`,
			said("result.lock.not", { where: mentionsOf(channels), why: why.people }),
		);
	});
}

function nothingChanged(left: readonly Part[]): ToolError {
	const models = [...forModels(left), "Nothing was done."].join(left.length === 1 ? " " : "\n");
	const why = joined(left.flatMap((part) => (typeof part === "string" ? [] : part.people)));
	return why ? new SaidError(said("refusal.nothing_done", { why }), { models }) : new ToolError(models);
}

function saidOfLocks(plans: readonly Of<LockPlan>[]): Said[] {
	const where = mentionsOf(plans.map(({ channel }) => channel));
	const guild = plans[0]?.channel.guild;
	const whoIn = (of: (plan: LockPlan) => readonly Denied[]) =>
		guild ? [...new Set(plans.flatMap(of).map(({ id }) => mentionOf(guild, id)))] : [];
	const [left, exempt] = [whoIn((plan) => plan.left), whoIn((plan) => plan.exempt)];
	const count = plans.reduce((sum, { inside }) => sum + inside, 0);
	return [
		...(left.length > 0 ? [said("result.lock.left", { who: listed(left) })] : []),
		said("result.lock", { where }),
		...(exempt.length > 0 ? [said("result.lock.exempt", { who: listed(exempt) })] : []),
		...(count > 0 ? [said("result.lock.inside", { count })] : []),
	];
}

function saidOfUnlocks(plans: readonly Of<UnlockPlan>[]): Said[] {
	const unlocked = said("result.unlock", { where: mentionsOf(plans.map(({ channel }) => channel)) });
	const changed = [...new Set(plans.flatMap(({ changedFor }) => changedFor))];
	return changed.length === 0 ? [unlocked] : [unlocked, said("result.unlock.changed", { who: listed(changed) })];
}

type UnlockPlan = Awaited<ReturnType<typeof planUnlock>>;

async function unlockChannels(guild: Guild, channels: readonly find.Channel[], args: Chosen, locks: Locks) {
	const rowsOf = new Map<string, readonly ChannelLockRow[]>();
	for (const { id } of channels) rowsOf.set(id, await locks.of(id));
	const isLocked = ({ id }: find.Channel) => (rowsOf.get(id) ?? []).length > 0;
	const chosen = args.all ? channels.filter(isLocked) : channels;
	if (chosen.length === 0)
		throw new SaidError(said("refusal.nothing_locked"), {
			models: `No channel of the guild ${guild.id} is locked by lock_channel. Nothing was done.`,
		});
	const { plans, left, leavesOut } = await plansOf<UnlockPlan>(chosen, "Not unlocked", args, async (channel) =>
		isLocked(channel)
			? planUnlock(channel, rowsOf.get(channel.id) ?? [])
			: {
					models: "not locked by lock_channel; set_channel_permissions changes permissions",
					people: said("refusal.not_locked"),
				},
	);
	const remembered: find.Channel[] = [];
	const unavailable = () =>
		remembered.length > 0 &&
		result(
			"The database is unavailable and still has the lock: unlock it again in a minute.",
			said("result.unlock.database"),
		);
	const describe = ({ channel, changed }: (typeof plans)[number]) => [channelName(channel), ...changed].join("; ");
	return planEach({
		items: plans,
		asks: asking(
			[`Would unlock ${plans.length} channel(s):`, ...sample(plans, maxShown, describe)],
			said("result.unlock.ask", { where: mentionsOf(plans.map(({ channel }) => channel)) }),
		),
		rest: left,
		leavesOut,
		record: caseOf("unlock", plans),
		idOf: ({ channel }) => channel.id,
		describe,
		async write({ channel, restored }) {
			for (const { row, active } of restored) await restore(channel, row, active);
			if (!(await locks.forget(channel.id))) remembered.push(channel);
		},
		done: (done, of) => `Unlocked ${done === of ? "" : `${done} of `}${of} channel(s):`,
		people: saidOfUnlocks,
		mention: ({ channel }) => `<#${channel.id}>`,
		after: (output) => parts(output, left, unavailable()),
	});
}

async function planUnlock(channel: find.Channel, rows: readonly ChannelLockRow[]) {
	const { guild } = channel;
	const restored = rows.map((row) => ({ row, active: inForce(channel, row) }));
	const active = restored.reduce((bits, { active }) => bits | active, 0n);
	requireGrantable(guild, channel, active);
	const after = restored.map(({ row, active }) => [row.target_id, restoredBits(channel, row, active)] as const);
	requireUndoable(channel, new Map([...overwritesOf(channel), ...after]));
	const others = restored
		.map(({ row, active }) => ({ row, bits: bitsOf(row) & ~active }))
		.filter(({ bits }) => bits !== 0n);
	return {
		restored,
		changed: others.map(
			({ row, bits }) =>
				`Changed since the lock for ${subjectName(guild, row.target_id)}, and left as it is: ${stateOf(channel, row, bits)}`,
		),
		changedFor: others.map(({ row }) => mentionOf(guild, row.target_id)),
	};
}
