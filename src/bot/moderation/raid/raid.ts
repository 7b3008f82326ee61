// Raid mode as a part of the feature `moderation`: background work, tools, commands, and the suggestion to turn it on
// when many people join.

import { ButtonStyle, type Client, EmbedBuilder, Events, type GuildMember } from "discord.js";
import { type Say, sayIn } from "../../../texts/texts.ts";
import { type Action, type ActionOption, announceOption } from "../../commands/action.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import { type ComponentHandler, callerOf } from "../../commands/components.ts";
import { combineFeatures, type FeatureOptions } from "../../commands/feature.ts";
import { requireHeld } from "../../commands/who-may.ts";
import { buttonRow } from "../../messages/buttons.ts";
import { noMentions } from "../../messages/split-message.ts";
import { duration } from "../../results/result.ts";
import type { Grants } from "../../settings/grants.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import type { CallAs } from "../../tool/call-as.ts";
import { formatEnd, type ModerationLog } from "../moderation-log.ts";
import { type Notice, postOnce } from "../night/notice.ts";
import { RaidModes, type RaidModesOptions } from "./raid-mode.ts";
import { raidTools } from "./raid-tools.ts";

const reason: ActionOption = { name: "reason", kind: "reason", argument: "reason" };

export const raidActions: readonly Action[] = [
	{
		name: "raid on",
		tool: "raid_mode",
		fixed: { mode: "on" },
		options: [
			{
				name: "slowmode",
				kind: "integer",
				argument: "slowmode",
				min: 5,
				max: 21_600,
				convert: (seconds) => `${seconds}s`,
			},
			reason,
			announceOption,
		],
		may: "raid_mode",
		confirm: () => true,
		heavy: true,
	},
	{
		name: "raid off",
		tool: "raid_mode",
		fixed: { mode: "off" },
		options: [reason],
		may: "raid_mode",
		confirm: () => true,
		heavy: true,
	},
	{ name: "raid status", tool: "raid_status", options: [], may: "raid_mode" },
];

interface RaidOptions
	extends Pick<FeatureOptions, "settings" | "connection" | "store" | "log" | "mutex" | "callAs">,
		Pick<RaidModesOptions, "now" | "backOffMs" | "maxSleepMs"> {
	moderationLog: Pick<ModerationLog, "add" | "channelOf">;
}

export function createRaid(options: RaidOptions) {
	const { settings, connection, log, moderationLog, callAs } = options;
	const modes = new RaidModes({
		...options,
		async notify({ guild_id, run, ends_at }) {
			await settings.loaded;
			const { "moderation.log_channel": log, "audit.channel": audit, "night.ping_role": role } = settings.of(guild_id);
			const posting = { channelIds: [log, audit], role, nonce: `${guild_id}-${run}` };
			await postOnce(options, guild_id, posting, noticeOfRaid(ends_at ?? 0));
		},
	});
	return combineFeatures([
		modes,
		createJoinWatch({ settings, connection, modes, moderationLog, log }),
		{ tools: raidTools(modes), actions: raidActions, components: [raidButtonHandler(settings, callAs)] },
	]);
}

function raidButtonHandler(grants: Grants, callAs: CallAs): ComponentHandler {
	return {
		prefix: raidPrefix,
		async run(interaction, rest) {
			if (!["on", "off"].includes(rest) || !interaction.isButton()) return;
			requireHeld(grants, interaction, { may: "raid_mode" });
			await deferPrivately(interaction);
			const { message } = interaction;
			const { text, isError } = await callAs({
				...callerOf(interaction),
				tool: "raid_mode",
				args: { mode: rest },
				command: `the button to turn ${rest} raid mode`,
			});
			await answerPrivately(interaction, text);
			if (!isError && message.editable) await message.edit({ components: [] });
		},
	};
}

const minQuietMs = 600_000;
const retryMs = 10_000;

interface JoinRate {
	joins: number;
	windowMs: number;
}

const raidPrefix = "raid";
/** The slow mode in seconds. */
const slowmode = 30;

interface JoinWatchOptions extends Pick<FeatureOptions, "connection" | "log"> {
	settings: Pick<GuildSettings, "of">;
	modes: Pick<RaidModes, "view" | "turn">;
	moderationLog: Pick<ModerationLog, "channelOf">;
}

export function suggestionOf({ joins, windowMs }: JoinRate, say: Say) {
	const description = say("raid.suggested", { count: joins, time: duration(windowMs) });
	const embed = new EmbedBuilder({ title: say("raid.suggested.title"), description, color: 0xc62828 });
	const button = { id: `${raidPrefix}:on`, label: say("raid.suggested.button"), style: ButtonStyle.Danger as const };
	return { embeds: [embed], components: [buttonRow([button])] };
}

/** That the bot has turned it on by itself. */
export function noticeOfRaid(ends: number): Notice {
	return (say) => {
		const description = say("raid.night", { end: formatEnd(ends) });
		const embed = new EmbedBuilder({ title: say("raid.on.running.title"), description, color: 0xc62828 });
		const button = { id: `${raidPrefix}:off`, label: say("raid.night.button"), style: ButtonStyle.Secondary as const };
		return { embeds: [embed], components: [buttonRow([button])] };
	};
}

export function createJoinWatch(options: JoinWatchOptions) {
	const { settings, connection, modes, moderationLog, log } = options;
	/** `retryAt`: from then on the next join repeats a suggestion that could not be posted. */
	const guilds = new Map<string, { times: number[]; waveEndsAt: number; retryAt: number }>();

	/** The join begins a wave above the allowed rate, or the suggestion for the wave could not be posted. */
	function beginsWave(guildId: string, { joins: max, windowMs }: JoinRate, at: number): boolean {
		const joins = guilds.getOrInsert(guildId, { times: [], waveEndsAt: -Infinity, retryAt: Infinity });
		joins.times.push(at);
		joins.times.splice(0, joins.times.length - max);
		if (joins.times.length < max) return false;
		// Discord's events can arrive out of order.
		const spanMs = Math.max(...joins.times) - Math.min(...joins.times);
		if (spanMs > windowMs) return false;
		const isNew = at >= Math.min(joins.waveEndsAt, joins.retryAt);
		if (isNew) joins.retryAt = Infinity;
		joins.waveEndsAt = at + Math.max(minQuietMs, windowMs);
		return isNew;
	}

	async function suggest(guildId: string, rate: JoinRate): Promise<void> {
		const view = await modes.view(guildId);
		if (view?.mode.wanted === "on") return;
		const fields = { guild: guildId, joins: rate.joins, seconds: rate.windowMs / 1000 };
		log.warn("more people join than the setting moderation.raid allows", fields);
		const values = settings.of(guildId);
		if (values["night.raid"]) {
			const mark = "Raid mode on: more people joined than the setting moderation.raid allows";
			const ends_at = Date.now() + values["night.raid_for"];
			await modes.turn(guildId, { wanted: "on", moderator_id: null, mark, slowmode, ends_at });
			return;
		}
		const channel = connection.discord.channels.cache.get(moderationLog.channelOf(guildId) ?? "");
		if (!channel?.isSendable()) return;
		const say = sayIn("guild" in channel ? channel.guild.preferredLocale : undefined);
		await channel.send({ ...suggestionOf(rate, say), allowedMentions: noMentions });
	}

	function noteJoin({ guild, user, joinedTimestamp }: GuildMember): void {
		const rate = settings.of(guild.id)["moderation.raid"];
		if (user.bot || !rate) return;
		const at = joinedTimestamp ?? Date.now();
		if (!beginsWave(guild.id, rate, at)) return;
		suggest(guild.id, rate).catch((error) => {
			const joins = guilds.get(guild.id);
			if (joins) joins.retryAt = at + retryMs;
			log.warn("could not suggest raid mode in the moderation log, or turn it on", {
				guild: guild.id,
				reason: String((error as Error).message),
			});
		});
	}

	return {
		attach(client: Client): void {
			client.on(Events.GuildMemberAdd, noteJoin);
			client.on(Events.GuildDelete, ({ id }) => guilds.delete(id));
		},
	};
}
