// When routines run, and what they post.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import { nextTime, readSchedule } from "../../../../src/bot/features/chat/routine-times.ts";
import { until } from "../../../support/until.ts";
import { grant } from "../running-feature.ts";
import { askingTest, general, staff } from "./asking.ts";

const day = [0, 1, 2, 3, 4, 5, 6];

test.each<[text: string, days: readonly number[] | undefined, time: string]>([
	["Mondays 9:00", [1], "9:00"],
	["daily at 6pm", day, "18:00"],
	["9.05", day, "9:05"],
	["Tue, Fri 18:30", [2, 5], "18:30"],
	["every weekday 8am", [1, 2, 3, 4, 5], "8:00"],
	["Mo und Sonnabend um 12 Uhr", [1, 6], "12:00"],
	["montags 12am", [1], "0:00"],
	["Mondays", undefined, ""],
	["Moonday 9:00", undefined, ""],
	["daily 25:00", undefined, ""],
	["daily 13pm", undefined, ""],
	["daily 9:00 10:00", undefined, ""],
])("%s", (text, days, time) => {
	const read = readSchedule(text);
	expect(read?.days).toEqual(days as number[]);
	if (read) expect(`${read.hour}:${String(read.minute).padStart(2, "0")}`).toBe(time);
});

test.each([
	["later on the day", "daily 9:00", "2027-06-01T06:59:00Z", "Europe/Berlin", "2027-06-01T07:00:00.000Z"],
	["not the moment itself", "daily 9:00", "2027-06-01T07:00:00Z", "Europe/Berlin", "2027-06-02T07:00:00.000Z"],
	["in a week", "Tue 9:00", "2027-06-01T07:00:00Z", "Europe/Berlin", "2027-06-08T07:00:00.000Z"],
	["by the zone's date", "Mon 1:00", "2027-06-06T15:00:00Z", "Asia/Tokyo", "2027-06-06T16:00:00.000Z"],
	["an hour that is skipped", "daily 2:30", "2027-03-28T00:00:00Z", "Europe/Berlin", "2027-03-28T01:30:00.000Z"],
	["after the change of the clock", "Sun 9:00", "2027-10-30T10:00:00Z", "Europe/Berlin", "2027-10-31T08:00:00.000Z"],
])("the next time: %s", (_, text, from, zone, next) => {
	const schedule = readSchedule(text);
	expect(schedule && new Date(nextTime(schedule, Date.parse(from), zone)).toISOString()).toBe(next);
});

askingTest("a routine answers in its channel in the person's name, once, and its changes wait", async (scene) => {
	const { ai, simulator, world, alpha, results } = scene;
	grant(simulator, "Staff", PermissionFlagsBits.Administrator);
	await world.heard();
	const ada = simulator.user("ada");
	// Days away from now, whatever the time zone.
	const when = `${["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][(new Date().getUTCDay() + 3) % 7]} 9:00`;
	const channel = simulator.channel(staff).id;
	const wrong = await ada.run(general, "routine", { question: "report", when: "soon" });
	expect((await wrong.reply()).content).toStartWith("When? Days and a time");
	const set = await ada.run(general, "routine", { question: "Who is there?", when, channel });
	const list = await set.reply();
	expect(list.content).toMatch(/“Who is there\?” in <#\d+>, by <@\d+>: next <t:\d+:f>/);
	const rename = {
		name: "use_tool",
		arguments: { name: "set_nickname", arguments: { user_ids: ["@zoe"], nickname: "Zoe" } },
	};
	const rehearse = { name: "use_reading_tool", arguments: { name: "rehearse", arguments: { scenario: "member" } } };
	ai.script = [{ calls: [{ name: "list_members", arguments: {} }, rename, rehearse] }, { text: "Six people." }];
	const [file = ""] = readdirSync(world.dataDirectory).filter((name) => name.endsWith(".sqlite"));
	using database = new Database(join(world.dataDirectory, file));
	database.run("PRAGMA busy_timeout = 10000");
	// The bot's clock is the real one.
	database.run("UPDATE routines SET next_at = ?", [Date.now() - 60_000]);
	await ada.run(general, "routine", { question: "Later", when, channel });
	const written = () => simulator.world.messages.in(channel).filter(({ author }) => author.id === alpha.id);
	const plan = await until("the plan stands there", () => written()[1]);
	expect([written()[0]?.content, plan.embeds[0]?.title]).toEqual(["Six people.", "The plan: nothing is done yet"]);
	expect(results().join()).toContain("Rehearsal of member on a copy, seed 1.");
	const after = await (await ada.run(general, "routine")).reply();
	await ada.select(after, "routine", String(JSON.stringify(after.menus).match(/"value":"([^"]+)"/)?.[1]));
	await until("one is removed", () => after.content.split("\n").length === 3);
	expect(written()).toHaveLength(2);
});
