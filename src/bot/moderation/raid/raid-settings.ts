// Reads and changes the guild settings that raid mode uses, plans the changes, and checks the permissions of the bot and
// the moderator for that.

import {
	type APIChannel,
	type APIGuild,
	ChannelType,
	type Guild,
	GuildMember,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import { fetchMember } from "../../../discord/find.ts";
import { isObfuscated } from "../../../discord/obfuscation.ts";
import { describeBits, impliedIn, missingForBot, permissionsOf } from "../../../discord/permissions.ts";
import { isStaffOnly } from "../../../discord/staff.ts";
import { said } from "../../../texts/texts.ts";
import { type Grants, grantedBits } from "../../settings/grants.ts";
import type { RaidMode, RaidStep } from "../../store/tables/raid-modes.ts";
import { isChannel, type Move, nextMove, noteOf, type Refusal, type Settings, unseen } from "./raid-rules.ts";

/** Few people can write in announcement channels, and each thread has its own slow mode. */
const slowTypes: readonly ChannelType[] = [
	ChannelType.GuildText,
	ChannelType.GuildVoice,
	ChannelType.GuildStageVoice,
	ChannelType.GuildForum,
	ChannelType.GuildMedia,
];

export interface ReadSettings {
	settings: Settings;
	/** ISO 8601 time. */
	dmsPausedUntil: string | null;
}

/** From Discord, not from the cache, in the order in which raid mode changes them. */
export async function readSettings(guild: Guild): Promise<ReadSettings> {
	const { rest } = guild.client;
	const [now, channels] = await Promise.all([
		rest.get(Routes.guild(guild.id)) as Promise<APIGuild>,
		rest.get(Routes.guildChannels(guild.id)) as Promise<APIChannel[]>,
	]);
	const { invites_disabled_until: until, dms_disabled_until: dms } = now.incidents_data ?? {};
	const untilMs = until ? Date.parse(until) : 0;
	return {
		settings: new Map([
			["invites", untilMs],
			["verification", now.verification_level],
			...channels.flatMap((channel): [string, number][] =>
				slowTypes.includes(channel.type) ? [[channel.id, Object(channel).rate_limit_per_user ?? 0]] : [],
			),
		]),
		dmsPausedUntil: dms ?? null,
	};
}

/** Seconds of slow mode, a verification level, or the end of a pause of invites (epoch milliseconds, 0 for none). */
export async function sendSetting(
	{ id, client: { rest } }: Guild,
	{ thing, value }: { thing: string; value: number },
	{ dmsPausedUntil }: Pick<ReadSettings, "dmsPausedUntil">,
	reason: string,
): Promise<void> {
	if (thing === "invites")
		// Discord's documentation does not say that an omitted field stays unchanged.
		await rest.put(Routes.guildIncidentActions(id), {
			body: {
				invites_disabled_until: value ? new Date(value).toISOString() : null,
				dms_disabled_until: dmsPausedUntil,
			},
		});
	else if (thing === "verification")
		await rest.patch(Routes.guild(id), { body: { verification_level: value }, reason });
	else await rest.patch(Routes.channel(thing), { body: { rate_limit_per_user: value }, reason });
}

/** "gone": has left the guild. Undefined: an MCP client with the root key. */
type Moderator = GuildMember | "gone" | undefined;

export async function moderatorOf(
	guild: Guild,
	{ moderator_id: id }: Pick<RaidMode, "moderator_id">,
): Promise<Moderator> {
	if (id === null) return undefined;
	return (await fetchMember(guild, id)) ?? "gone";
}

/** Raid mode changes only what bot and moderator could change by hand. */
export function refusalFor(guild: Guild, moderator: Moderator, grants: Grants): Refusal {
	const granted = moderator instanceof GuildMember ? grantedBits(grants, moderator, "raid_mode") : 0n;
	return (thing) => {
		const channel = guild.channels.cache.get(thing);
		if (isChannel(thing) && !channel) return noteOf(said("raid.why.hidden"));
		if (channel && isObfuscated(channel)) return unseen;
		const { ManageChannels, ManageGuild } = PermissionFlagsBits;
		const needed = channel ? ManageChannels | impliedIn(channel) : ManageGuild;
		const ofBot = missingForBot(guild, channel, needed);
		if (ofBot !== 0n) return noteOf(said("why.lacks", { permissions: describeBits(ofBot) }));
		if (moderator === "gone") return noteOf(said("raid.why.left"));
		if (!moderator) return undefined;
		const ofPerson = needed & ~permissionsOf(moderator, channel, granted);
		if (ofPerson === 0n) return undefined;
		return noteOf(said("raid.why.lacks.moderator", { permissions: describeBits(ofPerson) }));
	};
}

export interface RaidPlan {
	moves: Move[];
	/** Channels that only staff can see keep their slow mode. */
	staffOnly: string[];
}

export async function planRaidMode(
	guild: Guild,
	mode: RaidMode,
	steps: readonly RaidStep[],
	{ settings }: Pick<ReadSettings, "settings">,
	now: number,
	grants: Grants,
): Promise<RaidPlan> {
	const refusal = refusalFor(guild, await moderatorOf(guild, mode), grants);
	const stored = new Map(steps.map((step) => [step.thing, step]));
	const staffOnly =
		mode.wanted === "off"
			? []
			: [...settings.keys()].filter((thing) => {
					const channel = guild.channels.cache.get(thing);
					const isNew = isChannel(thing) && !stored.has(thing);
					return isNew && channel !== undefined && isStaffOnly(channel);
				});
	const left = new Set(staffOnly);
	const moves = [...new Set([...settings.keys(), ...stored.keys()])].flatMap((thing) => {
		if (left.has(thing)) return [];
		const step = stored.get(thing);
		const value = settings.get(thing);
		return nextMove({ mode, thing, step, value, refusal, now }) ?? [];
	});
	return { moves, staffOnly };
}
