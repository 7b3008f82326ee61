// Editing a channel: what would change, and the requests that change it.

import { type Guild, type GuildChannelEditOptions, Routes } from "discord.js";
import { channelName } from "../../../discord/describe.ts";
import { type Channel, type Forum, isForum } from "../../../discord/find.ts";
import { rawOverwrites, requireUndoable } from "../../../discord/overwrites.ts";
import { botPermissions, requireGrantable } from "../../../discord/permissions.ts";
import { oneField, resultLines } from "../../../discord/text.ts";
import { activeThreads } from "../../../discord/thread-pages.ts";
import { changedBits } from "../../../guild-document/names/overwrites.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { requireOwnEmoji } from "../../messages/emoji.ts";
import { saidUnchanged } from "../../results/result.ts";
import { requireOneOf } from "../../tool/arguments/arguments.ts";
import {
	type Access,
	accessNames,
	type Entries,
	entriesOf,
	givesAccess,
	overwriteOptions,
	restricted,
	withBotAccess,
} from "./channel-access.ts";
import {
	convertibleKinds,
	currentFields,
	discordFields,
	editableKind,
	editedFieldNames,
	type GivenFields,
	type Kind,
	requireAllowedKind,
	requireSupportedFields,
} from "./channel-fields.ts";
import {
	type AccessAfterMove,
	accessAfterMove,
	channelWithId,
	fetchChannels,
	lockNeedsCategory,
	movesTo,
	type Place,
	placeBelow,
	requireOrderable,
	requirePlaceIn,
} from "./channel-placement.ts";
import { changedEntries, changedField, describeFollowers } from "./channel-text.ts";
import { currentTags, type GivenTag, type Tag, tagChanges, tagLine, tagOptions } from "./forum-tags.ts";

interface ChannelEdit extends GivenFields, Access {
	tags?: GivenTag[] | undefined;
	below_channel_id?: string | undefined;
	lock_permissions?: boolean | undefined;
	/** Of a voice channel; "" for none. */
	status?: string | undefined;
}

export interface EditStep {
	/** Such as "settings" or "status", for the message about a failed request. */
	name: string;
	/** Such as "slow mode: 0 → 10 s". */
	preview: readonly string[];
	/** Resolves with what has changed, as in `preview`. */
	write(): Promise<readonly string[]>;
}

export async function editSteps(guild: Guild, channel: Channel, args: ChannelEdit): Promise<EditStep[]> {
	requireOneOf(args, argumentNames);
	requireValid(guild, channel, args);
	await requireOwnEmoji(
		guild,
		(args.tags ?? []).flatMap(({ emoji }) => emoji ?? []),
	);
	const { below_channel_id } = args;
	let place: Place | undefined;
	let moves: ReturnType<typeof movesTo> = [];
	if (below_channel_id !== undefined) {
		const all = await fetchChannels(guild);
		const own = channelWithId(all, channel.id);
		place = placeBelow(channel.type, { ...args, below_channel_id }, all, own);
		requireOrderable(guild, place.parentId);
		moves = movesTo(own, place, all);
	}
	const fields = { ...args, ...(place && { category_id: place.parentId }) };
	const moved = await accessOfMoved(guild, channel, fields);
	const access = accessChange(guild, channel, args, moved);
	const tags = args.tags && isForum(channel) ? await tagChange(guild, channel, args.tags) : undefined;
	const placeLine = place ? [`place: ${place.text}`] : [];
	const changed = settingsStep(guild, channel, fields, access, tags);
	const settings = changed && withLines(changed, moved?.lines ?? []);
	const { rest } = guild.client;
	const reorder = () => rest.patch(Routes.guildChannels(guild.id), { body: moves });
	// Discord does not tell bots the current status.
	const setStatus = () => rest.put(Routes.channelVoiceStatus(channel.id), { body: { status: args.status || null } });
	const steps = [
		...(settings ? [moves.length > 0 ? settings : withLines(settings, placeLine)] : []),
		...(moves.length > 0 ? [stepOf("place", placeLine, reorder)] : []),
		...(args.status === undefined ? [] : [stepOf("status", [`status: ${oneField(args.status) || "none"}`], setStatus)]),
	];
	if (steps.length > 0) return steps;
	const given = argumentNames.filter((name) => args[name] !== undefined);
	throw new SaidError(saidUnchanged(`<#${channel.id}>`, args.slowmode), {
		models: `Nothing would change: ${channelName(channel)} already has the given ${given.join(", ")}. Nothing was done.`,
	});
}

const argumentNames: readonly (keyof ChannelEdit)[] = [
	"name",
	"channel_type",
	...editedFieldNames,
	...accessNames,
	"below_channel_id",
	"lock_permissions",
];

function requireValid(guild: Guild, channel: Channel, args: ChannelEdit): void {
	const kind = editableKind(channel);
	if (kind === "stage" && args.status !== undefined)
		throw invalidParameters([
			"status: only voice channels have a status; a stage channel has a topic, which set_stage sets",
		]);
	const { channel_type: newKind = kind } = args;
	const isConvertible = (name: string): name is Kind => convertibleKinds.some((one) => one === name);
	if (newKind !== kind && !(isConvertible(kind) && isConvertible(newKind)))
		throw invalidParameters([
			"channel_type: Discord can only change text channels to announcement channels, and announcement channels to text channels",
		]);
	if (newKind !== kind) requireAllowedKind(guild, newKind);
	requireSupportedFields(args, isConvertible(newKind) ? newKind : kind);
	if (args.below_channel_id === channel.id)
		throw invalidParameters(["below_channel_id: expected a channel other than the edited one"]);
}

async function accessOfMoved(guild: Guild, channel: Channel, { category_id, lock_permissions }: ChannelEdit) {
	if (category_id === undefined || category_id === (channel.parentId ?? "")) {
		if (lock_permissions) throw invalidParameters([lockNeedsCategory]);
		return undefined;
	}
	requirePlaceIn(guild, category_id);
	return accessAfterMove(channel, await fetchChannels(guild), category_id, lock_permissions);
}

// Throws a ToolError if the bot may not make the changes or could not undo them. The call builds on `moved`.
function accessChange(guild: Guild, channel: Channel, args: ChannelEdit, moved: AccessAfterMove | undefined) {
	const kind = editableKind(channel);
	const before = entriesOf(rawOverwrites(channel).permission_overwrites);
	if (!givesAccess(args)) return moved?.entries && { before, after: moved.entries, followers: undefined };
	const base = moved?.entries ?? before;
	const after = withBotAccess(guild, kind, restricted(guild, kind, base, args), botPermissions(guild, channel));
	const changed = changedBits(before, after);
	if (changed === 0n) return undefined;
	requireGrantable(guild, channel, changed);
	requireUndoable(channel, after);
	// Described before the edit, since channels that follow it are synced then, too.
	return { before, after, followers: describeFollowers(channel) };
}

async function tagChange(guild: Guild, forum: Forum, given: readonly GivenTag[]) {
	const { after, added, changed, gone, moved } = tagChanges(forum, given);
	if (added.length + changed.length + gone.length === 0 && !moved) return undefined;
	const posts = gone.length > 0 ? await activeThreads(guild, { channel: forum }) : [];
	const postsWith = ({ id = "" }: Tag) => posts.filter(({ applied_tags }) => applied_tags?.includes(id)).length;
	return {
		after,
		lines: [
			`tags: ${added.length} new, ${changed.length} changed, ${gone.length} deleted`,
			...gone.map((tag) => `deleted tag: ${tagLine(tag)} | on ${postsWith(tag)} active post(s)`),
			...changed.map((tag) => `changed tag: ${tagLine(tag)}`),
		],
		added: added.map((tag) => `new tag: ${tagLine(tag)}`),
	};
}

function settingsStep(
	guild: Guild,
	channel: Channel,
	given: GivenFields,
	access: ReturnType<typeof accessChange>,
	tags: Awaited<ReturnType<typeof tagChange>> | undefined,
): EditStep | undefined {
	const before = currentFields(channel);
	const fields = Object.keys(before) as (keyof typeof before)[];
	const changed = fields.filter((field) => given[field] !== undefined && given[field] !== before[field]);
	if (changed.length === 0 && !access && !tags) return undefined;
	const changes: GivenFields = Object.fromEntries(changed.map((field) => [field, given[field]]));
	const options: GuildChannelEditOptions = {
		...discordFields(changes),
		...(access && { permissionOverwrites: overwriteOptions(access.after) }),
		...(tags && { availableTags: tags.after.map(tagOptions) }),
	};
	const accessLines = (after: Entries) =>
		access ? resultLines(changedEntries(guild, access.before, after), access.followers) : [];
	return {
		name: "settings",
		preview: [
			...changed.map((field) => changedField(guild, field, before[field], given[field])),
			...accessLines(access?.after ?? new Map()),
			...(tags ? [...tags.lines, ...tags.added] : []),
		],
		async write() {
			const edited = (await guild.channels.edit(channel.id, options)) as Channel;
			// Discord normalizes the names of text channels, so a new name can turn out to be the old one.
			const after = currentFields(edited);
			const lines = fields
				.filter((field) => (after[field] === undefined ? changes[field] !== undefined : before[field] !== after[field]))
				// Some servers of Discord's API leave out fields.
				.map((field) => changedField(guild, field, before[field], after[field] ?? changes[field]));
			return [
				...lines,
				...accessLines(entriesOf(rawOverwrites(edited).permission_overwrites)),
				...(tags?.lines ?? []),
				...(tags && isForum(edited) ? currentTags(edited).map((tag) => `tag: ${tagLine(tag)}`) : []),
			];
		},
	};
}

const withLines = (step: EditStep, more: readonly string[]): EditStep => ({
	...step,
	preview: [...step.preview, ...more],
	write: async () => [...(await step.write()), ...more],
});

const stepOf = (name: string, lines: readonly string[], write: () => Promise<unknown>): EditStep => ({
	name,
	preview: lines,
	write: () => write().then(() => lines),
});
