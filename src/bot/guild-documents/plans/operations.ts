// What tools can do with guild documents. The implementation is in the folder guild-document, which imports this one.

import type { Guild } from "discord.js";
import type { GuildDocument, Part } from "../../../guild-document/format/document.ts";
import { ToolError } from "../../../mcp/tool.ts";
import { maxGuildPlans } from "../../store/tables/guild-plans.ts";

/**
 * The wanted state of a guild, from which changes are planned: a guild document, a backup, or an earlier plan of
 * changes.
 */
export type PlanSource =
	/**
	 * A guild document that describes all or part of a guild, as parsed JSON or as JSON or YAML text. It is not validated
	 * yet.
	 */
	| { document: unknown }
	/**
	 * Name of a backup of the same guild, such as "12" or "latest". The name of another guild's backup starts with the id
	 * of that guild: "123456789012345678/12".
	 */
	| { backup: string }
	/**
	 * Hash of an earlier plan for the guild, and a partial guild document (`changes`) that is merged into the guild
	 * document of that plan.
	 */
	| { plan: string; changes: unknown };

/** A guild exported as a guild document, and the sections of the document that could not be exported. */
export interface ExportedGuild {
	document: GuildDocument;
	/** Lines of text that say which sections, such as bans, are missing in the guild document, and why. */
	missing: readonly string[];
}

/** Description of a stored backup of a guild: its name, time and size, without the guild document itself. */
export interface GuildBackup {
	guildId: string;
	/** Name of the backup, such as "12". Backups of different guilds can have the same name. */
	name: string;
	madeAt: Date;
	guildName: string;
	channels: number;
	roles: number;
	/**
	 * Text for people that says which sections of the guild, such as webhooks, the backup lacks, and why. Empty if the
	 * backup is complete.
	 */
	omitted: string;
	/**
	 * When and why the backup was protected; undefined if it is not protected. Newer unprotected backups do not replace a
	 * protected one.
	 */
	kept: { at: Date; reason: string } | undefined;
}

/**
 * Operations on guild documents: exports guilds as documents, plans changes to guilds, and makes these changes. All
 * methods reject with a ToolError if the operation is not possible, such as while the bot's database is unavailable.
 */
export interface GuildDocuments {
	/**
	 * Exports a guild as a guild document. `parts` are the names of the sections to export. Default: all except members
	 * and bans.
	 */
	export(guild: Guild, parts?: readonly Part[]): Promise<ExportedGuild>;
	/** Returns descriptions of the stored backups of a guild, newest first. */
	backups(guild: Guild): Promise<readonly GuildBackup[]>;
	/**
	 * Returns the guild document of a backup. `name` is the name of a backup of this guild, such as "12" or "latest", or
	 * the id of another guild and the name of its backup: "123456789012345678/12".
	 */
	exportBackup(guild: Guild, name: string): Promise<ExportedGuild>;
	/**
	 * Compares a guild with a guild document. Stores a plan of the changes that make the guild match the document, and
	 * returns the plan with its hash as text of at most `maxBytes` bytes. If `prune` is true, the changes include deleting
	 * what a section of the document does not list. If `source` is a change of an earlier plan, the text only counts the
	 * steps that both plans have, except deletions; with `isWhole`, it lists all steps.
	 */
	plan(
		guild: Guild,
		source: PlanSource,
		options?: {
			prune?: boolean | undefined;
			maxBytes?: number | undefined;
			isWhole?: boolean;
		},
	): Promise<string>;
	/** Returns the id of the guild to which a stored plan would make changes. */
	guildOfPlan(hash: string): Promise<string>;
	/** Returns the id of the guild to which a job makes changes. */
	guildOfJob(id: string): Promise<string>;
	/**
	 * Starts a job that makes the changes of a stored plan, and returns text with the id and progress of the job. Waits
	 * at most `waitMs` milliseconds for the end of the job; default: 0. If the guild has changed since the plan was made,
	 * rejects with an error that contains the new plan. `reason` is shown in Discord's audit log.
	 */
	apply(hash: string, reason?: string, waitMs?: number): Promise<string>;
	/** Returns the progress of a job, which makes changes to a guild, as text. */
	job(id: string): Promise<string>;
	/** Returns the latest jobs that make or made changes to a guild, as text. */
	jobs(guild: Guild): Promise<string>;
	/**
	 * Cancels a job, which makes changes to a guild, and returns its progress as text. The change that is being made at
	 * this moment is still completed.
	 */
	cancel(id: string): Promise<string>;
}

/**
 * Creates the error for a request that names the hash of a plan which the bot does not have. A plan consists of changes
 * to a guild.
 */
export function unknownPlan(hash: string): ToolError {
	return new ToolError(
		`There is no plan ${JSON.stringify(hash)}. Plans are kept for a day, and of each guild the latest ${maxGuildPlans}. Use plan_guild to make one.`,
	);
}

/** The error for the id of a job that the bot does not have. */
export function unknownJob(id: string): ToolError {
	return new ToolError(`There is no job ${JSON.stringify(id)}. A job is kept for 7 days after its end.`);
}

/**
 * The error for a backup that the bot does not have. `guildId` is the id of the guild to which the backup would belong.
 */
export function unknownBackup(name: string, guildId: string): ToolError {
	return new ToolError(
		`There is no backup ${JSON.stringify(name)} of the guild ${guildId}. Use list_backups to find backups; "latest" is the newest, and GUILD_ID/NAME one of another guild.`,
	);
}

/**
 * Returns `documents` without the plans, jobs and backups of guilds for which `mayTouch` returns false: for callers who
 * must not find out that these exist.
 */
export function limitDocuments(documents: GuildDocuments, mayTouch: (guildId: string) => boolean): GuildDocuments {
	async function guildOfPlan(hash: string): Promise<string> {
		const id = await documents.guildOfPlan(hash);
		if (!mayTouch(id)) throw unknownPlan(hash);
		return id;
	}

	async function guildOfJob(id: string): Promise<string> {
		const guildId = await documents.guildOfJob(id);
		if (!mayTouch(guildId)) throw unknownJob(id);
		return guildId;
	}

	function checkBackup(name: string): void {
		const id = /^(?:backup )?(\d{17,20})\//i.exec(name.trim())?.[1];
		if (id !== undefined && !mayTouch(id)) throw unknownBackup(name, id);
	}

	return {
		export: (guild, parts) => documents.export(guild, parts),
		backups: (guild) => documents.backups(guild),
		async exportBackup(guild, name) {
			checkBackup(name);
			return documents.exportBackup(guild, name);
		},
		async plan(guild, source, options) {
			if ("backup" in source) checkBackup(source.backup);
			if ("plan" in source) await guildOfPlan(source.plan);
			return documents.plan(guild, source, options);
		},
		guildOfPlan,
		guildOfJob,
		async apply(hash, reason, waitMs) {
			await guildOfPlan(hash);
			return documents.apply(hash, reason, waitMs);
		},
		async job(id) {
			await guildOfJob(id);
			return documents.job(id);
		},
		jobs: (guild) => documents.jobs(guild),
		async cancel(id) {
			await guildOfJob(id);
			return documents.cancel(id);
		},
	};
}
