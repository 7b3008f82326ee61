// Channels: listing, creating, editing, deleting. Moving is in channel-moves.ts, permissions in overwrites.ts.

import { ChannelType, type Guild, Routes, SnowflakeUtil } from "discord.js";
import * as v from "valibot";
import { channelsFromTop } from "../../discord/channel-order.ts";
import { channelLabel, channelName, time } from "../../discord/describe.ts";
import * as find from "../../discord/find.ts";
import { type Channel, isForum } from "../../discord/find.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import { requireGrantable } from "../../discord/permissions.ts";
import { describePowers, powersIn } from "../../discord/powers.ts";
import { fieldLine, inlineText, namedLike, oneField, resultLines } from "../../discord/text.ts";
import { activeThreads } from "../../discord/thread-pages.ts";
import { visibleChannels } from "../../discord/visible-channels.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { listedAs } from "../../mcp/json-schema.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { archivedThreadsOf, hasThreads } from "../messages/archived-threads.ts";
import { emoji } from "../messages/emoji.ts";
import { forModels, result, saidSlowMode } from "../results/result.ts";
import {
	choice,
	choiceInAnyCase,
	flag,
	found,
	foundOrNone,
	guild_id,
	type Moment,
	moment,
	nameQuery,
	orText,
	readPermissions,
	reason,
	snowflake,
	text,
} from "../tool/arguments/arguments.ts";
import { planEach } from "../tool/bulk.ts";
import type { CaseDraft } from "../tool/case-record.ts";
import { destructiveTool, editTool, readTool, writeTool } from "../tool/define.ts";
import { type Access, accessFields, accessNames, permission_overwrites } from "./channels/channel-access.ts";
import { type EditStep, editSteps } from "./channels/channel-edit.ts";
import {
	convertibleKinds,
	currentFields,
	kindFields,
	kindName,
	kindNames,
	requireAllowedKind,
} from "./channels/channel-fields.ts";
import { requirePlaceIn } from "./channels/channel-placement.ts";
import { accessForEveryone, fieldText, topicStart } from "./channels/channel-text.ts";
import { currentTags, tagLine } from "./channels/forum-tags.ts";
import { createGuildChannel } from "./channels/new-channel.ts";

const nameField = text(1, 100, "Channel name.");

const tagFields = {
	name: text(1, 20, "Name of the tag."),
	emoji: v.optional(emoji),
	moderated: flag("Only moderators can apply it."),
};

function tagList<const Tag extends v.GenericSchema>(tag: Tag, shown: string) {
	return v.optional(
		v.pipe(
			v.array(orText(tag, "name")),
			v.maxLength(20, "expected at most 20"),
			v.description("The forum's complete list of tags."),
			listedAs({ type: "array", items: { type: "object" }, description: `Forum: all tags, ${shown}.` }),
		),
	);
}

const below_channel_id = v.optional(found(find.channel, "channel above it, or its category"));

export const createChannel = writeTool({
	name: "create_channel",
	toolset: "channels",
	offered: "listed",
	title: "Create a channel",
	description:
		"Create a channel; several: plan_guild. Access is as in its category unless given; the bot keeps its own.",
	permissions: ["ManageChannels"],
	lock: ({ below_channel_id, guild_id }, { guildId }) => [below_channel_id && (guild_id || guildId)],
	input: {
		guild_id,
		name: nameField,
		channel_type: v.optional(choiceInAnyCase(kindNames, "Kind."), "text"),
		category_id: v.optional(found(find.category, "category")),
		below_channel_id,
		...accessFields,
		permission_overwrites,
		...kindFields,
		tags: tagList(v.strictObject(tagFields), "{name, emoji, moderated}"),
		reason,
	},
	destructive({ permission_overwrites = [] }, { guild }) {
		const field = "permission_overwrites";
		const allowed = permission_overwrites.map(({ allow }) => readPermissions(field, allow));
		const powers = powersIn(
			allowed.reduce((all, bits) => all | bits, 0n),
			guild,
		);
		return powers === 0n ? undefined : `allows ${describePowers(powers)} in the channel`;
	},
	run({ channel_type, guild_id, reason, ...fields }, { guild, connection }) {
		return createGuildChannel(guild, channel_type, fields, connection);
	},
});

const forAccess = accessNames.map((name) => ({
	permission: "ManageRoles" as const,
	with: name,
	when: (args: Access) => args[name] !== undefined,
}));

/** Their former value is a word that the result names. */
const restorable = ["name", "slowmode", "user_limit", "bitrate"];
const naming = ["guild_id", "channel_id", "reason"];

export const editChannel = editTool({
	name: "edit_channel",
	toolset: "channels",
	offered: "listed",
	title: "Edit a channel",
	description: "Change a channel; omitted settings stay.",
	lock: ({ channel_id, below_channel_id, guild_id }, { guildId }) => [
		below_channel_id && (guild_id || guildId),
		channel_id,
	],
	permissions: [
		"ManageChannels",
		...forAccess,
		{ permission: "ManageRoles", with: "lock_permissions" },
		{ permission: "SetVoiceChannelStatus", with: "status", when: ({ status }) => status !== undefined },
	],
	input: {
		guild_id,
		channel_id: found(find.currentChannel, "channel"),
		name: v.optional(nameField),
		channel_type: v.optional(choice(convertibleKinds, "The other.")),
		category_id: v.optional(foundOrNone(find.categoryOrNone, "category")),
		lock_permissions: flag("Sync with it."),
		below_channel_id,
		...accessFields,
		...kindFields,
		tags: tagList(
			v.strictObject({ id: v.optional(snowflake("tag, to rename it")), ...tagFields }),
			"{id to rename, name, emoji, moderated}",
		),
		status: v.optional(text(0, 500, "Voice.")),
		reason,
	},
	destructive(args) {
		const replaced = givenIn(args).filter((name) => !restorable.includes(name));
		return replaced.length > 0 ? `replaces the channel's ${replaced.join(", ")}` : undefined;
	},
	async plan(args, { guild, channel }) {
		const steps = await editSteps(guild, channel, args);
		const where = `<#${channel.id}>`;
		const results = new Map<EditStep, readonly string[]>();
		return planEach({
			items: steps,
			asks: [
				result(`Would change ${channelName(channel)}:`, said("preview.edit_channel", { where })),
				...steps.flatMap(({ preview }) => preview),
			],
			record: slowModeCase(channel, args.slowmode),
			idOf: ({ name }) => name,
			describe: (step) => (results.get(step) ?? [step.name]).join("\n"),
			write: async (step) => {
				const lines = await step.write();
				if (lines.length > 0) results.set(step, lines);
				else if (steps.length === 1)
					throw new SaidError(said("refusal.same_channel", { where }), {
						models: `Nothing changed: after Discord normalized the values, ${channelName(channel)} has the same ${givenIn(args).join(", ")} as before.`,
					});
			},
			done: (count, of) =>
				count === of
					? `Changed ${channelName(channel)}:`
					: `Changed ${channelName(channel)} in part, by ${count} of ${of} requests:`,
			after: (output) =>
				result(
					forModels(output),
					args.slowmode === undefined ? said("result.channel", { where }) : saidSlowMode(where, args.slowmode),
				),
		});
	},
});

function slowModeCase(channel: find.Channel, seconds: number | undefined): CaseDraft | undefined {
	const before = currentFields(channel).slowmode;
	if (seconds === undefined || seconds === before) return undefined;
	const detail = [said("case.detail.slowmode", { seconds: `${before} → ${seconds}` })];
	const channelIds = [channel.id];
	return { action: "slow_mode", userIds: [], channelIds, detail };
}

function givenIn(args: object): string[] {
	const given = Object.entries(args).filter(([name, value]) => value !== undefined && !naming.includes(name));
	return given.map(([name]) => name);
}

export const listChannels = readTool({
	name: "list_channels",
	toolset: "channels",
	offered: "listed",
	title: "List channels",
	description: "List channels from the top: kind, topic, limits, last message, private or read-only.",
	input: {
		guild_id,
		category_id: v.optional(found(find.category, "category; default: all")),
		query: v.optional(nameQuery("Parts of names.")),
		silent_since: v.optional(v.pipe(moment("Nobody wrote since"), v.description("Nobody wrote since: 90d (ago)."))),
	},
	async run({ query, silent_since: since }, { guild, category }) {
		const { matches, words } = namedLike(query);
		const named = channelsFromTop(guild)
			.filter(({ id, parentId }) => !category || id === category.id || parentId === category.id)
			.filter((channel) => !query || (!isObfuscated(channel) && matches(channel)));
		const { silent: shown, uncertain } = since
			? await silentChannels(guild, named, since)
			: { silent: named, uncertain: [] };
		const where = `${words}${category ? ` in ${channelName(category)}, including itself` : ""}`;
		const idle = since ? ` in which nobody wrote since ${time(since.atMs)}, also not in threads` : "";
		const latestOf = latestMessages(guild);
		return resultLines(
			shown.length === 0
				? `The guild has no channels${where}${idle}.`
				: `${shown.length} channel(s)${where}${idle}, from the top${since ? "" : ", categories above their channels"}:`,
			// Without their categories in the list, the lines name them.
			shown.map((channel) => lineOf(channel, latestOf(channel), !category && Boolean(since ?? query))),
			uncertain.length > 0 && `Not all archived threads could be read in: ${uncertain.join(", ")}.`,
		);
	},
});

function lineOf(channel: find.Channel, latestMs?: number, showsCategory = false): string {
	if (isObfuscated(channel)) return fieldLine(channelLabel(channel), `ID: ${channel.id}`, kindName(channel));
	const { topic, nsfw, slowmode, user_limit } = currentFields(channel);
	return fieldLine(
		`#${oneField(channel.name)} | ID: ${channel.id} | ${kindName(channel)}`,
		showsCategory && channel.parent && `in ${oneField(channel.parent.name)}`,
		...accessForEveryone(channel),
		user_limit > 0 && `limit: ${user_limit}`,
		topic && `topic: ${topicStart(topic)}`,
		nsfw && "nsfw",
		slowmode > 0 && `slow mode: ${slowmode} s`,
		latestMs !== undefined && `last message: ${time(latestMs).slice(0, 10)}`,
	);
}

export const getChannel = readTool({
	name: "get_channel",
	toolset: "channels",
	offered: "extra",
	title: "Get a channel",
	description:
		"A channel's or thread's settings, category and position, a forum's tags, and whether its permissions are its category's.",
	input: { guild_id, channel_id: found(find.anyChannel, "channel or thread") },
	run(_, { guild, channel }) {
		const fields = currentFields(channel);
		const { parent } = channel;
		const yesOrNo = (value: unknown) => (value ? "yes" : "no");
		const place = [
			`${channelName(channel)}, ${kindName(channel)}`,
			`${channel.isThread() ? "thread of" : "category"}: ${parent ? channelName(parent) : "none"}`,
		];
		const created = `created: ${time(channel.createdTimestamp)}`;
		if (isObfuscated(channel))
			return [...place, created, "everything else: unknown; allow the bot VIEW_CHANNEL there to see it"];
		const lines = [
			...place,
			`topic: ${oneField(fields.topic) || "none"}`,
			fieldText(guild, "nsfw", fields.nsfw),
			fieldText(guild, "slowmode", fields.slowmode),
			created,
		];
		if (channel.isThread())
			return [
				...lines,
				`started by: ${channel.ownerId ?? "unknown"}`,
				`archived: ${yesOrNo(channel.archived)}`,
				`locked: ${yesOrNo(channel.locked)}`,
			];
		const { size } = channel.permissionOverwrites.cache;
		const shown = (field: keyof typeof fields) => fieldText(guild, field, fields[field]);
		return resultLines(
			lines,
			`position: ${channel.position}`,
			fields.spoiler && shown("spoiler"),
			find.isVoice(channel) && (["bitrate", "user_limit", "rtc_region"] as const).map(shown),
			(["thread_slowmode_seconds", "auto_archive_minutes"] as const).map((field) =>
				fields[field] ? shown(field) : "",
			),
			find.isForum(channel) && forumLines(channel),
			parent && `permissions as in the category: ${yesOrNo(channel.permissionsLocked)}`,
			`permissions of its own: for ${size} role(s) and member(s), shown by list_channel_permissions`,
		);
	},
});

function forumLines(forum: find.Forum): string[] {
	const fields = currentFields(forum);
	const set = (["default_reaction", "default_sort_order", "default_layout"] as const).filter(
		(field) => fields[field] !== "",
	);
	const tags = currentTags(forum);
	const needed = fields.require_tag ? ", every post needs at least one" : "";
	return [
		...set.map((field) => fieldText(forum.guild, field, fields[field])),
		`tags: ${tags.length || "none"}${needed}`,
		...tags.map((tag) => `tag: ${tagLine(tag)}`),
	];
}

export const deleteChannel = destructiveTool({
	name: "delete_channel",
	toolset: "channels",
	offered: "listed",
	title: "Delete a channel",
	description: "Delete a channel with all its messages, or a category, whose channels stay. Not undoable.",
	permissions: ["ManageChannels"],
	lock: "channel_id",
	input: { guild_id, channel_id: found(find.currentChannel, "channel"), reason },
	plan(_, { guild, channel }) {
		const target = `the ${kindName(channel)} channel ${channelName(channel)}`;
		// Nobody can read a mention of what is deleted.
		const where = inlineText(`#${channel.name}`, 200);
		const inside = channelsFromTop(guild).filter(({ parentId }) => parentId === channel.id);
		const left = inside.length > 0 ? ` The ${inside.length} channel(s) in it stay, without a category.` : "";
		const describeContent = async () => {
			const people = find.isVoice(channel) ? channel.members.size : 0;
			const { length } = "threads" in channel ? await activeThreads(guild, { channel }) : [];
			const connected = people > 0 ? ` ${people} member(s) in it would be disconnected.` : "";
			return length > 0 ? `${connected} ${length} of its threads are active.` : connected;
		};
		return {
			preview: async () => [
				channel.type === ChannelType.GuildCategory
					? result(`Would delete ${target}.${left}`, said("preview.delete_category", { where }))
					: result(
							`Would delete ${target}, with everything in it.${await describeContent()}`,
							said("preview.delete_channel", { where }),
						),
				...inside.map((one) => lineOf(one)),
			],
			write: () => guild.client.rest.delete(Routes.channel(channel.id)),
			result: `Deleted ${target}.${left}`,
		};
	},
});

export const cloneChannel = writeTool({
	name: "clone_channel",
	toolset: "channels",
	offered: "extra",
	title: "Clone a channel",
	description: "Create a copy of a channel: its fields, permissions and category, without messages.",
	permissions: [{ permission: "ManageChannels", inGuild: true }],
	person: { permissions: ["ManageChannels"] },
	input: {
		guild_id,
		channel_id: found(find.currentChannel, "channel to clone"),
		name: v.optional(text(1, 100, "Name; default: the same.")),
		reason,
	},
	async run({ name = "" }, { guild, channel }) {
		requireAllowedKind(guild, kindName(channel));
		const bits = channel.permissionOverwrites.cache.reduce(
			(all, { allow, deny }) => all | allow.bitfield | deny.bitfield,
			0n,
		);
		requireGrantable(guild, "new", bits);
		if (channel.parentId) requirePlaceIn(guild, channel.parentId);
		const made = await channel.clone({ name: name || channel.name });
		return `Created ${channelName(made)}, a clone of ${channelName(channel)}.`;
	},
});

/** Also in threads that are not archived. Discord keeps the ids of deleted messages. */
function latestMessages(guild: Guild): (channel: Channel) => number | undefined {
	const threads = Map.groupBy(
		visibleChannels(guild)
			.filter((channel) => channel.isThread())
			.values(),
		({ parentId }) => parentId,
	);
	return (channel) => {
		const own = "lastMessageId" in channel ? channel.lastMessageId : undefined;
		const ids = [own, ...(threads.get(channel.id) ?? []).map((thread) => thread.lastMessageId ?? thread.id)];
		const latest = ids
			.filter((id) => typeof id === "string")
			.toSorted(compareIds)
			.at(-1);
		return latest === undefined ? undefined : SnowflakeUtil.timestampFrom(latest);
	};
}

/** Those of `channels`, older than `since`, in which nobody wrote since then, and for which this is not certain. */
async function silentChannels(guild: Guild, channels: readonly Channel[], since: Moment) {
	const latestOf = latestMessages(guild);
	const candidates = channels
		.filter((channel) => (channel.isTextBased() || isForum(channel)) && !isObfuscated(channel))
		.filter((channel) => compareIds(channel.id, since.first) < 0 && (latestOf(channel) ?? 0) < since.atMs);
	const { threads, unlisted } = await archivedThreadsOf(
		guild,
		candidates.filter(hasThreads),
		{ after: since },
		new Set(),
	);
	const busy = new Set(
		threads
			.filter(({ id, lastMessageId }) => compareIds(lastMessageId ?? id, since.lastBefore) > 0)
			.map(({ parentId }) => parentId),
	);
	return {
		silent: candidates.filter(({ id }) => !busy.has(id)),
		uncertain: unlisted.filter(({ id }) => !busy.has(id)).map(channelName),
	};
}
