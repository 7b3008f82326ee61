// Writes of the tables in a database that refuses one of their statements. A caller that is not told of it goes on as if
// everything were stored.

import { expect, test } from "bun:test";
import * as approvals from "../../../../src/bot/store/tables/approvals.ts";
import * as cases from "../../../../src/bot/store/tables/cases.ts";
import * as locks from "../../../../src/bot/store/tables/channel-locks.ts";
import * as conversations from "../../../../src/bot/store/tables/chat.ts";
import * as donators from "../../../../src/bot/store/tables/donators.ts";
import * as backups from "../../../../src/bot/store/tables/guild-backups.ts";
import * as reports from "../../../../src/bot/store/tables/reports.ts";
import { tempBanRows } from "../../../../src/bot/store/tables/temp-bans.ts";
import type { Sql } from "../../../../src/lib/store/statement.ts";

const guild_id = "1";
const number = 1;
const at = 1_790_000_000_000;
const key = { guild_id, number };

/** A database in which each statement returns a row, except the one with this index, which it refuses. */
function refusing(index: number) {
	let count = 0;
	const sql: Sql = async <Row extends object>() => {
		count += 1;
		if (count - 1 === index) throw new Error("refused");
		return [{ number: 1, kept_at: null }] as unknown as Row[];
	};
	return { sql, count: () => count };
}

const inTransaction = (sql: Sql) => ({ transaction: <T>(work: (sql: Sql) => Promise<T>) => work(sql) });
const backup = {
	guild_id,
	made_at: at,
	guild_name: "Cooks",
	length: 2,
	sha256: "5",
	channels: 1,
	roles: 1,
	omitted: "",
	document: "{}",
	pictures: ["6"],
};
const turn = {
	message_id: "2",
	parent_id: null,
	guild_id,
	channel_id: "3",
	user_id: "4",
	name: "A",
	...({ role: "user", content: "hello", at } as const),
};
const ban = {
	guild_id,
	user_id: "2",
	reason: null,
	moderator_id: "3",
	...({ asked_at: at, ends_at: at, state: "asked", mark: "by" } as const),
};

test.each<[string, (sql: Sql) => Promise<unknown>]>([
	["changeApproval", (sql) => approvals.changeApproval(sql, { id: "1", token: "2" }, { message_id: "3" })],
	[
		"editCase",
		(sql) =>
			cases.editCase(
				sql,
				{ ...key, what: "reason", editor_id: "2", at, before: null },
				{ reason: "rude", deleted_at: null },
			),
	],
	["deleteAll of rows", (sql) => locks.channelLockRows.deleteAll(sql, { channel_id: "1" })],
	["saveTurns", (sql) => conversations.saveTurns(sql, [turn])],
	["saveAccepted", (sql) => donators.saveAccepted(inTransaction(sql), "7", [])],
	["saveDoubted", (sql) => donators.saveDoubted(sql, "7", [])],
	[
		"saveGuildBackup",
		(sql) => backups.saveGuildBackup(inTransaction(sql), backup, { keep: 0, keepReason: () => "it lost channels" }),
	],
	["keepGuildBackup", (sql) => backups.keepGuildBackup(sql, key, { at, reason: "why" })],
	["setActs", (sql) => reports.setActs(sql, key, [], null)],
	["insert of rows", (sql) => tempBanRows.insert(sql, [ban])],
	["save of rows", (sql) => tempBanRows.save(sql, [ban])],
	["change of a row", (sql) => tempBanRows.change(sql, ban, { state: "banned" })],
	["delete of a row", (sql) => tempBanRows.delete(sql, ban)],
])("%s rejects whichever of its statements is refused", async (_, write) => {
	const all = refusing(-1);
	await write(all.sql);
	expect(all.count()).toBeGreaterThan(0);
	for (let index = 0; index < all.count(); index += 1)
		await expect(write(refusing(index).sql)).rejects.toThrow("refused");
});
