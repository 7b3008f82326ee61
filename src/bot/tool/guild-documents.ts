// What tools can do with guild documents. The implementation is in the folder guild-document, which imports this one.

import type { Guild } from "discord.js";
import type {
	GuildDocument,
	Part,
} from "../../guild-document/format/document.ts";

/** A document to compare a guild with. */
export type PlanSource =
	/** A whole or partial document: the parsed JSON, not yet validated. */
	| { document: unknown }
	/**
	 * The name of a backup of the guild, such as "12" or "latest"; or of another guild of this bot, after its id:
	 * "123456789012345678/12".
	 */
	| { backup: string }
	/** The hash of an earlier plan of the guild, and a partial document that is laid over the plan's document. */
	| { plan: string; changes: unknown };

/** An exported document, and the parts that could not be read. */
export interface ExportedGuild {
	document: GuildDocument;
	/** Parts that are missing in the document, and why, as lines of text. */
	missing: readonly string[];
}

/** A stored backup of a guild. */
export interface GuildBackup {
	guildId: string;
	/** Name of the backup within its guild, such as "12". */
	name: string;
	madeAt: Date;
	guildName: string;
	channels: number;
	roles: number;
	/** Parts that are not in it, and why, as a text for people; "" if it has all. */
	omitted: string;
	/** Since when and why the backup is kept for good; undefined if it is rotated. */
	kept: { at: Date; reason: string } | undefined;
}

/**
 * A guild as a document: exporting it, planning changes and carrying them out. All methods reject with a ToolError if
 * something is not possible, such as while the bot's database is unavailable.
 */
export interface GuildDocuments {
	/** Exports a guild, or some parts of it. Default: all parts but members and bans. */
	export(guild: Guild, parts?: readonly Part[]): Promise<ExportedGuild>;
	/** Returns the backups of a guild, the newest first. */
	backups(guild: Guild): Promise<readonly GuildBackup[]>;
	/** Returns the document of a backup, by a name as in PlanSource. */
	exportBackup(guild: Guild, name: string): Promise<ExportedGuild>;
	/**
	 * Compares a guild with a document and keeps the plan for a day. `prune`: things that the document's parts do not list
	 * are deleted. Returns the plan as text, with its hash. `maxBytes`: maximum length of the text.
	 */
	plan(
		guild: Guild,
		source: PlanSource,
		options?: { prune?: boolean | undefined; maxBytes?: number | undefined },
	): Promise<string>;
	/** Returns the guild id of a kept plan. */
	guildOfPlan(hash: string): Promise<string>;
	/** Returns the guild id of a job. */
	guildOfJob(id: string): Promise<string>;
	/**
	 * Starts a job that carries out a plan. Returns a text with the job's id. If the guild has changed since, nothing is
	 * started, and the error contains the new plan. `reason`: for Discord's audit log. `waitMs`: for how many milliseconds
	 * to wait for the end of the job; default: 0.
	 */
	apply(hash: string, reason?: string, waitMs?: number): Promise<string>;
	/** Returns a job's progress as text. */
	job(id: string): Promise<string>;
	/** Returns the latest jobs of a guild as text. */
	jobs(guild: Guild): Promise<string>;
	/** Stops a job after its running step. Returns its progress as text. */
	cancel(id: string): Promise<string>;
}
