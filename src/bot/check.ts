// `bot --check`: whether all that the bot needs is there, found out by trying it: its port, its database, a login, its
// guild, and the roles and channels that config.toml names. Nothing is changed, and a bot that runs meanwhile goes on.

import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import {
	ChannelType,
	type Client,
	GatewayIntentBits,
	type Guild,
	PermissionFlagsBits,
} from "discord.js";
import * as v from "valibot";
import {
	type Check,
	CheckFailed,
	type CheckOptions,
	type Found,
	runChecks,
	tryListening,
} from "../lib/check.ts";
import type { Log } from "../lib/log.ts";
import { isObject } from "../mcp/json-rpc.ts";
import { type BotConfig, readsMessages } from "./config.ts";
import { Connection } from "./connection.ts";
import { channelName, roleName, time, userName } from "./describe.ts";
import { invitePermissions, inviteUrl, neededFor } from "./invite.ts";
import {
	bitsIn,
	botPermissions,
	describeBits,
	type Permission,
} from "./permissions.ts";
import { toml as tomlSchema } from "./settings.ts";
import { checkStore } from "./store/check.ts";
import type { StoreSettings } from "./store/settings.ts";
import { oneLine } from "./text.ts";

/** How long whoever has our port may take to say who they are. */
const occupantTimeoutMs = 2_000;

export interface BotCheckOptions extends Pick<CheckOptions, "write"> {
	/** Asks the database; resolves with what it found, and rejects with a CheckFailed. The store's own unless said otherwise. */
	checkDatabase?: (settings: StoreSettings) => Promise<string>;
	/** How long Discord may take to let the bot in. */
	loginTimeoutMs?: number;
}

/** Runs the checks. Resolves with whether all have passed, when the bot has logged out again. */
export async function checkBot(
	config: BotConfig,
	log: Log,
	options: BotCheckOptions = {},
): Promise<boolean> {
	const connection = new Connection({
		token: config.discordToken,
		api: config.discordApiUrl,
		log,
		onAnswer: () => {},
		readsMessages: readsMessages(config),
	});
	const { write } = options;
	try {
		return await runChecks(checksOf(config, connection, log, options), {
			log,
			...(write && { write }),
			secrets: secretsIn(config),
		});
	} finally {
		await connection.close();
	}
}

function checksOf(
	config: BotConfig,
	connection: Connection,
	log: Log,
	{ checkDatabase = checkStore, loginTimeoutMs = 20_000 }: BotCheckOptions,
): Check[] {
	const { toml } = config;
	const login: Check = {
		title: "Discord login",
		run: () => logIn(config, connection, loginTimeoutMs),
	};
	let guilds: readonly Guild[] = [];
	const guild: Check = {
		title: "guild",
		needs: [login],
		run() {
			guilds = guildsOf(config, connection.discord);
			return guilds.map(guildName).join(", ");
		},
	};
	const checks: Check[] = [
		{
			title: "configuration",
			run: () => `${config.directory}: ${oneLine(config.botName)}`,
		},
		{ title: "MCP port", run: () => checkPort(config, log) },
		{
			title: "database",
			run: () =>
				checkDatabase({
					databaseUrl: config.databaseUrl,
					schema: config.dbSchema,
					directory: config.dataDirectory,
				}),
		},
	];
	checks.push(login);
	const { clientId } = config;
	if (clientId !== undefined)
		checks.push({
			title: "CLIENT_ID",
			needs: [login],
			run: () => checkClientId(clientId, connection.discord),
		});
	checks.push(guild, {
		title: "permissions",
		needs: [guild],
		run: () => checkPermissions(guilds, toml),
	});
	for (const reference of referencesIn(tomlSchema, toml))
		checks.push({
			title: reference.key,
			needs: [guild],
			run: () =>
				reference.to === "role"
					? checkRole(reference, guilds)
					: checkChannel(reference, guilds),
		});
	return checks;
}

/** What of the configuration nobody is to read, on a screen or in a log. */
function secretsIn(config: BotConfig): (string | undefined)[] {
	const { databaseUrl } = config;
	const password = URL.parse(databaseUrl ?? "")?.password;
	return [
		config.discordToken,
		config.mcpToken,
		config.gameVerifySecret,
		...Object.values(config.apiKeys),
		databaseUrl,
		password,
		password && decodeURIComponent(password),
	];
}

/** A port that this very bot has is as good as a free one. */
async function checkPort(config: BotConfig, log: Log): Promise<Found> {
	const { mcpBindAddress: hostname, mcpPort: port } = config;
	if (port === 0) return "any free one";
	const address = `${hostname}:${port}`;
	const settings = { hostname: "MCP_BIND_ADDR", port: "MCP_PORT" };
	const state = await tryListening({ hostname, port, settings, log });
	if (state === "free") return `${address} is free`;
	const occupant = await askOccupant(config);
	if (occupant === config.botName)
		return `${address} is in use by this bot, which runs`;
	throw new CheckFailed(
		`MCP_PORT: ${address} is in use by ${occupant === undefined ? "another program" : `another bot, ${occupant}`}`,
		"Stop that one, or give this bot an MCP_PORT of its own in .env.",
	);
}

/** The name of the bot that has our port; undefined where that is no bot, or one with another token. */
async function askOccupant({
	mcpBindAddress,
	mcpPort,
	mcpToken,
}: BotConfig): Promise<string | undefined> {
	const everywhere = /^(0\.0\.0\.0|::)$/.test(mcpBindAddress);
	const name = everywhere ? "127.0.0.1" : mcpBindAddress;
	const host = name.includes(":") ? `[${name}]` : name;
	const signal = AbortSignal.timeout(occupantTimeoutMs);
	const ask = async (path: string, headers = {}) => {
		const { promise, resolve, reject } =
			Promise.withResolvers<IncomingMessage>();
		// Not by fetch, which might go by way of a proxy, and tell it the token.
		get(`http://${host}:${mcpPort}${path}`, {
			// The names of this machine are always allowed.
			headers: { Host: `localhost:${mcpPort}`, ...headers },
			agent: false,
			signal,
		})
			.on("response", resolve)
			.on("error", reject);
		return text(await promise);
	};
	try {
		// The token is for bots only.
		if (!/^(ready|starting|degraded)$/.test(await ask("/mcp")))
			return undefined;
		const bearer = mcpToken && { Authorization: `Bearer ${mcpToken}` };
		const status: unknown = JSON.parse(await ask("/status", bearer || {}));
		if (!isObject(status) || status.name !== "guildhall-bot") return undefined;
		return typeof status.bot_name === "string" ? status.bot_name : undefined;
	} catch {
		// Whoever it is does not speak as a bot does.
		return undefined;
	}
}

/** What the developer portal calls the intents that its switches grant. */
const privilegedIntents = new Map([
	[GatewayIntentBits.GuildMembers, "Server Members Intent"],
	[GatewayIntentBits.GuildPresences, "Presence Intent"],
	[GatewayIntentBits.MessageContent, "Message Content Intent"],
]);

/** Logs in as the bot does: Discord accepts the token, and grants the intents, or says which it does not. */
async function logIn(
	{ discordApiUrl }: BotConfig,
	connection: Connection,
	timeoutMs: number,
): Promise<string> {
	const { promise: late, resolve } = Promise.withResolvers<void>();
	const timer = setTimeout(resolve, timeoutMs);
	await Promise.race([connection.open(), connection.failed, late]);
	clearTimeout(timer);
	if (!connection.ready) {
		const fault = await Promise.race([connection.failed, undefined]);
		if (fault) throw new CheckFailed(fault.message);
		throw new CheckFailed(
			`Discord did not let the bot in within ${timeoutMs / 1000} seconds: ${connection.state.reason}`,
			`Can this machine reach ${discordApiUrl}? https://discordstatus.com tells how Discord is.`,
		);
	}
	const { user, options } = connection.discord;
	const granted = [...privilegedIntents]
		.filter(([intent]) => options.intents.has(intent))
		.map(([, name]) => name);
	return [userName(user), ...granted.map((name) => `with the ${name}`)].join(
		", ",
	);
}

function checkClientId(clientId: string, { application }: Client<true>): Found {
	if (application.id === clientId) return clientId;
	throw new CheckFailed(
		`DISCORD_TOKEN belongs to the application ${application.id}, and CLIENT_ID is ${clientId}`,
		"Put the id and the token of the same application into .env.",
	);
}

/** The guild of GUILD_ID; without one, all that the bot is in. */
function guildsOf(
	{ guildId, toml }: BotConfig,
	discord: Client<true>,
): readonly Guild[] {
	const all = [...discord.guilds.cache.values()];
	const guilds = guildId ? all.filter(({ id }) => id === guildId) : all;
	if (guilds.length === 0)
		throw new CheckFailed(
			guildId === undefined
				? "the bot is in no guild"
				: `the bot is not in the guild ${guildId} of GUILD_ID${all.length > 0 ? `, but in ${all.map(guildName).join(", ")}` : ""}`,
			`Invite it: ${inviteTo(discord, toml)}`,
		);
	const away = guilds.find(
		({ available, members }) => !available || !members.me,
	);
	if (away)
		throw new CheckFailed(
			`the guild ${away.id} is not available at the moment, says Discord`,
			"Try again in a few minutes.",
		);
	return guilds;
}

function guildName({ name, id }: Guild): string {
	return `${oneLine(name)} (ID: ${id})`;
}

/** Where someone who manages a guild adds the bot to it, or grants it what it lacks. */
function inviteTo(
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
function checkPermissions(
	guilds: readonly Guild[],
	toml: BotConfig["toml"],
): Found {
	const required = neededFor(forEveryTool, toml.features);
	const wanted = invitePermissions(toml) & ~bitsIn(undefined, optional);
	const warnings: string[] = [];
	for (const guild of guilds) {
		const until = guild.members.me?.communicationDisabledUntil;
		const inGuild = botPermissions(guild, undefined);
		if ((inGuild & PermissionFlagsBits.Administrator) !== 0n) continue;
		if (until && guild.members.me?.isCommunicationDisabled())
			throw new CheckFailed(
				`the bot is timed out in ${guildName(guild)} until ${time(until)}`,
				"Someone who may time members out has to lift that.",
			);
		const somewhere = guild.channels.cache.reduce(
			(bits, channel) => bits | botPermissions(guild, channel),
			inGuild,
		);
		const missing = required & ~somewhere;
		if (missing !== 0n)
			throw new CheckFailed(
				`the bot lacks ${describeBits(missing)} in ${guildName(guild)}`,
				`Give that to its role in the guild's settings, or invite it again: ${inviteTo(guild.client, toml)}`,
			);
		const useful = wanted & ~inGuild;
		if (useful !== 0n)
			warnings.push(
				`the bot lacks ${describeBits(useful)} in ${guildName(guild)} as a whole: tools that need it say so where they do`,
			);
	}
	if (warnings.length > 0) return { warning: warnings.join("; ") };
	return "all that its tools and features need";
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
	const missing = needed & ~allowed(guild, undefined);
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
	const missing = needed & ~allowed(channel.guild, channel);
	if (missing !== 0n)
		throw new CheckFailed(
			`the bot lacks ${describeBits(missing)} in ${name}`,
			"Allow that to the bot's role in the channel's settings (Permissions).",
		);
	return name;
}

/** What the bot is allowed: an administrator, everything. */
function allowed(guild: Guild, channel: Parameters<typeof botPermissions>[1]) {
	const bits = botPermissions(guild, channel);
	return (bits & PermissionFlagsBits.Administrator) === 0n ? bits : ~0n;
}

function notFound(what: string, id: string, guilds: readonly Guild[]) {
	return new CheckFailed(
		`there is no ${what} ${id} in ${guilds.map(guildName).join(", ")}`,
		`In Discord with Developer Mode on, right-click the ${what}, copy its id, and put that into config.toml.`,
	);
}
