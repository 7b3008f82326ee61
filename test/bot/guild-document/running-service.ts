// Guild documents on the real connection and store, against the simulator, with a small difference.

import type { Guild } from "discord.js";
import type { FeatureOptions } from "../../../src/bot/commands/feature.ts";
import type { Rules } from "../../../src/bot/guild-document/plans.ts";
import { readGuildState } from "../../../src/bot/guild-document/read-guild.ts";
import {
	createGuildDocuments,
	type GuildDocumentsOptions,
	type GuildDocumentsService,
	noBackups,
} from "../../../src/bot/guild-document/service.ts";
import {
	type FeatureSetup,
	startFeature,
} from "../features/running-feature.ts";
import { smallDifference } from "./small-difference.ts";

export interface ServiceSetup
	extends Pick<FeatureSetup, "place" | "simulator" | "prepare" | "store"> {
	rules?: Partial<Rules>;
	options?: Partial<GuildDocumentsOptions>;
}

/** Guild documents with the small difference, and short waits. */
export function createTestDocuments(
	{ connection, store, mutex, log }: FeatureOptions,
	{ rules, options }: Pick<ServiceSetup, "rules" | "options"> = {},
): GuildDocumentsService {
	return createGuildDocuments({
		connection,
		store,
		mutex,
		log,
		rules: {
			read: (guild, parts) => readGuildState(guild, parts, { connection }),
			difference: smallDifference,
			refusals: async () => [],
			requireStep: async () => undefined,
			duration: () => "Estimated time: short.",
			...rules,
		},
		pictures: { dataUri: async () => undefined, remember: async () => {} },
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
	let documents: GuildDocumentsService | undefined;
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
	const guild = (): Guild => {
		const [first] = bot.connection.guilds;
		if (first) return first;
		throw new Error("the bot is in no guild");
	};
	const plan = (document: object, options?: { prune?: boolean }) =>
		service().plan(guild(), { document: { version: 1, ...document } }, options);
	return {
		bot,
		service,
		guild,
		plan,
		/** Plans and applies a document. Returns the job's id. */
		async apply(document: object, options?: { prune?: boolean }) {
			const text = await service().apply(
				hashIn(await plan(document, options)),
				"because",
			);
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
