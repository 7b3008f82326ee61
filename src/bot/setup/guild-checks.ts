// Checks after login: the bot's permissions in its guilds, and whether people can approve there. Changes nothing.

import { type Client, Events, type Guild } from "discord.js";
import { guildName, roleName, time } from "../../discord/describe.ts";
import { bitsIn, botPermissions, describeBits, everything, missingForBot } from "../../discord/permissions.ts";
import type { Log } from "../../lib/log.ts";
import { type Check, CheckFailed, type Found } from "../../lib/program/check.ts";
import type { BotConfig } from "../config/config.ts";
import type { Values } from "../settings/keys.ts";
import type { GuildBackupRow } from "../store/tables/guild-backups.ts";
import { invitePermissions, inviteUrl, neededFor } from "./invite.ts";

/** In a guild that already has the bot, the link grants missing permissions. */
export function inviteTo({ application }: Client<true>, toml: BotConfig["toml"]): string {
	return inviteUrl(application.id, invitePermissions(toml));
}

/** With the invite link: after a login, and after leaving a guild, while the bot is in no guild. */
export function noGuildWarning(toml: BotConfig["toml"], log: Log) {
	return {
		attach(client: Client): void {
			const warnIfNone = () => {
				// Unavailable guilds stay in the cache.
				if (client.isReady() && client.guilds.cache.size === 0)
					log.warn("the bot is in no guild, open this link to invite it", { invite: inviteTo(client, toml) });
			};
			client.on(Events.ClientReady, warnIfNone);
			client.on(Events.GuildDelete, warnIfNone);
		},
	};
}

const forEveryTool = ["ViewChannel"] as const;

const optional = ["MentionEveryone", "SendMessagesInThreads"] as const;

/** Throws a CheckFailed for what is necessary; returns a warning about other permissions. */
export function checkPermissions(guilds: readonly Guild[], toml: BotConfig["toml"]): Found {
	const wanted = invitePermissions(toml) & ~bitsIn(undefined, optional);
	const warnings = guilds.flatMap((guild) => {
		requireLeast(guild, toml);
		const useful = missingForBot(guild, undefined, wanted);
		return [
			...(useful === 0n
				? []
				: [
						`the bot lacks ${describeBits(useful)} in ${guildName(guild)} as a whole: a tool or command that needs it fails and says so, unless a channel allows it`,
					]),
			...(toml.features.moderation ? rankWarnings(guild) : []),
		];
	});
	if (warnings.length > 0) return { warning: warnings.join("; ") };
	return "all that its tools and features need";
}

// It can then moderate only members without a role.
function rankWarnings(guild: Guild): string[] {
	const { me } = guild.members;
	if (!me || guild.ownerId === me.id) return [];
	const { highest } = me.roles;
	const others = guild.roles.cache.filter(({ id }) => id !== guild.id && id !== highest.id);
	if (others.size === 0) return [];
	if (others.some((role) => highest.comparePositionTo(role) > 0)) return [];
	return [
		`the bot's highest role, ${roleName(highest)}, is at the bottom of the roles of ${guildName(guild)}: the bot cannot moderate members with a role. In the guild's settings, drag it above the roles that it is to moderate`,
	];
}

/** Throws a CheckFailed if the bot is timed out, or lacks what every tool or an enabled feature needs. */
export function requireLeast(guild: Guild, toml: BotConfig["toml"]): void {
	const until = guild.members.me?.communicationDisabledUntil;
	const inGuild = botPermissions(guild, undefined);
	if (inGuild === everything) return;
	if (until && guild.members.me?.isCommunicationDisabled())
		throw new CheckFailed(
			`the bot is timed out in ${guildName(guild)} until ${time(until)}`,
			"A moderator with MODERATE_MEMBERS can remove the timeout.",
		);
	const somewhere = guild.channels.cache.reduce((bits, channel) => bits | botPermissions(guild, channel), inGuild);
	const missing = neededFor(forEveryTool, toml.features) & ~somewhere;
	if (missing !== 0n)
		throw new CheckFailed(
			`the bot lacks ${describeBits(missing)} in ${guildName(guild)}`,
			`Give the bot's role these permissions in the guild's settings, or invite the bot again: ${inviteTo(guild.client, toml)}`,
		);
}

/** The bot has one game server. */
export function gameChecks({ features, game }: BotConfig["toml"], guilds: () => readonly Guild[]): Check[] {
	if (!features.game || game.guilds) return [];
	const warning = "not set: in each of the bot's guilds, people can set up chargebacks and then ban in the game";
	const run = () => (guilds().length > 1 ? { warning } : "not needed: the bot is in one guild");
	return [{ title: "game.guilds", run }];
}

/** One if people approve calls in Discord: each guild needs a channel for that. */
export function approvalChecks(
	{ mcp }: BotConfig["toml"],
	valuesOf: (guildId: string) => Values,
	guilds: () => readonly Guild[],
): Check[] {
	if (mcp.approval === "off" || mcp.approval_by === "client") return [];
	const run = () => {
		const without = guilds().filter(({ id }) => valuesOf(id)["approval.channel"] === undefined);
		if (without.length === 0) return "set wherever calls need approval";
		return {
			warning: `calls that need approval are refused in ${without.map(guildName).join(", ")}: an administrator there has to set it with /settings on Discord`,
		};
	};
	return [{ title: "approval.channel", run }];
}

/** One if the bot makes backups: by the oldest proof of the guilds that have some. */
export function proofChecks(
	{ backup }: BotConfig["toml"],
	select: () => Promise<readonly Pick<GuildBackupRow, "guild_id" | "proven_at">[]>,
	guilds: () => readonly Guild[],
): Check[] {
	if (!backup) return [];
	const run = async () => {
		const own = (await select()).filter(({ guild_id }) => guilds().some(({ id }) => id === guild_id));
		const at = own.length > 0 ? Math.min(...own.map(({ proven_at }) => Number(proven_at))) : 0;
		if (Date.now() - at < 30 * 86_400_000) return `a rehearsal restored one at ${time(new Date(at))}`;
		return { warning: "no rehearsal has restored one in 30 days. Next step: rehearse with the scenario restore" };
	};
	return [{ title: "proven backup", run }];
}
