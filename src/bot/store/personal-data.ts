// What each table of a bot's database holds of guilds and people. What /mydata shows and erases, what is deleted after how many
// days, and what is erased after the bot has left a guild follow from this alone. Conditions are SQL, for rows of the guild.

import { runNamed, type Sql } from "../../lib/store/statement.ts";
import type { Store } from "./store.ts";
import type { Person } from "./tables/privacy.ts";

/**
 * Rows of a person: their name in the person's file, which they are, the columns in the file ("": none), and what /mydata does
 * with those of them that match the last condition: "DELETE", or what it sets. Without it they are kept.
 */
type OfPerson = readonly [name: string, where: string, shows: string, erase?: string, some?: string];

/** Which a guild or the operator sets. */
type Days = { readonly [Kind in "cases" | "reports" | "calls" | "chat"]?: number | undefined };

interface TableData {
	/** The rows of a guild. Default: by guild_id. Null: it has none. */
	guild?: string | null;
	/** Rows are deleted in batches by this column. Default: all at once. */
	key?: string;
	/** What is deleted after how many days. */
	old?: readonly [keyof Days | number, where: string];
	/** Which of them stay, and what is set in these. */
	stays?: readonly [where: string, sets: string];
	people?: readonly OfPerson[];
}

const ofUser = "user_id = $user";
const inJson = (column: string) => `${column} LIKE '%"' || CAST($user AS TEXT) || '"%'`;
/** Its number stays, so that no other gets it. */
const isNewest = (table: string) => `number = (SELECT MAX(number) FROM ${table} WHERE guild_id = $guild)`;
const numberIn = (table: string, where: string) =>
	`number IN (SELECT number FROM ${table} WHERE guild_id = $guild AND ${where})`;
/** Notes stay among staff. */
const aboutUser = `${ofUser} AND action <> 'note'`;
const madeByUser = "moderator_id = $user AND action <> 'note'";
const isOfBan = `EXISTS (SELECT 1 FROM temp_bans ban WHERE ban.guild_id = cases.guild_id AND ban.user_id = cases.user_id
	AND ban.ends_at = cases.ends_at AND cases.action = 'temp_ban')`;
const oldCase = "created_at < $before AND state <> 'asked'";
/** Of a ban that has not ended, the person stays. */
const withoutPerson = `reason = NULL, why = NULL, why_said = NULL, message_ids = '[]', channel_ids = '[]', detail = '[]',
	told = NULL, user_id = CASE WHEN ${isOfBan} THEN user_id END`;
const hidden = "deleted_at IS NOT NULL";
const hiddenOf = numberIn("cases", hidden);
const caseShows = "number, action, reason, created_at, ends_at, state, message_ids, channel_ids, told, deleted_at";
const chargebackShows =
	"uuid, username, tier, happened_at, received_at, saved_roles, restricted_role, decision, closed";
const chatShows = "at, channel_id, message_id, role, name, content";
const oldReport = "ended_at < $before";
const withoutPeople = `target = '', author_id = '', channel_id = NULL, message_id = NULL, acts = '[]', ended_by = NULL,
	entry_channel_id = NULL, entry_id = NULL, shown = version`;
/** Of open reports only staff know. The message would say who reported it. */
const endedAbout = "author_id = $user AND author_kind = 'person' AND state <> 'open'";
const noHash = (table: string) => `hash NOT IN (SELECT hash FROM guild_${table})`;
const ofJob = (where: string) => `job_id IN (SELECT id FROM guild_jobs WHERE ${where})`;

/** Rows that refer to others stand before these. */
export const tableData: Readonly<Record<string, TableData>> = {
	announcements: {},
	audit_log_marks: {},
	guild_messages: {},
	join_role_marks: {},
	raid_steps: {},
	guild_plans: {},
	guild_backup_pictures: {},
	guild_backups: {},
	guild_backup_checks: {},
	secrets: { guild: null },
	guild_pictures: { guild: null, old: [7, `used_at < $before AND ${noHash("backup_pictures")}`] },
	guild_picture_sources: { guild: null, old: [7, noHash("pictures")] },
	undone_entries: { guild: null, old: [90, "at < $before"] },
	guild_job_steps: { guild: ofJob("guild_id = $guild"), old: [7, ofJob("ended_at < $before")] },
	guild_jobs: { old: [7, "ended_at < $before"] },
	joins: { key: "user_id", people: [["joins", ofUser, "joined_at, invites", "DELETE"]] },
	join_roles_owed: { key: "user_id", people: [["roles_owed", ofUser, "joined_at"]] },
	member_activity: {
		key: "user_id",
		people: [
			["activity", ofUser, "joined_at, messages, promoted, role_id", "DELETE", "promoted = 0"],
			// Somebody who has lost the role would get it again.
			["role_given", ofUser, "", "messages = 0"],
		],
	},
	conversation_messages: {
		key: "message_id",
		old: ["chat", "at < $before"],
		people: [["ai_chat", ofUser, chatShows, "DELETE"]],
	},
	// Kept when a person's data is erased: they would get their limits, and those of the guild, anew.
	chat_use: { key: "user_id", old: [62, "day < $before"], people: [["ai_chat_use", ofUser, "day, questions, tokens"]] },
	chat_opt_outs: { people: [["ai_chat_off", ofUser, "at"]] },
	case_edits: {
		key: "number",
		old: ["cases", numberIn("cases", oldCase)],
		people: [
			["cases_that_you_edited", "editor_id = $user", "number, at, what"],
			["earlier_reasons", numberIn("cases", aboutUser), "number, at, before", "before = NULL", hiddenOf],
		],
	},
	cases: {
		key: "number",
		old: ["cases", oldCase],
		stays: [`${isNewest("cases")} OR ${isOfBan}`, withoutPerson],
		people: [
			["cases_that_you_made", madeByUser, "number, action, created_at"],
			["cases_about_you", aboutUser, caseShows, withoutPerson, hidden],
		],
	},
	report_reporters: {
		key: "number",
		old: ["reports", numberIn("reports", oldReport)],
		people: [["your_reports", ofUser, "number, at, reason", "DELETE"]],
	},
	reports: {
		key: "number",
		old: ["reports", oldReport],
		stays: [isNewest("reports"), withoutPeople],
		people: [
			["reports_about_you", endedAbout, "number, state, ended_at, case_number"],
			["reports_that_you_handled", `ended_by = $user OR ${inJson("acts")}`, "number, state, ended_at"],
			// Staff's entry names who reported.
			["reports", numberIn("report_reporters", ofUser), "", "version = version + 1"],
		],
	},
	temp_bans: {
		people: [
			["temporary_bans", ofUser, "reason, asked_at, ends_at, state"],
			["temporary_bans_that_you_made", "moderator_id = $user", "asked_at, ends_at"],
		],
	},
	spam_incidents: {
		old: [30, "detected_at < $before"],
		people: [["spam", ofUser, "rule, detected_at, until, timeout, case_number"]],
	},
	spam_allowances: { old: [30, "until < $before"], people: [["no_spam", ofUser, "until", "DELETE"]] },
	raid_modes: { people: [["raid_mode", "moderator_id = $user", "wanted, asked_at, ended_at"]] },
	incidents: {
		old: [180, "last_at < $before AND told = 1"],
		people: [["mass_deletions", "actor_id = $user", "kind, count, first_at, last_at, roles"]],
	},
	channel_locks: { people: [["locks", "target_id = $user", "channel_id, locked_at, allows, denies, allowed"]] },
	chargebacks: {
		people: [
			["chargebacks", "chat_id = $user", chargebackShows],
			["chargebacks_that_you_decided", "decided_by = $user", "decision, decided_at"],
		],
	},
	donator_lists: { people: [["supporters", inJson("standings"), "kind, fetched_at"]] },
	setting_versions: { people: [["settings_that_you_changed", "changed_by = $user", "version, changed_at, door"]] },
	approvals: {
		old: [1, "ended_at < $before"],
		people: [
			["calls_to_approve", inJson("principal"), "tool, state, created_at"],
			["calls_that_you_decided", "decided_by = $user", "tool, state, decided_at"],
		],
	},
	asked_plans: {
		old: [1, "expires_at < $before"],
		people: [["ai_plans", "person_id = $user", "expires_at, calls", "DELETE"]],
	},
	routines: { people: [["ai_routines", "person_id = $user", "channel_id, question, next_at", "DELETE"]] },
	tool_calls: {
		key: "id",
		old: ["calls", "at < $before"],
		people: [["calls", "person = $user", "at, tool, client, outcome, message_id"]],
	},
	// The last: without its row, nobody knows that there is something left to erase.
	known_guilds: {},
};

const tables = Object.entries(tableData);

type Values = { guild?: string; before?: number };

/** In batches, so that a large guild does not hold up the database. Without `guild`, of all guilds. */
async function deleteRows(
	...[sql, table, data, where, values, isOver = () => false]: [Sql, string, TableData, string, Values, (() => boolean)?]
): Promise<void> {
	const { key, guild = "guild_id = $guild" } = data;
	const mine = values.guild === undefined ? "1 = 1" : guild;
	const rows = `${mine} AND ${where}`;
	const batch = key ? `${rows} AND ${key} IN (SELECT ${key} FROM ${table} WHERE ${rows} LIMIT 500)` : rows;
	const text = `DELETE FROM ${table} WHERE ${batch} RETURNING 1`;
	while (mine !== null && !isOver() && (await runNamed(sql, text, values)).length > 0);
}

/** All of the guild's rows, until `isOver`. Repeating it is harmless. */
export async function eraseGuild(sql: Sql, guild: string, isOver: () => boolean): Promise<void> {
	for (const [table, data] of tables) await deleteRows(sql, table, data, "1 = 1", { guild }, isOver);
}

/** Of a guild, or of all for what is kept equally long. */
export async function eraseOld(sql: Sql, now: number, given: Days, guild?: string): Promise<void> {
	for (const [table, data] of tables) {
		const [kept = 0, where = ""] = data.old ?? [];
		const days = typeof kept === "string" ? given[kept] : guild === undefined && kept > 0 ? kept : undefined;
		if (days === undefined) continue;
		const values = { ...(guild !== undefined && { guild }), before: now - days * 86_400_000 };
		const [stays = "1 = 0", sets] = data.stays ?? [];
		if (sets)
			await runNamed(sql, `UPDATE ${table} SET ${sets} WHERE guild_id = $guild AND ${where} AND (${stays})`, values);
		await deleteRows(sql, table, data, `${where} AND NOT (${stays})`, values);
	}
}

type Rows = Record<string, Record<string, unknown>[]>;

/** By name, without those that have no rows. */
export async function exportPerson(sql: Sql, person: Person): Promise<Rows> {
	const file: Rows = {};
	for (const [table, { people = [] }] of tables)
		for (const [name, where, shows] of people) {
			const text = `SELECT ${shows} FROM ${table} WHERE guild_id = $guild AND (${where}) ORDER BY 1`;
			const rows = shows ? await runNamed<Record<string, unknown>>(sql, text, person) : [];
			if (rows.length > 0) file[name] = rows;
		}
	return file;
}

/** Returns what is kept. */
export function erasePerson(store: Pick<Store, "transaction">, person: Person): Promise<Rows> {
	return store.transaction(async (sql) => {
		// What is changed may depend on what is deleted.
		for (const isDelete of [false, true])
			for (const [table, { people = [] }] of tables)
				for (const [, where, , erase, some = "1 = 1"] of people) {
					if (!erase || (erase === "DELETE") !== isDelete) continue;
					const verb = isDelete ? `DELETE FROM ${table}` : `UPDATE ${table} SET ${erase}`;
					await runNamed(sql, `${verb} WHERE guild_id = $guild AND ${where} AND ${some}`, person);
				}
		return exportPerson(sql, person);
	});
}
