// Names of Discord's permissions and their bits.
// https://discord.com/developers/docs/topics/permissions

import { PermissionFlagsBits } from "discord.js";

/** discord.js's permission names, by permission bit. If discord.js has two names for a bit, the newer one is used. */
const namesByBit = new Map(Object.entries(PermissionFlagsBits).map(([name, bit]) => [bit, name]));

/** Permission bits by Discord's name of the permission, such as VIEW_CHANNEL. */
export const bitsByName: ReadonlyMap<string, bigint> = new Map(
	[...namesByBit].map(([bit, name]) => [officialName(name), bit]),
);

export const allBits = namesByBit.keys().reduce((all, bit) => all | bit, 0n);

/** Converts a permission name from discord.js's spelling to Discord's: "SendTTSMessages" → "SEND_TTS_MESSAGES". */
export function officialName(name: string): string {
	return name
		.replace(/([a-z])([A-Z])/g, "$1_$2")
		.replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
		.toUpperCase();
}

/** Returns Discord's names, such as VIEW_CHANNEL, of the permissions in a bit field. */
export function permissionNames(bits: bigint): string[] {
	return [...bitsByName].filter(([, bit]) => (bits & bit) !== 0n).map(([name]) => name);
}

const otherNames: Readonly<Record<string, string>> = {
	CREATE_EXPRESSIONS: "CREATE_GUILD_EXPRESSIONS",
	CREATE_INVITE: "CREATE_INSTANT_INVITE",
	MANAGE_EMOJIS_AND_STICKERS: "MANAGE_GUILD_EXPRESSIONS",
	MANAGE_EXPRESSIONS: "MANAGE_GUILD_EXPRESSIONS",
	MANAGE_PERMISSIONS: "MANAGE_ROLES",
	MANAGE_SERVER: "MANAGE_GUILD",
	READ_MESSAGES: "VIEW_CHANNEL",
	TIMEOUT_MEMBERS: "MODERATE_MEMBERS",
	TIME_OUT_MEMBERS: "MODERATE_MEMBERS",
	USE_SLASH_COMMANDS: "USE_APPLICATION_COMMANDS",
	USE_VOICE_ACTIVITY: "USE_VAD",
	VIDEO: "STREAM",
	VIEW_CHANNELS: "VIEW_CHANNEL",
	VIEW_SERVER_INSIGHTS: "VIEW_GUILD_INSIGHTS",
};

/**
 * Returns the bit of a permission by its name. Accepts the spellings "VIEW_CHANNEL", "View Channel" and "ViewChannel".
 * Returns undefined if there is no such permission.
 */
export function bitOf(name: string): bigint | undefined {
	const official = officialName(name.trim()).replace(/[\s-]+/g, "_");
	return bitsByName.get(otherNames[official] ?? official);
}
