// What an operator does at night in the console, in Chromium: each job takes at most three clicks from the first view.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type ChromiumPage, chromium, openChromium } from "../support/chromium.ts";
import { gatewayToken } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { type ConsolePage, driveConsole } from "./console-page.ts";
import { type ConsoleWorld, startConsoleWorld } from "./console-world.ts";

/** ">": what is clicked or chosen; "type": a text and Enter; all else: what is seen where. */
const jobs: Record<string, string> = {
	"which bot is down, and why": "article: it was stopped on purpose | .bar: (gamma: stopped)",
	"what waits for me": "nav a: Approvals 1",
	"who deleted that message":
		"> nav a: History | type [type=search]: delete_messages | .bar: 1 done | > button: Details of delete_messages | tr.details: key assistant",
	"what did this assistant change today":
		"> nav a: History | > .filters label:nth-of-type(3) select = changed | type [type=search]: assistant | tbody: create_role",
	"yesterday's failed bans":
		"> nav a: History | > .filters label:nth-of-type(1) select = 7 | type [type=search]: ban | .bar: 1 refused | > tr.warn button: Details of ban | tr.details: owns the guild",
	"why was this call refused": "> button: Details of get_member | tr.details .answer: refused",
	"did the backup run": "> nav a: Try | > #tool = list_backups | > button: Run | pre: of The Cooks (ID: ",
	"a key for a colleague that can only read":
		"> nav a: Connect | > button: Create a key and fill it in | .panel: the new key claude-code",
	"approve a call":
		"> nav a: Approvals | > button: Approve | > dialog button: Approve | #message: done | main: No call waits",
	"end this key": "> nav a: Access | > button: Revoke the key assistant | > dialog button: Revoke | #message: Revoked",
	"restart a bot": "> button: Restart beta | #message: beta listens",
	"what did this bot log last": "> button: Log alpha | dialog: logged in",
};

describe.skipIf(!chromium)("jobs at night", () => {
	let world: ConsoleWorld;
	let browser: ChromiumPage;
	let page: ConsolePage;
	beforeAll(async () => {
		[world, browser] = await Promise.all([startConsoleWorld(), openChromium({ width: 1280, height: 800 })]);
		page = driveConsole(browser, world.url);
		const { client, simulator, directory, up } = world;
		const assistant = world.clientWith(await world.createKey("assistant"));
		const bakers = { instance: "beta" };
		const channel_id = simulator.channel("The Bakers/general").id;
		const { id } = await simulator.user("zoe").say(channel_id, "Free bread");
		await assistant.text("delete_messages", { ...bakers, channel_id, message_ids: [id] });
		await assistant.text("create_role", { ...bakers, name: "Bread lovers" });
		await client.text("get_member", { ...bakers, user_ids: "100000000000000001" });
		await client.text("ban", { ...bakers, user_ids: [simulator.user("bob_the_baker").id], reason: "spam" });
		void assistant.text("ban", { instance: "alpha", user_ids: [simulator.user("liwei").id], reason: "spam" });
		const [file = ""] = readdirSync(join(directory, "beta")).filter((name) => name.endsWith(".sqlite"));
		using database = new Database(join(directory, "beta", file));
		database.run("PRAGMA busy_timeout = 10000");
		const update = "UPDATE tool_calls SET at = at - 108000000 WHERE tool = 'ban'";
		await until("the ban was 30 hours ago", () => database.run(update).changes > 0);
		up.set("gamma", { state: "stopped", isHalted: true });
		await page.signIn(gatewayToken);
	});
	afterAll(async () => {
		await browser[Symbol.asyncDispose]();
		await world[Symbol.asyncDispose]();
	});
	beforeEach(() => page.open());

	test.each(Object.entries(jobs))("%s", async (_, steps) => {
		let clicks = 0;
		for (const step of steps.split(" | ")) {
			const [, how = "", selector = "", sign, text = ""] = /^(> |type |)(.*?)(: | = )(.*)$/.exec(step) ?? [];
			if (how === "> ") clicks++;
			if (how === "type ") await page.fill(selector, text).then(() => browser.press("Enter"));
			else if (how === "") await page.sees(text, selector);
			else await (sign === ": " ? page.click(selector, text) : page.choose(selector, text));
		}
		expect(clicks).toBeLessThanOrEqual(3);
		expect(browser.problems).toEqual([]);
	});
});
