// What tools can do with guild documents. The implementation is in the folder guild-document, which imports this one.

import type { Guild } from "discord.js";
import type { GuildDocument, Part } from "../../../guild-document/format/document.ts";
import type { Restore } from "../../../guild-document/restore.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { maxGuildPlans } from "../../store/tables/guild-plans.ts";

export type PlanSource =
	/** All or part of a guild, parsed or as JSON or YAML text; not validated yet. */
	| { document: unknown }
	/** Such as "12" or "latest"; of another guild "123456789012345678/12". */
	| { backup: string }
	/** The hash of an earlier plan, and a partial document that is merged into that plan's document. */
	| { plan: string; changes: unknown };

export interface ExportedGuild {
	document: GuildDocument;
	/** Lines that say which sections, such as bans, are missing, and why. */
	missing: readonly string[];
}

export interface GuildBackup {
	guildId: string;
	/** Such as "12"; unique within a guild. */
	name: string;
	madeAt: Date;
	guildName: string;
	channels: number;
	roles: number;
	/** For people: the sections that the backup lacks, and why; "" if complete. */
	omitted: string;
	/** When and why the backup was protected from being replaced by newer ones. */
	kept: { at: Date; reason: string } | undefined;
}

/** All methods reject with a ToolError if it is not possible, such as without the database. */
export interface GuildDocuments {
	/** `parts` default to all except members and bans. */
	export(guild: Guild, parts?: readonly Part[]): Promise<ExportedGuild>;
	/** Newest first. */
	backups(guild: Guild): Promise<readonly GuildBackup[]>;
	/** `name`: "12" or "latest"; of another guild "123456789012345678/12". */
	exportBackup(guild: Guild, name: string): Promise<ExportedGuild>;
	/**
	 * Stores the plan and returns it as text of at most `maxBytes` bytes. With `prune`, it deletes what a section does not
	 * list. For a change of an earlier plan, steps of both except deletions are only counted, unless `isWhole`.
	 */
	plan(
		guild: Guild,
		source: PlanSource,
		options?: { prune?: boolean | undefined; maxBytes?: number | undefined; isWhole?: boolean },
	): Promise<string>;
	/** Like `plan`. */
	planRestore(guild: Guild, restore: Restore): Promise<string>;
	/** Which of these entries of the audit log, and calls of the bot's tools, jobs have undone. */
	undone(entries: readonly string[]): Promise<ReadonlySet<string>>;
	guildOfPlan(hash: string): Promise<string>;
	guildOfJob(id: string): Promise<string>;
	/**
	 * Waits at most `waitMs` milliseconds for the end (default 0). If the guild has changed since, rejects with an error
	 * that has the new plan. `reason` is for Discord's audit log.
	 */
	apply(hash: string, reason?: string, waitMs?: number): Promise<string>;
	/** As text. */
	job(id: string): Promise<string>;
	/** As text, the latest. */
	jobs(guild: Guild): Promise<string>;
	/** Completes the current change; returns the progress as text. */
	cancel(id: string): Promise<string>;
}

/** Of what is created again. */
export const lostForGood =
	"New channels and roles get new ids. Messages of deleted channels do not come back, nor do their threads, invites and the tokens of webhooks.";

export function unknownPlan(hash: string): ToolError {
	return new ToolError(
		`There is no plan ${JSON.stringify(hash)}. Plans are kept for a day, and of each guild the latest ${maxGuildPlans}. Use plan_guild or undo_actions to make one.`,
	);
}

export function unknownJob(id: string): ToolError {
	return new ToolError(`There is no job ${JSON.stringify(id)}. A job is kept for 7 days after its end.`);
}

/** `guildId`: the guild to which it would belong. */
export function unknownBackup(name: string, guildId: string): ToolError {
	return new ToolError(
		`There is no backup ${JSON.stringify(name)} of the guild ${guildId}. Use list_backups to find backups; "latest" is the newest, and GUILD_ID/NAME one of another guild.`,
	);
}

/** Without what belongs to other guilds: for callers who must not find out that it exists. */
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
		planRestore: (guild, restore) => documents.planRestore(guild, restore),
		undone: (entries) => documents.undone(entries),
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
