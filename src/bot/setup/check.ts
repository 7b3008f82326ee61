// `bot --check`: tries the port, the database, the AI providers, a login, the guild, and what its settings name. Changes nothing and does not disturb a running bot.

import { dirname, resolve } from "node:path";
import type { Client, Guild } from "discord.js";
import { providerChecks } from "../../ai/check.ts";
import { Connection, type ConnectionOptions } from "../../discord/connection/connection.ts";
import { guildName, userName } from "../../discord/describe.ts";
import { describeRefused, privilegedIntents } from "../../discord/intents.ts";
import { oneLine } from "../../discord/text.ts";
import { ConfigError } from "../../lib/config.ts";
import { type Entry, readTable, sameTokenIssue } from "../../lib/instances/table.ts";
import type { Log } from "../../lib/log.ts";
import {
	type Check,
	CheckFailed,
	type CheckOptions,
	type Found,
	runChecks,
	tryListening,
} from "../../lib/program/check.ts";
import type { Sql } from "../../lib/store/statement.ts";
import { within } from "../../lib/wait.ts";
import { type BotConfig, hasIdleApproval, idleApproval, withoutToken } from "../config/config.ts";
import { read } from "../settings/guild-settings.ts";
import { settingChecks } from "../settings/of-guild.ts";
import { checkStore, type StoreSettings } from "../store/store.ts";
import { selectLastProofs } from "../store/tables/guild-backups.ts";
import { type SettingVersion, selectCurrentSettings } from "../store/tables/setting-versions.ts";
import { approvalChecks, checkPermissions, gameChecks, inviteTo, proofChecks } from "./guild-checks.ts";
import { askPortOwner } from "./port-owner.ts";

interface BotCheckOptions extends Pick<CheckOptions, "write"> {
	/** Rejects with a CheckFailed. Default: opens the configured database. */
	checkDatabase?: (settings: StoreSettings) => Promise<string>;
	/** The settings of guilds in the store; none if it cannot be read. */
	selectSettings?: (settings: StoreSettings) => Promise<readonly SettingVersion[]>;
	/** Checks of features. */
	more?: readonly Check[];
	loginTimeoutMs?: number;
	timing?: ConnectionOptions["timing"];
}

/** Resolves with whether all checks passed. */
export async function checkBot(config: BotConfig, log: Log, options: BotCheckOptions = {}): Promise<boolean> {
	const connection = createConnection(config, log, { timing: options.timing });
	try {
		const select = options.selectSettings ?? readSettings;
		const checks = checksOf(config, connection, log, { ...options, stored: await select(storeOf(config)) });
		const secrets = secretsIn(config);
		return await runChecks(checks, { ...options, log, secrets });
	} finally {
		await connection.close();
	}
}

/** Only reads files. Resolves with whether all checks passed. */
export function checkConfig(config: BotConfig, log: Log): Promise<boolean> {
	// `up` shows what a program writes to stderr.
	const options = { log, secrets: secretsIn(config), write: console.error };
	return runChecks([configurationCheck(config)], options);
}

/** Not opened yet. */
export function createConnection(config: BotConfig, log: Log, options: Partial<ConnectionOptions> = {}): Connection {
	return new Connection({
		token: config.discordToken,
		api: config.discordApiUrl,
		cdn: config.discordCdnUrl,
		shards: config.shards,
		log,
		privileged: config.toml.intents,
		...options,
	});
}

function checksOf(
	config: BotConfig,
	connection: Connection,
	log: Log,
	{
		checkDatabase = checkStore,
		loginTimeoutMs,
		more = [],
		stored,
	}: BotCheckOptions & { stored: readonly SettingVersion[] },
): Check[] {
	const { toml } = config;
	const login: Check = {
		title: "Discord login",
		async run() {
			const found = await logIn(config, connection, loginTimeoutMs);
			const refused = connection.refusedIntents.map(describeRefused);
			return refused.length > 0 ? { warning: [found, ...refused].join(". ") } : found;
		},
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
	const { clientId } = config;
	const providers = providerChecks(toml.ai, config.apiKeys);
	return [
		configurationCheck(config),
		{ title: "MCP port", run: () => checkPort(config, log) },
		...(config.mcpToken === undefined ? [{ title: "MCP token", run: () => ({ warning: withoutToken }) }] : []),
		...(hasIdleApproval(config) ? [{ title: "mcp.approval", run: () => ({ warning: idleApproval }) }] : []),
		{ title: "database", run: () => checkDatabase(storeOf(config)) },
		...(toml.features.chat && providers.length === 0 ? [unansweredChat] : []),
		...providers,
		...more,
		login,
		...(clientId === undefined
			? []
			: [{ title: "CLIENT_ID", needs: [login], run: () => checkClientId(clientId, connection.discord) }]),
		guild,
		{ title: "permissions", needs: [guild], run: () => checkPermissions(guilds, toml) },
		...[
			...proofChecks(
				toml,
				() => readStore(storeOf(config), selectLastProofs),
				() => guilds,
			),
			...gameChecks(toml, () => connection.guilds),
			...checksIn(stored, toml, () => guilds),
		].map((check) => ({ ...check, needs: [guild] })),
	];
}

function storeOf({ databaseUrl, dbSchema: schema, dataDirectory: directory }: BotConfig): StoreSettings {
	return { databaseUrl, schema, directory };
}

const readSettings = (store: StoreSettings) => readStore(store, selectCurrentSettings);

/** Empty if the database cannot be read, of which its own check tells. */
async function readStore<Row>(store: StoreSettings, select: (sql: Sql) => Promise<readonly Row[]>) {
	let rows: readonly Row[] = [];
	const read = async (sql: Sql) => {
		rows = await select(sql);
	};
	await checkStore(store, { read }).catch((error) => {
		if (!(error instanceof CheckFailed)) throw error;
	});
	return rows;
}

/** Of the guilds that the bot is in. */
function checksIn(rows: readonly SettingVersion[], toml: BotConfig["toml"], guilds: () => readonly Guild[]): Check[] {
	const states = new Map(
		rows.map(({ guild_id, settings }) => {
			const parsed = JSON.parse(settings);
			return [guild_id, { stored: parsed, ...read(parsed) }];
		}),
	);
	const checks = [...states].flatMap(([id, state]) => {
		const guild = () => guilds().find((one) => one.id === id);
		return settingChecks(state, guild).map(({ title, run }) => ({
			title: states.size > 1 ? `${title} in ${id}` : title,
			run: () => (guild() ? run() : "not checked: the bot is not in this guild"),
		}));
	});
	return [...approvalChecks(toml, (id) => (states.get(id) ?? read({})).values, guilds), ...checks];
}

function configurationCheck(config: BotConfig): Check {
	const { directory, discordToken } = config;
	return {
		title: "configuration",
		run() {
			const path = resolve(directory);
			const issue = sameTokenIssue(instancesIn(dirname(path)), { path, env: { DISCORD_TOKEN: discordToken } });
			if (issue) throw new CheckFailed(issue);
			return `${directory}: ${oneLine(config.botName)}`;
		},
	};
}

function instancesIn(directory: string): Entry[] {
	try {
		return readTable(directory).entries;
	} catch (error) {
		// A bot need not be able to read the directory around its own.
		if (error instanceof ConfigError) return [];
		throw error;
	}
}

const unansweredChat: Check = {
	title: "features.chat",
	run: () => ({ warning: "no AI provider configured: mentions will not be answered" }),
};

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

// Passes if the port is free, or used by a process of the same bot.
async function checkPort(config: BotConfig, log: Log): Promise<Found> {
	const { mcpBindAddress: hostname, mcpPort: port } = config;
	if (port === 0) return "any free port";
	const address = `${hostname}:${port}`;
	const settings = { hostname: "MCP_BIND_ADDR", port: "MCP_PORT" };
	const state = await tryListening({ hostname, port, settings, log });
	if (state === "free") return `${address} is free`;
	const { bot } = await askPortOwner(config);
	if (bot === config.botName) return `${address} is in use by this bot, which is running`;
	const other = bot === undefined ? "another program" : `another bot, ${bot}`;
	throw new CheckFailed(
		`MCP_PORT: ${address} is in use by ${other}`,
		"Stop the other program, or give this bot an MCP_PORT of its own in .env.",
	);
}

const defaultLoginTimeoutMs = 20_000;

/** Rejects with a CheckFailed if the token is rejected, or after the timeout. */
export async function logIn(
	{ discordApiUrl }: BotConfig,
	connection: Connection,
	timeoutMs = defaultLoginTimeoutMs,
): Promise<string> {
	const login = Promise.race([connection.open(), connection.failed]);
	// Discord lets the shards of a bot log in one after the other: each has the whole time.
	const connected = () => connection.shards.filter((one) => one.connected);
	let before: number;
	do {
		before = connected().length;
		await within(timeoutMs, login);
	} while (!connection.ready && connected().length > before);
	if (!connection.ready) {
		const failure = await Promise.race([connection.failed, undefined]);
		if (failure) throw new CheckFailed(failure.message);
		throw new CheckFailed(
			`the bot could not log in to Discord within ${timeoutMs / 1000} seconds: ${connection.state.reason}`,
			`Can this machine reach ${discordApiUrl}? See https://discordstatus.com for outages.`,
		);
	}
	const { user, options } = connection.discord;
	const granted = Object.values(privilegedIntents)
		.filter(({ bit }) => options.intents.has(bit))
		.map(({ title }) => `with the ${title}`);
	return [userName(user), ...granted].join(", ");
}

function checkClientId(clientId: string, { application }: Client<true>): Found {
	if (application.id === clientId) return clientId;
	throw new CheckFailed(
		`DISCORD_TOKEN belongs to the application ${application.id}, but CLIENT_ID is ${clientId}`,
		"Put the id and the token of the same application into .env.",
	);
}

function guildsOf({ guildId, toml }: BotConfig, discord: Client<true>): readonly Guild[] {
	const all = [...discord.guilds.cache.values()];
	const guilds = guildId ? all.filter(({ id }) => id === guildId) : all;
	if (guilds.length === 0)
		throw new CheckFailed(
			guildId === undefined
				? "the bot is in no guild"
				: `the bot is not in the guild ${guildId} (GUILD_ID)${all.length > 0 ? `, but in ${all.map(guildName).join(", ")}` : ""}`,
			`Invite the bot: ${inviteTo(discord, toml)}`,
		);
	const unavailable = guilds.find((one) => !one.available || !one.members.me);
	if (unavailable)
		throw new CheckFailed(
			`the guild ${unavailable.id} is unavailable on Discord at the moment`,
			"Try again in a few minutes.",
		);
	return guilds;
}
