// What the pipeline tells the moderation record of a call: before the first write, and how each step ended.

import { describe, expect, test } from "bun:test";
import { RESTJSONErrorCodes } from "discord.js";
import { writeEach } from "../../../src/bot/tool/bulk.ts";
import { destructiveTool, writeTool } from "../../../src/bot/tool/define.ts";
import { noteItem } from "../../../src/discord/rest/rest.ts";
import { ToolError } from "../../../src/lib/tool-error.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { about, banRequest, draftFor, peopleInput, startRecording } from "./recording.ts";

/** Bans everybody in `user_ids`, one request after another. */
const banEach = destructiveTool({
	...about,
	name: "ban_each",
	input: peopleInput,
	plan: ({ user_ids }, { guild }) => ({
		preview: `Would ban ${user_ids.length}.`,
		record: draftFor(user_ids),
		act: (call) =>
			writeEach(
				{
					items: user_ids,
					idOf: (id) => id,
					describe: (id) => id,
					write: (id) => banRequest(guild, id),
					done: (count, of) => `Banned ${count} of ${of}.`,
				},
				call,
			),
	}),
});

/** Bans the first in `user_ids`. */
const banFirst = destructiveTool({
	...about,
	name: "ban_first",
	input: peopleInput,
	plan: ({ user_ids }, { guild }) => ({
		preview: "Would ban.",
		record: { ...draftFor(user_ids), endsAt: 5, detail: ["detail"] },
		write: () => banRequest(guild, user_ids[0] ?? ""),
		result: "Banned.",
	}),
});

/** Like `ban_first`, without a preview. */
const banOne = writeTool({
	...about,
	name: "ban_one",
	input: peopleInput,
	plan: ({ user_ids }, { guild }) => ({
		record: draftFor(user_ids),
		async act() {
			await banRequest(guild, user_ids[0] ?? "");
			return "Banned.";
		},
	}),
});

/** Records nothing. */
const silent = writeTool({
	...about,
	name: "silent",
	input: peopleInput,
	async run({ user_ids }, { guild }) {
		await banRequest(guild, user_ids[0] ?? "");
		return "Banned.";
	},
});

/** Fails as the test says. */
const failing = (error: unknown) =>
	writeTool({
		...about,
		name: "failing",
		input: peopleInput,
		plan: ({ user_ids }) => ({
			record: draftFor(user_ids),
			async act() {
				throw error;
			},
		}),
	});

const start = () => startRecording({ tools: [banEach, banFirst, banOne, silent] });

const botTest = testWith(start);

const ban = (id: string) => `PUT /bans/${id}`;

describe("cases are stored before the first request, and settled after the last", () => {
	test.each(["ban_each", "ban_first", "ban_one"])("of %s", async (name) => {
		await using bot = await start();
		const zoe = bot.id("zoe");
		const { text, isError } = await bot.call(name, { user_ids: [zoe], reason: "spam", tell: true });
		expect(isError).toBe(false);
		expect(text).toEndWith("\nCase #1.");
		expect(bot.events).toEqual(["open", ban(zoe), "settle"]);
		const [call] = bot.calls;
		expect(call).toMatchObject({ reason: "spam", tell: true });
		expect(call?.draft).toMatchObject({ action: "ban", userIds: [zoe] });
		expect(call?.guild.id).toBe(bot.guild.id);
		expect([call?.principal, call?.approvedBy]).toEqual([undefined, undefined]);
		const [end] = bot.ends;
		expect(end?.rest).toBe(name === "ban_each" ? "not done" : "done");
		expect([...(end?.outcomes ?? [])]).toEqual(name === "ban_each" ? [[zoe, "done"]] : []);
		expect(end?.why).toBeUndefined();
	});

	botTest("with several requests", async (bot) => {
		const ids = ["zoe", "mona_lisa", "jose.garcia"].map(bot.id);
		await bot.call("ban_each", { user_ids: ids });
		expect(bot.events).toEqual(["open", ...ids.map(ban), "settle"]);
		expect([...(bot.ends[0]?.outcomes ?? [])]).toEqual(ids.map((id) => [id, "done"]));
	});
});

botTest("a call without reason and tell says so, and a plan can say what is recorded", async (bot) => {
	await bot.call("ban_first", { user_ids: [bot.id("zoe")] });
	expect(bot.calls[0]).toMatchObject({ reason: undefined, tell: undefined });
	expect(bot.calls[0]?.draft).toMatchObject({ endsAt: 5, detail: ["detail"] });
});

test("the record knows who made the call, and who approved it", async () => {
	const tools = [banOne];
	await using bot = await startRecording({ tools, changes: { approvedBy: "@ada" } });
	const principal = { id: "key:one", name: "one", access: "all" as const, guilds: [bot.guild.id] };
	await bot.call("ban_one", { user_ids: [bot.id("zoe")] }, principal);
	expect(bot.calls[0]).toMatchObject({ principal, approvedBy: "@ada" });
});

describe("nothing is recorded", () => {
	botTest("of a dry run", async (bot) => {
		for (const name of ["ban_each", "ban_first"]) {
			const args = { user_ids: [bot.id("zoe")], dry_run: true };
			const { text } = await bot.call(name, args);
			expect(text).toStartWith("Dry run: nothing was done.");
		}
		expect(bot.events).toEqual([]);
	});

	test("of a call that is refused before it could change anything", async () => {
		const needy = destructiveTool({
			...about,
			name: "needy",
			input: peopleInput,
			permissions: ["Administrator"],
			plan: ({ user_ids }) => ({ preview: "", record: draftFor(user_ids), write: async () => {}, result: "" }),
		});
		const refusing = destructiveTool({
			...about,
			name: "refusing",
			input: peopleInput,
			plan() {
				throw new ToolError("Not possible.");
			},
		});
		await using bot = await startRecording({ tools: [needy, refusing] });
		for (const name of ["needy", "refusing"])
			expect(await bot.call(name, { user_ids: ["1"] })).toMatchObject({ isError: true });
		expect(bot.events).toEqual([]);
	});

	botTest("of a tool that says so, or if nobody keeps a record", async (bot) => {
		const zoe = bot.id("zoe");
		await bot.call("silent", { user_ids: [zoe] });
		expect(bot.events).toEqual([ban(zoe)]);
		for (const open of [undefined, async () => undefined]) {
			await using other = await startRecording({ tools: [banOne], open });
			const id = other.id("zoe");
			const { text } = await other.call("ban_one", { user_ids: [id] });
			expect([text, other.events]).toEqual(["Banned.", [ban(id)]]);
		}
	});
});

test("if the cases cannot be stored, nothing is done", async () => {
	const error = new ToolError("The record is closed.");
	const open = () => Promise.reject(error);
	await using bot = await startRecording({ tools: [banEach, banOne], open });
	for (const name of ["ban_each", "ban_one"])
		expect(await bot.call(name, { user_ids: [bot.id("zoe")] })).toEqual({
			text: "The record is closed.",
			isError: true,
		});
	expect(bot.events).toEqual([]);
});

describe("a step that fails", () => {
	const tools = [banEach, banFirst, banOne];

	test.each([
		["refuses", "not done"],
		["drops", "unknown"],
		["fails", "unknown"],
		["does not answer", "unknown"],
	] as const)("because Discord %s is %s", async (how, outcome) => {
		for (const tool of tools) {
			await using bot = await startRecording({ tools });
			const { faults } = bot.simulator;
			const put = "PUT /guilds/*/bans/*";
			if (how === "refuses") faults.refuse(put, RESTJSONErrorCodes.MissingPermissions);
			if (how === "drops") faults.drop(put, { when: "after" });
			if (how === "fails") faults.fail(put, 500);
			const stall = how === "does not answer" && faults.stall(put);
			const pending = bot.call(tool.name, { user_ids: [bot.id("zoe")] });
			if (stall) {
				await until("the request is held", () => stall.hits === 1);
				bot.expire();
			}
			const { text, isError } = await pending;
			expect(isError).toBe(true);
			const [end] = bot.ends;
			expect([tool.name, end?.rest, end?.outcomes.size]).toEqual([tool.name, outcome, 0]);
			expect(end?.why).toBe(text);
			expect(bot.events.at(-1)).toBe("settle");
		}
	});

	botTest("among several has its own outcome, and those after it were not reached", async (bot) => {
		const [first = "", second = "", third = "", fourth = ""] = [
			...["zoe", "mona_lisa", "jose.garcia", "ada"].map(bot.id),
		];
		const { faults } = bot.simulator;
		faults.refuse(`PUT /guilds/*/bans/${second}`, 50013);
		faults.drop(`PUT /guilds/*/bans/${third}`, { when: "before" });
		const user_ids = [first, second, third, fourth];
		const { text, isError } = await bot.call("ban_each", { user_ids });
		expect(isError).toBe(false);
		expect(text).toEndWith("\nCase #1.");
		const [end] = bot.ends;
		expect([...(end?.outcomes ?? [])]).toEqual([
			[first, "done"],
			[second, "not done"],
			[third, "unknown"],
		]);
		expect(end?.rest).toBe("not done");
		expect(end?.why).toBeUndefined();
	});

	test.each([
		["a ToolError", new ToolError("Not now."), "not done", "Not now."],
		["a bug", new TypeError("secret"), "unknown", undefined],
	] as const)("with %s", async (_, error, rest, why) => {
		await using bot = await startRecording({ tools: [failing(error)] });
		const call = bot.call("failing", { user_ids: ["1"] });
		await call.catch(() => {});
		expect(bot.ends).toEqual([{ outcomes: new Map(), rest, why }]);
	});

	test("after others were done leaves the others done", async () => {
		const half = writeTool({
			...about,
			name: "half",
			input: peopleInput,
			plan: ({ user_ids }) => ({
				record: draftFor(user_ids),
				async act() {
					noteItem("1", "done");
					throw new ToolError("No more.");
				},
			}),
		});
		await using bot = await startRecording({ tools: [half] });
		await bot.call("half", { user_ids: ["1", "2"] });
		expect(bot.ends).toEqual([{ outcomes: new Map([["1", "done"]]), rest: "not done", why: "No more." }]);
	});
});
