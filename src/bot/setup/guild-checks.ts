// What a bot is allowed in its guilds, and the roles and channels that config.toml names: what can be checked once it is
// logged in. Nothing is changed.

import { ChannelType, type Client, type Guild } from "discord.js";
import * as v from "valibot";
import { type Check, CheckFailed, type Found } from "../../lib/check.ts";
import { isObject } from "../../mcp/json-rpc.ts";
import type { BotConfig } from "../config/config.ts";
import { toml as tomlSchema } from "../config/settings.ts";
import { channelName, roleName, time } from "../discord/describe.ts";
import {
	allowed,
	bitsIn,
	botPermissions,
	describeBits,
	everything,
	missingPermissions,
	type Permission,
} from "../discord/permissions.ts";
import { oneField } from "../discord/text.ts";
import { invitePermissions, inviteUrl, neededFor } from "./invite.ts";

/** Discord tells only the id of a guild that is unavailable. */
export function guildName({ name = "(unavailable)", id }: Guild): string {
	return `${oneField(name)} (ID: ${id})`;
}

/** Where someone who manages a guild adds the bot to it, or grants it what it lacks. */
export function inviteTo(
	{ application }: Client<true>,
	toml: BotConfig["toml"],
): string {
	return inviteUrl(application.id, invitePermissions(toml));
}

/** Without it no tool can do anything in a channel. */
const forEveryTool: readonly Permission[] = ["ViewChannel"];

/** What an operator may well have held back: the one thing that a tool does with it is then refused. */
const optional: readonly Permission[] = [
	"MentionEveryone",
	"SendMessagesInThreads",
];

/**
 * Fails where the bot is allowed nowhere what every tool needs, or a feature that is on. What only some tools need, or
 * what it is allowed in some channels alone, is worth a warning: there may be a reason for it.
 */
export function checkPermissions(
	guilds: readonly Guild[],
	toml: BotConfig["toml"],
): Found {
	const wanted = invitePermissions(toml) & ~bitsIn(undefined, optional);
	const warnings: string[] = [];
	for (const guild of guilds) {
		requireLeast(guild, toml);
		const useful = missingPermissions(guild, undefined, wanted);
		if (useful !== 0n)
			warnings.push(
				`the bot lacks ${describeBits(useful)} in ${guildName(guild)} as a whole: tools that need it say so where they do`,
			);
	}
	if (warnings.length > 0) return { warning: warnings.join("; ") };
	return "all that its tools and features need";
}

/** Throws a CheckFailed where the bot is timed out, or allowed nowhere what it cannot do without. */
export function requireLeast(guild: Guild, toml: BotConfig["toml"]): void {
	const until = guild.members.me?.communicationDisabledUntil;
	const inGuild = allowed(guild, undefined);
	if (inGuild === everything) return;
	if (until && guild.members.me?.isCommunicationDisabled())
		throw new CheckFailed(
			`the bot is timed out in ${guildName(guild)} until ${time(until)}`,
			"Someone who may time members out has to lift that.",
		);
	const somewhere = guild.channels.cache.reduce(
		(bits, channel) => bits | botPermissions(guild, channel),
		inGuild,
	);
	const missing = neededFor(forEveryTool, toml.features) & ~somewhere;
	if (missing !== 0n)
		throw new CheckFailed(
			`the bot lacks ${describeBits(missing)} in ${guildName(guild)}`,
			`Give that to its role in the guild's settings, or invite it again: ${inviteTo(guild.client, toml)}`,
		);
}

/** A role or a channel that config.toml names. */
interface Reference {
	/** Where it stands, such as "welcome.channel". */
	key: string;
	to: "role" | "channel";
	id: string;
}

/** What a channel must allow beside seeing it and writing in it. */
const alsoNeeded: Readonly<Record<string, readonly Permission[]>> = {
	"mcp.audit_channel": ["EmbedLinks"],
	"moderation.log_channel": ["EmbedLinks"],
};

/** What a config.toml of this schema names; not in sections of features that are off. */
export function referencesIn(
	schema: v.GenericSchema,
	toml: { features: Record<string, boolean>; [section: string]: unknown },
): Reference[] {
	const { features } = toml;
	const on = Object.entries(toml).filter(([key]) => features[key] ?? true);
	return walk(schema, Object.fromEntries(on), []);
}

/** Goes through a schema and a value of it, in step. */
function walk(
	schema: v.GenericSchema,
	value: unknown,
	path: readonly string[],
): Reference[] {
	if (value === undefined) return [];
	const { refersTo } = v.getMetadata(schema);
	if (refersTo === "role" || refersTo === "channel")
		return [{ key: path.join("."), to: refersTo, id: String(value) }];
	const { wrapped, entries, item } = schema as {
		wrapped?: v.GenericSchema;
		entries?: Record<string, v.GenericSchema>;
		item?: v.GenericSchema;
	};
	if (wrapped) return walk(wrapped, value, path);
	if (item && Array.isArray(value))
		return value.flatMap((one, index) =>
			walk(item, one, [...path, String(index)]),
		);
	if (!entries || !isObject(value)) return [];
	return Object.entries(entries).flatMap(([key, entry]) =>
		walk(entry, value[key], [...path, key]),
	);
}

/** A check for each role and channel that config.toml names, in one of these guilds once they are known. */
export function referenceChecks(
	toml: BotConfig["toml"],
	guilds: () => readonly Guild[],
): Check[] {
	return referencesIn(tomlSchema, toml).map((reference) => ({
		title: reference.key,
		run: () =>
			reference.to === "role"
				? checkRole(reference, guilds())
				: checkChannel(reference, guilds()),
	}));
}

/** A role that the bot can give and take. */
function checkRole({ id }: Reference, guilds: readonly Guild[]): string {
	const role = guilds.map(({ roles }) => roles.cache.get(id)).find(Boolean);
	if (!role) throw notFound("role", id, guilds);
	const { guild } = role;
	const name = roleName(role);
	const other = "Name another role in config.toml.";
	if (role.id === guild.id)
		throw new CheckFailed(`${name} is the role that everyone has`, other);
	if (role.managed)
		throw new CheckFailed(
			`${name} belongs to a bot or an integration: nobody can give it to anyone`,
			other,
		);
	const needed = bitsIn(undefined, ["ManageRoles"]);
	const missing = missingPermissions(guild, undefined, needed);
	const me = guild.members.me;
	if (missing !== 0n)
		throw new CheckFailed(
			`to give ${name} to anyone, the bot lacks ${describeBits(missing)} in ${guildName(guild)}`,
			"Give that to the bot's role in the guild's settings.",
		);
	const highest = me?.roles.highest;
	const isOwner = guild.ownerId === me?.id;
	if (!isOwner && highest && highest.comparePositionTo(role) <= 0)
		throw new CheckFailed(
			`${name} does not rank below the bot's highest role, ${roleName(highest)}`,
			`In the guild's settings, drag ${roleName(highest)} above it.`,
		);
	return name;
}

/** A text channel that the bot can write in. */
function checkChannel({ key, id }: Reference, guilds: readonly Guild[]) {
	const channel = guilds
		.map(({ channels }) => channels.cache.get(id))
		.find(Boolean);
	if (!channel) throw notFound("channel", id, guilds);
	const name = channelName(channel);
	const { type } = channel;
	if (type !== ChannelType.GuildText && type !== ChannelType.GuildAnnouncement)
		throw new CheckFailed(
			`${name} is no text channel`,
			"Name another channel in config.toml.",
		);
	const needed = bitsIn(channel, [
		"ViewChannel",
		"SendMessages",
		...(alsoNeeded[key] ?? []),
	]);
	const missing = missingPermissions(channel.guild, channel, needed);
	if (missing !== 0n)
		throw new CheckFailed(
			`the bot lacks ${describeBits(missing)} in ${name}`,
			"Allow that to the bot's role in the channel's settings (Permissions).",
		);
	return name;
}

function notFound(what: string, id: string, guilds: readonly Guild[]) {
	return new CheckFailed(
		`there is no ${what} ${id} in ${guilds.map(guildName).join(", ")}`,
		`In Discord with Developer Mode on, right-click the ${what}, copy its id, and put that into config.toml.`,
	);
}
