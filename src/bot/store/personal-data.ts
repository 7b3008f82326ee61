// What each table of a bot's database holds of guilds and people. What /mydata shows and erases, what a guild's number of days
// deletes, and what is erased after the bot has left a guild follow from this alone. Conditions are SQL, for rows of the guild.

import { runNamed, type Sql } from "../../lib/store/statement.ts";
import type { Store } from "./store.ts";
import type { Person } from "./tables/privacy.ts";

/**
 * Rows of a person: their name in the person's file, which they are, the columns in the file ("": none), and what /mydata does
 * with those of them that match the last condition: "DELETE", or what it sets. Without it they are kept.
 */
type OfPerson = readonly [name: string, where: string, shows: string, erase?: string, some?: string];

type Period = "cases" | "reports" | "calls";

interface TableData {
	/** The rows of a guild. Default: by guild_id. Null: it has none of guilds or people. */
	guild?: string | null;
	/** Rows are deleted in batches by this column. Default: all of a guild at once. */
	key?: string;
	people?: readonly OfPerson[];
	/** What is older than the guild's setting says. */
	old?: readonly [Period, where: string];
}

const batchSize = 500;
const ofUser = "user_id = $user";
const inJson = (column: string) => `${column} LIKE '%"' || CAST($user AS TEXT) || '"%'`;
const newest = (table: string) => `(SELECT MAX(number) FROM ${table} WHERE guild_id = $guild)`;
const numberIn = (table: string, where: string) =>
	`number IN (SELECT number FROM ${table} WHERE guild_id = $guild AND ${where})`;
/** Notes stay among staff. */
const caseOfUser = `${ofUser} AND action <> 'note'`;
const isOfBan = `EXISTS (SELECT 1 FROM temp_bans ban WHERE ban.guild_id = cases.guild_id AND ban.user_id = cases.user_id
	AND ban.ends_at = cases.ends_at AND cases.action = 'temp_ban')`;
const oldCase = "created_at < $before AND state <> 'asked'";
const uselessCase = `${oldCase} AND NOT ${isOfBan}`;
const oldReport = `ended_at < $before AND number < ${newest("reports")}`;
/** Of a ban that has not ended, the person stays. */
const withoutPerson = `reason = NULL, why = NULL, why_said = NULL, message_ids = '[]', channel_ids = '[]', detail = '[]',
	told = NULL, user_id = CASE WHEN ${isOfBan} THEN user_id END`;
const hidden = "deleted_at IS NOT NULL";
const caseShows = "number, action, reason, created_at, ends_at, state, message_ids, channel_ids, told, deleted_at";
const chargebackShows =
	"uuid, username, tier, happened_at, received_at, saved_roles, restricted_role, decision, closed";
/** Of open reports only staff know. The message would say who reported it. */
const endedAbout = "author_id = $user AND author_kind = 'person' AND state <> 'open'";

const alike = (names: string, data: TableData) => Object.fromEntries(names.split(" ").map((name) => [name, data]));

/** Rows that refer to others stand before these. */
export const tableData: Readonly<Record<string, TableData>> = {
	...alike("guild_pictures guild_picture_sources secrets undone_entries", { guild: null }),
	...alike("announcements case_marks guild_messages guild_deletion_marks join_role_marks raid_steps guild_plans", {}),
	...alike("guild_backup_pictures guild_backups guild_backup_checks", {}),
	guild_job_steps: { guild: "job_id IN (SELECT id FROM guild_jobs WHERE guild_id = $guild)" },
	guild_jobs: {},
	joins: { key: "user_id", people: [["joins", ofUser, "joined_at, invites", "DELETE"]] },
	join_roles_owed: { key: "user_id", people: [["roles_owed", ofUser, "joined_at", "DELETE"]] },
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
		people: [["ai_chat", ofUser, "at, channel_id, message_id, role, name, content", "DELETE"]],
	},
	chat_opt_outs: { people: [["ai_chat_off", ofUser, "at"]] },
	case_edits: {
		key: "number",
		people: [
			["cases_that_you_edited", "editor_id = $user", "number, at, what"],
			[
				"earlier_reasons",
				numberIn("cases", caseOfUser),
				"number, at, before",
				"before = NULL",
				numberIn("cases", hidden),
			],
		],
		old: ["cases", numberIn("cases", uselessCase)],
	},
	cases: {
		key: "number",
		people: [
			["cases_that_you_made", "moderator_id = $user AND action <> 'note'", "number, action, created_at"],
			["cases_about_you", caseOfUser, caseShows, withoutPerson, hidden],
		],
		old: ["cases", `${uselessCase} AND number < ${newest("cases")}`],
	},
	report_reporters: {
		key: "number",
		people: [["your_reports", ofUser, "number, at, reason", "DELETE"]],
		old: ["reports", numberIn("reports", oldReport)],
	},
	reports: {
		key: "number",
		people: [
			["reports_about_you", endedAbout, "number, state, ended_at, case_number"],
			["reports_that_you_ended", "ended_by = $user", "number, state, ended_at"],
			// Staff's entry names who reported.
			["reports", numberIn("report_reporters", ofUser), "", "version = version + 1"],
		],
		old: ["reports", oldReport],
	},
	temp_bans: {
		people: [
			["temporary_bans", ofUser, "reason, asked_at, ends_at, state"],
			["temporary_bans_that_you_made", "moderator_id = $user", "asked_at, ends_at"],
		],
	},
	spam_incidents: { people: [["spam", ofUser, "rule, detected_at, until, messages, timeout, case_number"]] },
	spam_allowances: { people: [["posts_that_are_no_spam", ofUser, "until", "DELETE"]] },
	raid_modes: { people: [["raid_mode", "moderator_id = $user", "wanted, asked_at, ended_at"]] },
	incidents: { people: [["mass_deletions", "actor_id = $user", "kind, count, first_at, last_at, roles"]] },
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
		people: [
			["calls_to_approve", inJson("principal"), "tool, state, created_at"],
			["calls_that_you_decided", "decided_by = $user", "tool, state, decided_at"],
		],
	},
	tool_calls: {
		key: "id",
		people: [["calls", "person = $user", "at, tool, client, outcome, message_id"]],
		old: ["calls", "at < $before"],
	},
	// The last: without its row, nobody knows that there is something left to erase.
	known_guilds: {},
};

const tables = Object.entries(tableData);

interface Of {
	guild?: string;
	before?: number;
}

/** In batches, so that a large guild does not hold up the database. */
async function deleteRows(
	sql: Sql,
	[table, { key, guild = "guild_id = $guild" }]: (typeof tables)[number],
	{ where = "1 = 1", isOver = () => false, ...values }: Of & { where?: string | undefined; isOver?(): boolean },
): Promise<void> {
	const mine = values.guild === undefined ? "1 = 1" : guild;
	const rows = `${mine} AND ${where}`;
	const batch = key ? `${mine} AND ${key} IN (SELECT ${key} FROM ${table} WHERE ${rows} LIMIT ${batchSize})` : rows;
	const text = `DELETE FROM ${table} WHERE ${batch} RETURNING 1`;
	while (mine !== null && !isOver() && (await runNamed(sql, text, values)).length > 0);
}

/** All of the guild's rows, until `isOver`. Repeating it is harmless. */
export async function eraseGuild(sql: Sql, guild: string, isOver: () => boolean): Promise<void> {
	for (const one of tables) await deleteRows(sql, one, { guild, isOver });
}

/** The newest case stays without its person, because its number must not be used again. Only "calls" may be of all guilds. */
export async function eraseOld(sql: Sql, period: Period, of: Of & { before: number }): Promise<void> {
	const stays = `(number = ${newest("cases")} OR ${isOfBan})`;
	const text = `UPDATE cases SET ${withoutPerson} WHERE guild_id = $guild AND ${oldCase} AND ${stays}`;
	if (period === "cases") await runNamed(sql, text, { ...of });
	for (const one of tables) {
		const [its, where] = one[1].old ?? [];
		if (its === period) await deleteRows(sql, one, { ...of, where });
	}
}

export type Rows = Record<string, Record<string, unknown>[]>;

/** By name, without those that have no rows. */
export async function exportPerson(sql: Sql, person: Person): Promise<Rows> {
	const file: Rows = {};
	for (const [table, { people = [] }] of tables)
		for (const [name, where, shows] of people) {
			const text = `SELECT ${shows} FROM ${table} WHERE guild_id = $guild AND ${where} ORDER BY 1`;
			const rows = shows ? await runNamed<Record<string, unknown>>(sql, text, { ...person }) : [];
			if (rows.length > 0) file[name] = rows;
		}
	return file;
}

/** Returns what is kept. */
export function erasePerson(store: Pick<Store, "transaction">, person: Person): Promise<Rows> {
	return store.transaction(async (sql) => {
		const erasing = tables.flatMap(([table, { people = [] }]) =>
			people.flatMap(([, where, , erase, some = "1 = 1"]) => {
				const verb = erase === "DELETE" ? `DELETE FROM ${table}` : `UPDATE ${table} SET ${erase}`;
				return erase ? `${verb} WHERE guild_id = $guild AND ${where} AND ${some}` : [];
			}),
		);
		const isDelete = (text: string) => Number(text.startsWith("DELETE"));
		// What is changed may depend on what is deleted.
		for (const text of erasing.sort((a, b) => isDelete(a) - isDelete(b))) await runNamed(sql, text, { ...person });
		return exportPerson(sql, person);
	});
}
