// The places in which check_permissions checks permissions, which it checks there unless a call says otherwise, and who has all of
// them.

import { ChannelType, type GuildBasedChannel, PermissionFlagsBits } from "discord.js";
import { listFirst } from "../../lib/text.ts";
import { channelName, roleName } from "../describe.ts";
import type { Holder, Place } from "../effective-permissions.ts";
import { fieldLine, oneField } from "../text.ts";

type Kind = "guild" | "text" | "forum" | "voice" | "stage" | "category" | "thread";

const voiceKinds: readonly Kind[] = ["voice", "stage"];

const textKinds: readonly Kind[] = ["text", "forum", "thread"];

/**
 * For each permission that does not apply to all kinds of channels: the kinds to which it applies. Categories are not
 * listed, since their channels inherit the permission.
 * https://discord.com/developers/docs/topics/permissions#permissions-bitwise-permission-flags
 */
const kindsWith = new Map<string, readonly Kind[]>(
	(
		[
			[
				["guild"],
				"ADMINISTRATOR BAN_MEMBERS CHANGE_NICKNAME CREATE_GUILD_EXPRESSIONS KICK_MEMBERS MANAGE_GUILD MANAGE_GUILD_EXPRESSIONS MANAGE_NICKNAMES MODERATE_MEMBERS VIEW_AUDIT_LOG VIEW_CREATOR_MONETIZATION_ANALYTICS VIEW_GUILD_INSIGHTS",
			],
			[voiceKinds, "CONNECT CREATE_EVENTS MANAGE_EVENTS MOVE_MEMBERS MUTE_MEMBERS STREAM"],
			[
				["voice"],
				"DEAFEN_MEMBERS PRIORITY_SPEAKER SET_VOICE_CHANNEL_STATUS SPEAK USE_EXTERNAL_SOUNDS USE_SOUNDBOARD USE_VAD",
			],
			[["stage"], "REQUEST_TO_SPEAK"],
			[["voice", ...textKinds], "USE_EMBEDDED_ACTIVITIES"],
			[textKinds, "CREATE_PRIVATE_THREADS CREATE_PUBLIC_THREADS MANAGE_THREADS PIN_MESSAGES SEND_MESSAGES_IN_THREADS"],
			[
				[...textKinds, ...voiceKinds],
				"ADD_REACTIONS ATTACH_FILES BYPASS_SLOWMODE EMBED_LINKS MANAGE_MESSAGES MENTION_EVERYONE READ_MESSAGE_HISTORY SEND_MESSAGES SEND_POLLS SEND_TTS_MESSAGES SEND_VOICE_MESSAGES USE_APPLICATION_COMMANDS USE_EXTERNAL_APPS USE_EXTERNAL_EMOJIS USE_EXTERNAL_STICKERS",
			],
		] as const
	).flatMap(([kinds, names]) => names.split(" ").map((name) => [name, kinds] as const)),
);

/**
 * Whether a permission has an effect in a kind of channel. In a category, every permission has one, since the
 * category's channels inherit it.
 */
export function appliesTo(kind: Kind, name: string): boolean {
	return kind === "guild" || kind === "category" || isGuildWide(name) || (kindsWith.get(name)?.includes(kind) ?? true);
}

/** Whether overwrites of channels do not change it. */
export function isGuildWide(name: string): boolean {
	return kindsWith.get(name)?.includes("guild") ?? false;
}

/**
 * The most important permissions in the guild and in each kind of channel. In the guild these are permissions that can
 * do harm; in channels seeing and using come first, then managing.
 * https://discord.com/developers/docs/topics/permissions#permissions-bitwise-permission-flags
 */
const telling: Record<Kind, string> = {
	guild:
		"ADMINISTRATOR MANAGE_GUILD MANAGE_ROLES MANAGE_CHANNELS MANAGE_WEBHOOKS BAN_MEMBERS KICK_MEMBERS MODERATE_MEMBERS MANAGE_MESSAGES MENTION_EVERYONE VIEW_AUDIT_LOG",
	text: "VIEW_CHANNEL SEND_MESSAGES SEND_MESSAGES_IN_THREADS MENTION_EVERYONE MANAGE_MESSAGES MANAGE_CHANNELS MANAGE_ROLES",
	forum:
		"VIEW_CHANNEL SEND_MESSAGES SEND_MESSAGES_IN_THREADS MANAGE_MESSAGES MANAGE_THREADS MANAGE_CHANNELS MANAGE_ROLES",
	voice: "VIEW_CHANNEL CONNECT SPEAK SEND_MESSAGES MUTE_MEMBERS MOVE_MEMBERS MANAGE_CHANNELS MANAGE_ROLES",
	stage: "VIEW_CHANNEL CONNECT REQUEST_TO_SPEAK MUTE_MEMBERS MANAGE_CHANNELS MANAGE_ROLES",
	category: "VIEW_CHANNEL SEND_MESSAGES CONNECT MANAGE_CHANNELS MANAGE_ROLES",
	thread: "VIEW_CHANNEL SEND_MESSAGES_IN_THREADS MANAGE_MESSAGES MANAGE_THREADS",
};

/** Whether it allows something beyond channels, such as MANAGE_ROLES. */
export function isOfGuild(name: string): boolean {
	return isGuildWide(name) || telling.guild.split(" ").includes(name);
}

export function kindOf(channel: GuildBasedChannel | undefined): Kind {
	if (!channel) return "guild";
	if (channel.isThread()) return "thread";
	switch (channel.type) {
		case ChannelType.GuildVoice:
			return "voice";
		case ChannelType.GuildStageVoice:
			return "stage";
		case ChannelType.GuildForum:
		case ChannelType.GuildMedia:
			return "forum";
		case ChannelType.GuildCategory:
			return "category";
		default:
			return "text";
	}
}

/**
 * Channels of the same kind with the same permission overwrites. All members have the same permissions in each of them.
 */
export interface Places {
	kind: Kind;
	/** One of the channels, as an example: the result is the same for all of them. */
	place: Place;
	all: Place[];
}

export function groupPlaces(places: readonly Place[]): Places[] {
	const groups = new Map<string, Places>();
	for (const place of places) {
		const kind = kindOf(place.channel);
		const overwrites = [...place.overwrites]
			.filter(([, { allow, deny }]) => (allow | deny) !== 0n)
			.map(([id, { allow, deny }]) => `${id} ${allow} ${deny}`)
			.sort();
		const members = place.threadMembers && [...place.threadMembers].sort();
		const key = [kind, ...overwrites, "members", ...(members ?? ["all"])].join();
		groups.getOrInsert(key, { kind, place, all: [] }).all.push(place);
	}
	return [...groups.values()];
}

const maxWithIds = 3;

/**
 * Returns the names of channels, separated by commas, or "the guild". Adds the kind of each channel, except for text
 * channels and threads, and the ids of few channels.
 */
export function placeNames(places: readonly Place[]): string {
	return places
		.map(({ channel }) => {
			if (!channel) return "the guild";
			const kind = kindOf(channel);
			const name = places.length > maxWithIds ? `#${oneField(channel.name)}` : channelName(channel);
			return kind === "text" || kind === "thread" ? name : `${kind} ${name}`;
		})
		.join(", ");
}

/**
 * Returns the names of the permissions to check in a kind of channel: `asked`, or by default the first `count` of the
 * most important ones. In threads, SEND_MESSAGES_IN_THREADS replaces SEND_MESSAGES. If `kinds` has several kinds,
 * leaves out permissions that do not apply to `kind`.
 * https://discord.com/developers/docs/topics/permissions#inherited-permissions-threads
 */
export function checkedIn(
	kind: Kind,
	asked: readonly string[] | undefined,
	kinds: ReadonlySet<Kind> = new Set([kind]),
	count?: number,
): readonly string[] {
	const all = asked ?? telling[kind].split(" ");
	const inThread = all.map((name) =>
		kind === "thread" && name === "SEND_MESSAGES" ? "SEND_MESSAGES_IN_THREADS" : name,
	);
	const names = [...new Set(inThread)];
	const first = asked || kind === "guild" ? names : names.slice(0, count);
	if (kinds.size === 1) return first;
	if (kind === "guild") return asked ? first.filter(isOfGuild) : first;
	return first.filter((name) => kindsWith.get(name)?.includes(kind) ?? true);
}

/** Returns the kinds of the channels in these groups. */
export function kindsOf(groups: readonly Places[]): ReadonlySet<Kind> {
	return new Set(groups.map(({ kind }) => kind));
}

/**
 * Returns a line that names the channels to which none of the permissions `asked` applies; undefined if there are no
 * such channels.
 */
export function inapplicableLine(groups: readonly Places[], asked: readonly string[] | undefined): string | undefined {
	const kinds = kindsOf(groups);
	const places = groups.filter(({ kind }) => checkedIn(kind, asked, kinds).length === 0).flatMap(({ all }) => all);
	if (places.length === 0) return undefined;
	return `Not applicable in: ${placeNames(places)}`;
}

const maxNamed = 15;

/**
 * Returns a result line with the names of those of `holders` (members or roles) that have all permissions: the guild's
 * owner, and for each role with ADMINISTRATOR its members, the owner too. Returns undefined if there are none.
 */
export function unlimitedLine(holders: readonly { name: string; holder: Holder }[]): string | undefined {
	const owners = holders.filter(({ holder }) => holder.isOwner);
	const byRole = new Map<string, string[]>();
	for (const { name, holder } of holders) {
		const role = holder.roles.find(({ permissions }) => permissions.has(PermissionFlagsBits.Administrator, false));
		if (!role) continue;
		const label = roleName(role);
		byRole.getOrInsert(label, []).push(name === label ? "the role" : name);
	}
	if (owners.length === 0 && byRole.size === 0) return undefined;
	return fieldLine(
		...owners.map(({ name }) => `Owner: ${name}`),
		...[...byRole].map(([label, names]) => `ADMINISTRATOR by ${label}: ${listFirst(names, maxNamed, ", ")}`),
	);
}
