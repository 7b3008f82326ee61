// The parts of guild documents, wired for startBot and for the command line in the same way.

import type { BotConfig } from "../config/config.ts";
import type { Store } from "../store/store.ts";
import { guildMessageRows } from "../store/tables/guild-jobs.ts";
import { Backups } from "./backups/backups.ts";
import { DeletionWatch, type DeletionWatchOptions } from "./backups/deletion-watch.ts";
import { createGuildDocuments, type GuildDocumentsOptions } from "./guild-documents.ts";
import { createRules } from "./plans/rules.ts";
import { createPictures } from "./read/pictures.ts";
import type { OwnSettings } from "./read/read-guild.ts";

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
