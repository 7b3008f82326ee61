// Checks after login: the bot's permissions in its guilds, and the roles and channels in config.toml. Changes nothing.

import { ChannelType, type Client, type Guild, type Role } from "discord.js";
import * as v from "valibot";
import { channelName, roleName, time } from "../../discord/describe.ts";
import {
	bitsIn,
	botPermissions,
	describeBits,
	everything,
	missingForBot,
	type Permission,
} from "../../discord/permissions.ts";
import { cannotGiveRoles, roleProblem } from "../../discord/role-hierarchy.ts";
import { oneField } from "../../discord/text.ts";
import { isPublic, isVisible } from "../../discord/visible-channels.ts";
import { isObject } from "../../lib/json.ts";
import { type Check, CheckFailed, type Found } from "../../lib/program/check.ts";
import type { BotConfig } from "../config/config.ts";
import { toml as tomlSchema } from "../config/settings.ts";
import { invitePermissions, inviteUrl, neededFor, neededForModeration } from "./invite.ts";

export const openLogWarning = "everyone can see it, so notes and the reasons of warnings are left out of the log there";

/** Of an unavailable guild, Discord sends only the id. */
export function guildName({ name = "(unavailable)", id }: Guild): string {
	return `${oneField(name)} (ID: ${id})`;
}

/** In a guild that already has the bot, the link grants missing permissions. */
export function inviteTo({ application }: Client<true>, toml: BotConfig["toml"]): string {
	return inviteUrl(application.id, invitePermissions(toml));
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
	const needed = neededFor(forEveryTool, toml.features) | neededForModeration(toml);
	const missing = needed & ~somewhere;
	if (missing !== 0n)
		throw new CheckFailed(
			`the bot lacks ${describeBits(missing)} in ${guildName(guild)}`,
			`Give the bot's role these permissions in the guild's settings, or invite the bot again: ${inviteTo(guild.client, toml)}`,
		);
}

interface Reference {
	key: string;
	to: "role" | "held role" | "channel";
	id: string;
}

const alsoNeeded: Readonly<Record<string, readonly Permission[]>> = {
	"mcp.audit_channel": ["EmbedLinks"],
	"mcp.approval_channel": ["EmbedLinks", "AttachFiles"],
	"moderation.log_channel": ["EmbedLinks"],
	"moderation.reports": ["EmbedLinks", "ReadMessageHistory"],
	"moderation.spam.honeypots": ["ManageMessages"],
};

// Members must not see these channels.
const staffOnly: ReadonlySet<string> = new Set(["moderation.reports"]);

/** Without the sections of disabled features. */
export function referencesIn(
	schema: v.GenericSchema,
	toml: { features: Record<string, boolean>; [section: string]: unknown },
): Reference[] {
	const { features } = toml;
	const on = Object.entries(toml).filter(([key]) => features[key] ?? true);
	return walk(schema, Object.fromEntries(on), []);
}

function walk(schema: v.GenericSchema, value: unknown, path: readonly string[]): Reference[] {
	if (value === undefined) return [];
	const { refersTo } = v.getMetadata(schema);
	if (refersTo === "role" || refersTo === "held role" || refersTo === "channel")
		return [{ key: path.join("."), to: refersTo, id: String(value) }];
	const { wrapped, entries, item } = schema as {
		wrapped?: v.GenericSchema;
		entries?: Record<string, v.GenericSchema>;
		item?: v.GenericSchema;
	};
	if (wrapped) return walk(wrapped, value, path);
	if (item && Array.isArray(value)) return value.flatMap((one, index) => walk(item, one, [...path, String(index)]));
	if (!entries || !isObject(value)) return [];
	return Object.entries(entries).flatMap(([key, entry]) => walk(entry, value[key], [...path, key]));
}

/** Each must exist in one of the guilds, and the bot must be able to assign the role or write in the channel. */
export function referenceChecks(toml: BotConfig["toml"], guilds: () => readonly Guild[]): Check[] {
	return referencesIn(tomlSchema, toml).map((reference) => ({
		title: reference.key,
		run() {
			if (reference.to === "channel") return checkChannel(reference, guilds());
			return reference.to === "role" ? checkRole(reference, guilds()) : roleName(findRole(reference, guilds()));
		},
	}));
}

function checkRole(reference: Reference, guilds: readonly Guild[]): string {
	const role = findRole(reference, guilds);
	const problem = cannotGiveRoles(role.guild) ?? roleProblem(role.guild, role);
	if (problem === undefined) return roleName(role);
	throw new CheckFailed(
		problem,
		`Name another role in config.toml, or in the guild's settings give the bot's role Manage Roles and drag it above ${roleName(role)}.`,
	);
}

function findRole({ id }: Reference, guilds: readonly Guild[]): Role {
	const role = guilds.map(({ roles }) => roles.cache.get(id)).find(Boolean);
	if (!role) throw notFound("role", id, guilds);
	return role;
}

function checkChannel({ key, id }: Reference, guilds: readonly Guild[]) {
	const channel = guilds.map(({ channels }) => channels.cache.get(id)).find(Boolean);
	if (!channel) throw notFound("channel", id, guilds);
	// The name of a hidden channel is not for the person in whose name a tool checks the setup.
	const name = isVisible(channel) ? channelName(channel) : `channel ${id}`;
	const { GuildText, GuildAnnouncement } = ChannelType;
	if (channel.type !== GuildText && channel.type !== GuildAnnouncement)
		throw new CheckFailed(`${name} is not a text channel`, "Name another channel in config.toml.");
	// In a list of channels, the key ends with a number.
	const also = alsoNeeded[key.replace(/\.\d+$/, "")] ?? [];
	const needed = bitsIn(channel, ["ViewChannel", "SendMessages", ...also]);
	const missing = missingForBot(channel.guild, channel, needed);
	if (missing !== 0n)
		throw new CheckFailed(
			`the bot lacks ${describeBits(missing)} in ${name}`,
			"Allow the bot's role these permissions in the channel's settings (Permissions).",
		);
	if (staffOnly.has(key) && isPublic(channel))
		throw new CheckFailed(
			`@everyone can see ${name}, so reports are refused: its messages name those who report`,
			"In the channel's settings (Permissions), make it private for staff.",
		);
	if (key === "moderation.log_channel" && isPublic(channel)) return { warning: `${name}: ${openLogWarning}` };
	return name;
}

function notFound(what: string, id: string, guilds: readonly Guild[]) {
	return new CheckFailed(
		`there is no ${what} ${id} in ${guilds.map(guildName).join(", ")}`,
		`In Discord with Developer Mode on, right-click the ${what}, copy its id, and put the id into config.toml.`,
	);
}
