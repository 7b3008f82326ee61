// Guild documents on the real connection and store, against the simulator, with a small difference.

import type { Guild } from "discord.js";
import type { FeatureOptions } from "../../../src/bot/commands/feature.ts";
import {
	createGuildDocuments,
	type GuildDocuments,
	type GuildDocumentsOptions,
} from "../../../src/bot/guild-documents/guild-documents.ts";
import { createRules, type Rules } from "../../../src/bot/guild-documents/plans/rules.ts";
import { createPictures } from "../../../src/bot/guild-documents/read/pictures.ts";
import { readGuildState } from "../../../src/bot/guild-documents/read/read-guild.ts";
import { settingsInDocuments } from "../../../src/bot/settings/in-documents.ts";
import { guildMessageRows } from "../../../src/bot/store/tables/guild-jobs.ts";
import { ToolError } from "../../../src/lib/tool-error.ts";
import { type FeatureSetup, startFeature } from "../features/running-feature.ts";
import { smallDifference } from "./small-difference.ts";

/** For a bot that keeps no backups. */
const noBackups: GuildDocumentsOptions["backups"] = {
	list: async () => [],
	prove: async () => {},
	async read(_, name) {
		throw new ToolError(`There is no backup ${JSON.stringify(name)}. Use list_backups to find backups.`);
	},
};

export interface ServiceSetup extends Pick<FeatureSetup, "place" | "simulator" | "prepare" | "store"> {
	rules?: Partial<Rules>;
	/** Whether to use the bot's rules instead of the small difference. */
	hasRealRules?: boolean;
	/** Whether the operator forbids a tool, for the bot's rules. Default: none. */
	denies?(toolName: string): boolean;
	options?: Partial<GuildDocumentsOptions>;
}

/** Guild documents with the small difference, and short waits. */
export function createTestDocuments(
	{ connection, store, mutex, log, settings }: FeatureOptions,
	{
		rules,
		options,
		hasRealRules,
		denies = () => false,
	}: Pick<ServiceSetup, "rules" | "options" | "hasRealRules" | "denies"> = {},
): GuildDocuments {
	const pictures = createPictures({ store, download: connection.downloadPicture });
	const ownSettings = settingsInDocuments(settings);
	const messages = (guildId: string) => guildMessageRows.all(store.sql, { guild_id: guildId });
	const small: Rules = {
		read: (guild, parts) => readGuildState(guild, parts, { connection }),
		unreadable: () => [],
		difference: async (...args) => smallDifference(...args),
		refusals: async () => [],
		requireStep: async () => undefined,
		...rules,
	};
	return createGuildDocuments({
		connection,
		store,
		mutex,
		log,
		pictures,
		ownSettings,
		rules: hasRealRules ? { ...createRules({ connection, pictures, messages, ownSettings, denies }), ...rules } : small,
		mayTouch: () => true,
		backups: noBackups,
		backOffMs: [1, 20],
		arrivedAfterMs: 30,
		loggedAfterMs: 90,
		...options,
	});
}

/** The bot "alpha" with guild documents alone. */
export async function startService(setup: ServiceSetup = {}) {
	let documents: GuildDocuments | undefined;
	const bot = await startFeature({
		...setup,
		create(options) {
			documents = createTestDocuments(options, setup);
			return documents;
		},
	});
	const service = () => {
		if (documents) return documents;
		throw new Error("the bot does not run");
	};
	const guild = (name = "The Cooks"): Guild => {
		for (const one of bot.connection.guilds) if (one.name === name) return one;
		throw new Error(`the bot is not in ${name}`);
	};
	const plan = (document: object, { name, ...options }: { prune?: boolean; name?: string } = {}) =>
		service().plan(guild(name), { document: { version: 1, ...document } }, options);
	return {
		bot,
		service,
		guild,
		plan,
		/** Plans and applies a document. Returns the job's id. */
		async apply(document: object, options?: { prune?: boolean; name?: string }) {
			const text = await service().apply(hashIn(await plan(document, options)), "because");
			return jobIn(text);
		},
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
}

export function hashIn(text: string): string {
	const [, hash = ""] = /plan_hash=(\w+)/.exec(text) ?? [];
	return hash;
}

export function jobIn(text: string): string {
	const [, id = ""] = /Job (\w+) in/.exec(text) ?? [];
	return id;
}

/** The id of the first running job in a list of jobs. */
export function runningJobIn(text: string): string | undefined {
	return /Job (\w+) in [^\n]*: running/.exec(text)?.[1];
}
