// openGuildDocuments: guild documents for the command line while the bot does not run, without features, commands and MCP
// server.

import { setTimeout as sleep } from "node:timers/promises";
import type { Guild } from "discord.js";
import type { Connection, ConnectionOptions } from "../../../discord/connection/connection.ts";
import { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Log } from "../../../lib/log.ts";
import { CheckFailed } from "../../../lib/program/check.ts";
import type { BotConfig } from "../../config/config.ts";
import { GuildSettings } from "../../settings/guild-settings.ts";
import { settingsInDocuments } from "../../settings/in-documents.ts";
import { createConnection, logIn } from "../../setup/check.ts";
import { instanceName, startStore } from "../../store/store.ts";
import { Audit } from "../../tool/audit.ts";
import { OfferedTools } from "../../tool/search/offered-tools.ts";
import { tools as allTools, callingTools } from "../../tools/index.ts";
import { settingTools } from "../../tools/settings.ts";
import { wireGuildDocuments } from "../wiring.ts";
import type { OwnDocuments } from "./guild-file.ts";
import { createDocumentRequests, type RequestOutput } from "./requests.ts";

/** For the members of all available guilds. */
const membersTimeoutMs = 120_000;
const membersLookMs = 100;

export interface OpenOptions {
	/** Wait until Discord has sent the members of all guilds. */
	needsMembers: boolean;
	timing?: ConnectionOptions["timing"];
}

/** Rejects with a CheckFailed if another process uses the database, or it or Discord is unavailable. */
export async function openGuildDocuments(
	config: BotConfig,
	log: Log,
	{ needsMembers, timing }: OpenOptions,
): Promise<OwnDocuments> {
	const { toml, guildId } = config;
	await using stack = new AsyncDisposableStack();
	const store = startStore({
		databaseUrl: config.databaseUrl,
		schema: config.dbSchema,
		directory: config.dataDirectory,
		instance: instanceName(`${config.botName}, on the command line`),
		log,
	});
	stack.defer(() => store.close());
	await store.opened;
	const failure = await Promise.race([store.failed, undefined]);
	if (failure) throw new CheckFailed(failure.message);
	if (store.state !== "ready")
		throw new CheckFailed(
			`The bot's database is unavailable: ${store.reason}`,
			"Start the database, or correct its settings; --check tests them.",
		);
	const audit = new Audit(store, { log });
	stack.defer(() => audit.close());
	const connection = createConnection(config, log, { timing });
	stack.defer(() => connection.close());
	await logIn(config, connection);
	const guilds = toml.mcp.guilds && new Set(toml.mcp.guilds);
	if (needsMembers) await loadMembers(connection);
	const { denies } = new OfferedTools([...allTools, ...settingTools, ...callingTools], toml.mcp);
	const mutex = new KeyedMutex();
	const { pictures, guildDocuments, mayTouch } = wireGuildDocuments({
		connection,
		store,
		log,
		denies,
		guilds,
		mutex,
		ownSettings: settingsInDocuments(new GuildSettings({ store, mutex, log })),
		backup: undefined,
		async notify() {},
	});
	stack.defer(() => guildDocuments.close());
	const handle = createDocumentRequests({
		documents: guildDocuments,
		pictures,
		connection,
		guildId,
		mayTouch,
		denies,
		log,
		audit: (call) => audit.record(call),
	});
	const opened = stack.move();
	let runsJobs = false;
	return {
		send: (name, input) => handle(name, input) as Promise<RequestOutput<typeof name>>,
		startJobs() {
			if (runsJobs) return;
			runsJobs = true;
			guildDocuments.attach(connection.discord);
			guildDocuments.start();
		},
		close: () => opened.disposeAsync(),
	};
}

async function loadMembers(connection: Connection): Promise<void> {
	const timeout = AbortSignal.timeout(membersTimeoutMs);
	const isLoaded = (guild: Guild) => !guild.available || connection.hasAllMembers(guild);
	while (!timeout.aborted && !connection.guilds.every(isLoaded)) await sleep(membersLookMs);
	if (timeout.aborted)
		throw new CheckFailed(
			`Discord did not send all members within ${membersTimeoutMs / 1000} seconds`,
			"Try again, or export without members: leave members out of the list of --part.",
		);
}
