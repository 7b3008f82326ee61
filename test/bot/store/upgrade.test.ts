// Databases written by earlier versions: opened by the current code with every row in place, and their claims respected.

import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { selectChannelLock } from "../../../src/bot/store/tables/channel-locks.ts";
import { selectOpenChargebacks } from "../../../src/bot/store/tables/chargebacks.ts";
import { selectChain, selectLatestAnswer } from "../../../src/bot/store/tables/conversations.ts";
import { selectDonatorLists } from "../../../src/bot/store/tables/donators.ts";
import { selectLogChannel } from "../../../src/bot/store/tables/guild-settings.ts";
import { selectJoinRoleNotes } from "../../../src/bot/store/tables/join-roles.ts";
import { selectActivity, selectClaimed } from "../../../src/bot/store/tables/member-activity.ts";
import { selectTempBansOf } from "../../../src/bot/store/tables/temp-bans.ts";
import { selectToolCalls } from "../../../src/bot/store/tables/tool-calls.ts";
import { migrations } from "../../../src/bot/store/tables.ts";
import { onBoth, openStore, type Place } from "../../support/stores.ts";

/** Migrations of version 0.1.0. */
const migrationCount = 9;
/** 2026-11-22T06:00:00Z, when its rows were written. */
const at = 1_795_327_200_000;
const guild = "1100000000000000001";
const channel = "1200000000000000001";
const moderator = "1300000000000000001";
const user = "1300000000000000002";
const [question, answer] = ["1500000000000000002", "1500000000000000003"];

/** Creates the schema or the directory of a place, as the earlier version did. */
async function createContainer({ settings, look }: Place): Promise<void> {
	const { databaseUrl, schema, directory } = settings;
	if (databaseUrl === undefined) mkdirSync(directory, { recursive: true });
	else await look(`CREATE SCHEMA "${schema}"`);
}

onBoth((databases, kind) => {
	test("a database of version 0.1.0 is opened with the rows of every table", async () => {
		const place = await databases.place();
		await createContainer(place);
		const fixture = join(import.meta.dir, "database-0.1.0.sql");
		await place.look(await Bun.file(fixture).text());

		await using opened = await openStore(place, { migrations });
		const { reason, sql } = opened.store;
		expect(reason).toBeUndefined();
		expect(opened.logged.lines.join()).toContain(`"migrations_applied":${migrations.length - migrationCount}`);

		expect(await selectToolCalls(sql, { limit: 10 })).toEqual([
			{
				id: "019aaa00-0000-7000-8000-000000000002",
				at: at + 1_000,
				request_id: null,
				client: "curl",
				tool: "list_guilds",
				guild_id: null,
				arguments: "{}",
				outcome: "refused",
				milliseconds: 0,
				person: null,
				key: null,
				effect: null,
				message_id: null,
			},
			{
				id: "019aaa00-0000-7000-8000-000000000001",
				at,
				request_id: "7",
				client: "claude 1.0",
				tool: "send_message",
				guild_id: guild,
				arguments: `{"channel_id":"${channel}","content":"[5 characters]"}`,
				outcome: "done",
				milliseconds: 212,
				person: null,
				key: null,
				effect: null,
				message_id: null,
			},
		]);
		expect(await selectDonatorLists(sql)).toEqual({
			accepted: [
				[user, "gold"],
				[moderator, 'it\'s "silver"'],
			],
			doubted: [[user, "gold"]],
		});
		expect(await selectOpenChargebacks(sql)).toMatchObject([
			{
				id: "a".repeat(64),
				username: "Notch",
				chat_id: user,
				received_at: at,
				restriction: "restricted",
				saved_roles: ["1400000000000000001", "1400000000000000002"],
				restricted_role: "1400000000000000003",
				channel_id: channel,
				message_id: "1500000000000000001",
				shown: "5d41402abc4b2a76",
				decision: "ban",
				decided_by: moderator,
				discord_ban: "done",
				game_ban: "pending",
				game_ban_error: "the game server is away",
				restoration: "pending",
				lost_roles: [],
				closed: 0,
			},
			{ id: "b".repeat(64), chat_id: null, restriction: "none" },
		]);
		expect(await selectChannelLock(sql, channel)).toEqual([
			{
				channel_id: channel,
				target_id: guild,
				target_type: 0,
				locked_at: at,
				allows: "0",
				denies: "2048",
				allowed: "0",
				existed: 0,
			},
			{
				channel_id: channel,
				target_id: user,
				target_type: 1,
				locked_at: at,
				allows: "1024",
				denies: "274877906944",
				allowed: "2048",
				existed: 1,
			},
		]);
		expect(await selectJoinRoleNotes(sql, guild)).toEqual({
			joinedUntil: at,
			owed: [{ user_id: user, joined_at: at - 5 }],
		});
		expect(await selectActivity(sql, guild, [user])).toMatchObject([
			{ joined_at: at, messages: 41, promoted: 0, role_id: "" },
		]);
		expect(await selectClaimed(sql, guild, 10)).toMatchObject([
			{ user_id: moderator, promoted: 1, role_id: "1400000000000000004" },
		]);
		expect(await selectChain(sql, answer, 10)).toMatchObject([
			{ message_id: answer, role: "assistant", content: "It is #rules." },
			{
				message_id: question,
				parent_id: null,
				role: "user",
				name: "Ada 🧵",
				content: "Where is the 'rules' channel?\nThanks; -- Ada",
			},
		]);
		expect(
			await selectLatestAnswer(sql, {
				channelId: channel,
				userId: user,
				since: at,
			}),
		).toBe(answer);
		expect(await selectLogChannel(sql, guild)).toBe(channel);
		const { rows } = await selectTempBansOf(sql, guild, {
			limit: 10,
			offset: 0,
		});
		expect(rows).toEqual([
			{
				guild_id: guild,
				user_id: "1300000000000000003",
				moderator_id: moderator,
				reason: null,
				asked_at: at,
				ends_at: at + 60_000,
				state: "banned",
				mark: null,
			},
			{
				guild_id: guild,
				user_id: user,
				moderator_id: moderator,
				reason: "spam",
				asked_at: at,
				ends_at: at + 86_400_000,
				state: "asked",
				mark: "By Ada until 2026-11-23 06:00 UTC",
			},
		]);
	});

	test("a running instance of version 0.1.0 keeps its claim", async () => {
		const place = await databases.place("of 0.1.0");
		const holder = "Old (pid 9 on there)";
		await createContainer(place);
		await using claim =
			kind === "SQLite"
				? new SQL({
						adapter: "sqlite",
						filename: join(place.settings.directory, "store-claim.sqlite"),
					})
				: new SQL(place.settings.databaseUrl ?? "", { max: 1 });
		if (kind === "SQLite") {
			await claim.unsafe("CREATE TABLE claim (holder TEXT)");
			await claim`INSERT INTO claim (holder) VALUES (${holder})`;
			await claim.unsafe("BEGIN IMMEDIATE");
		} else {
			await claim`SELECT set_config('application_name', ${`01234567 ${holder}`}, false)`;
			// What 0.1.0 locks for a schema called "of 0.1.0".
			await claim.unsafe("SELECT pg_advisory_lock(-5358258215330368365)");
		}
		await using opened = await openStore(place);
		expect((await opened.store.failed).message).toContain(`in use by ${holder}`);
	});
});
