// The parts of guild documents, wired for startBot and for the command line in the same way.

import { differenceInSteps } from "../../guild-document/steps/difference.ts";
import { keyOfMessage } from "../../guild-document/steps/message-steps.ts";
import { restoreDifference } from "../../guild-document/steps/restore-steps.ts";
import { inSlices } from "../../lib/slices.ts";
import type { BotConfig } from "../config/config.ts";
import type { Store } from "../store/store.ts";
import { guildMessageRows } from "../store/tables/guild-jobs.ts";
import { Backups } from "./backups/backups.ts";
import { DeletionWatch, type DeletionWatchOptions } from "./backups/deletion-watch.ts";
import { createGuildDocuments, type GuildDocumentsOptions } from "./guild-documents.ts";
import type { Rules } from "./plans/plans.ts";
import { createPictures } from "./read/pictures.ts";
import { type OwnSettings, type ReadOptions, readGuildState, readRestored } from "./read/read-guild.ts";
import { refusalsOf, requireStep, unreadable } from "./refusals/refusals.ts";

export interface WiringOptions
	extends Pick<GuildDocumentsOptions, "connection" | "mutex" | "log" | "maxStateAgeMs">,
		Pick<DeletionWatchOptions, "guilds" | "notify" | "night" | "registry"> {
	store: Store;
	ownSettings: OwnSettings;
	/** By the configuration. */
	denies(toolName: string): boolean;
	/** Undefined: no backups. */
	backup: BotConfig["toml"]["backup"];
	/** Where plans read them, in place of the store. */
	readBackups?: GuildDocumentsOptions["backups"] | undefined;
}

/** Starts nothing. */
export function wireGuildDocuments({ mutex, denies, backup, notify, night, maxStateAgeMs, ...shared }: WiringOptions) {
	const { connection, store, log, guilds, ownSettings } = shared;
	const pictures = createPictures({ store, download: connection.downloadPicture });
	const backups = new Backups({ ...shared, settings: backup, pictures });
	const mayTouch = (guildId: string) => guilds?.has(guildId) ?? true;
	const messages = (guildId: string) => guildMessageRows.all(store.sql, { guild_id: guildId });
	const rules = createRules({ connection, pictures, messages, ownSettings, denies });
	const given = { connection, store, mutex, log, ownSettings, pictures, mayTouch, rules, maxStateAgeMs };
	const guildDocuments = createGuildDocuments({ ...given, backups: shared.readBackups ?? backups });
	const { alarm_deletions = 0, alarm_window = 60_000 } = backup ?? {};
	const deletionWatch = new DeletionWatch({
		...shared,
		settings: { deletions: alarm_deletions || 5, windowMs: alarm_window },
		isSilent: alarm_deletions === 0,
		notify,
		night,
		backups,
	});
	return { pictures, backups, deletionWatch, guildDocuments, mayTouch };
}

/** `sliceMs`: milliseconds of a comparison after which other work gets its turn. */
export function createRules({
	denies,
	sliceMs = 15,
	...reading
}: ReadOptions & { denies(toolName: string): boolean; sliceMs?: number }): Rules {
	return {
		async read(guild, parts, document, restore) {
			const keys = document && new Set(document.messages?.map(keyOfMessage));
			const messages: ReadOptions["messages"] = async (guildId) =>
				((await reading.messages?.(guildId)) ?? []).filter(({ key }) => keys?.has(key) ?? true);
			const denied = unreadable(parts, denies);
			const allowed = parts.filter((part) => !denied.some((one) => one.part === part));
			const read = await readGuildState(guild, allowed, { ...reading, messages: reading.messages && messages });
			const restored = restore && (await readRestored(guild, restore));
			return { state: { ...read.state, ...restored }, unreadable: [...denied, ...read.unreadable] };
		},
		unreadable: (parts) => unreadable(parts, denies),
		difference: (document, state, options) =>
			options.restore
				? restoreDifference(options.restore, state, options.ids)
				: inSlices(differenceInSteps(document, state, options), sliceMs),
		refusals: (steps, guild, state) => inSlices(refusalsOf(steps, guild, state, { denies }), sliceMs),
		requireStep: (step, ids, guild) => requireStep(step, ids, guild, { denies }),
	};
}
