// The tool purge: deletes the messages of some people or of everyone who joined in a time window, or the latest
// messages of channels.

import type { APIMessage, Guild } from "discord.js";
import * as v from "valibot";
import { currentPerson } from "../../../discord/acting-person.ts";
import { channelsFromTop } from "../../../discord/channel-order.ts";
import { anyChannel, type MemberState, requireKnownMembers } from "../../../discord/find.ts";
import { channelModerators, isStaff } from "../../../discord/staff.ts";
import { countOf } from "../../../discord/text.ts";
import { type ArgumentsOf, invalidParameters } from "../../../mcp/tool.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said } from "../../../texts/texts.ts";
import { cut, planMatching, type Selected } from "../../messages/matching-deletion.ts";
import { mentions, type Part, result } from "../../results/result.ts";
import { flag, guild_id, integer, list, moment, reason, snowflake } from "../../tool/arguments/arguments.ts";
import type { BotTool } from "../../tool/context.ts";
import { destructiveTool } from "../../tool/define.ts";

export const purgeToolName = "purge";

const maxCount = 10_000;
const maxUsers = 100;

const input = {
	guild_id,
	user_ids: v.optional(list(snowflake("author"), 1, maxUsers, "Authors, including people who have left.")),
	joined_after: v.optional(moment("Or of members who joined after", true)),
	joined_before: v.optional(moment("And before")),
	channel_ids: v.optional(
		list({ ...snowflake("channel"), find: anyChannel }, 1, 200, "Or forums, categories; default: all."),
	),
	after: v.optional(moment("Written after", true)),
	before: v.optional(moment("Written before")),
	count: v.optional(integer(1, maxCount, "Maximum, newest first.")),
	pinned: v.optional(flag("Delete pinned messages, too."), false),
	reason,
};

type Args = ArgumentsOf<typeof input>;

/** `recordChannels`: in which the bot keeps records, such as its moderation log. */
export function purgeTool(recordChannels: (guildId: string) => ReadonlySet<string>): BotTool {
	return destructiveTool({
		name: purgeToolName,
		title: "Purge messages",
		description:
			"Permanently delete messages of people, or of everyone who joined in a time window, across channels; or the latest of channels (`channel_ids` with `count` or `after`). Messages over 14 days old are deleted one by one.",
		toolset: "moderation",
		person: { may: "purge" },
		permissions: ["ManageMessages", "ReadMessageHistory"],
		permissionsIn: "run",
		input,
		async plan(args, { guild, channels, connection }) {
			requireSelection(args);
			const order = channelsFromTop(guild);
			const except = recordChannels(guild.id);
			const options = { order, maxCount, except };
			if (!args.joined_after) return planMatching(guild, args, channels, options);
			const leavers = new Map<string, number>();
			const { selected, kept } = joinedOnly(args, guild, connection);
			return planMatching(guild, selected, channels, {
				...options,
				onRead: (message) => countLeaver(message, guild, leavers),
				notes: () => [...keptAuthorNotes(kept), ...leaverNotes(leavers)],
			});
		},
	});
}

function requireSelection(args: Args): void {
	const { user_ids, joined_after, joined_before, channel_ids } = args;
	if (joined_before && !joined_after) throw invalidParameters(["joined_before: needs joined_after"]);
	const isOfChannels = channel_ids && (args.count !== undefined || args.after || args.before);
	if (user_ids || joined_after || isOfChannels) return;
	throw invalidParameters([
		"user_ids, joined_after: expected at least one of these, or channel_ids together with count, after or before",
	]);
}

function joinedOnly(
	args: Args,
	guild: Guild,
	connection: MemberState,
): { selected: Selected; kept: readonly string[] } {
	requireKnownMembers(guild, connection);
	const { user_ids, joined_after, joined_before, after = joined_after } = args;
	const [from = -Infinity, until = Infinity] = [joined_after?.atMs, joined_before?.atMs];
	const joined = guild.members.cache.filter(({ joinedTimestamp: at }) => at !== null && at >= from && at < until);
	const all = user_ids?.filter((id) => joined.has(id)) ?? [...joined.keys()];
	const moderators = channelModerators(guild);
	const person = currentPerson()?.id;
	const isKept = (id: string) => {
		const member = joined.get(id);
		if (!member || id === person) return true;
		if (member.user.bot || isStaff(member) || moderators.has(id)) return true;
		return member.roles.cache.some((role) => moderators.has(role.id));
	};
	const authors = all.filter((id) => !isKept(id));
	const kept = all.filter(isKept);
	if (authors.length === 0)
		throw new SaidError(said(kept.length === 0 ? "refusal.nobody_joined" : "refusal.only_staff_joined"));
	return { selected: { ...args, after, user_ids: authors }, kept };
}

function countLeaver({ author, webhook_id }: APIMessage, guild: Guild, counts: Map<string, number>): void {
	const { id, bot } = author;
	if (bot || webhook_id || guild.members.cache.has(id)) return;
	counts.set(id, (counts.get(id) ?? 0) + 1);
}

function keptAuthorNotes(ids: readonly string[]): Part[] {
	if (ids.length === 0) return [];
	return [
		result(
			`Kept: messages of ${ids.length} who joined then, but are bots, staff or you: ${cut(ids)}`,
			said("result.purge.staff", { who: mentions(ids) }),
		),
	];
}

function leaverNotes(counts: ReadonlyMap<string, number>): Part[] {
	if (counts.size === 0) return [];
	const count = [...counts.values()].reduce((sum, count) => sum + count, 0);
	const ids = [...counts.keys()];
	return [
		result(
			`Kept: ${countOf(count, "message")} of people who are no longer members, because it is unknown when they joined. To delete these messages, name the people as authors: ${cut(ids)}`,
			said("result.purge.leavers", { messages: said("count.messages", { count }), who: mentions(ids) }),
		),
	];
}
