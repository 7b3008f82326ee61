// The console's sections in a real Chromium, checked with axe-core, at three sizes, light and dark, and with the keyboard.

import { expect, test } from "bun:test";
import { chromium, openChromium } from "../support/chromium.ts";
import { gatewayToken } from "../support/gateway.ts";
import { unreachable, violations } from "./axe.ts";
import { driveConsole } from "./console-page.ts";
import { startConsoleWorld } from "./console-world.ts";

const it = test.skipIf(!chromium);
it("axe-core finds nothing in any section, and Tab reaches all of it", async () => {
	await using world = await startConsoleWorld();
	await using browser = await openChromium({ width: 1280, height: 900 });
	const page = driveConsole(browser, world.url);
	const key = await world.createKey("assistant");
	await world.grant("Claude");
	const settings = { "welcome.message": "Hello", tags: { faq: "Questions" } };
	await world.client.text("set_settings", { instance: "alpha", guild_id: world.guild.id, settings });
	await page.open();

	/** What is done before each check. Each begins where the one before it ends. */
	const views: Record<string, () => Promise<unknown>> = {
		"sign-in": () => page.sees("Token", "form"),
		"a refused sign-in": async () => {
			await page.fill("#token", "wrong-token-of-a-person");
			await page.click("form button", "Sign in");
			await page.sees("MCP_AUTH_TOKEN", ".problem");
		},
		"live, with the details of a call": async () => {
			await page.signIn(gatewayToken);
			await page.click("button", "Details of set_settings");
			await page.sees("done", "tr.details");
			await page.click("article:nth-child(1) summary");
		},
		"the log of a bot": async () => {
			await page.click("button", "Log alpha");
			await page.sees("logged in", "dialog");
		},
		"a bot that is stopped, and a bot to add": async () => {
			await page.click("dialog button", "Close");
			await page.click("summary", "Add a bot");
			world.up.set("gamma", { state: "stopped", isHalted: true });
			await page.sees("it was stopped on purpose", "article");
		},
		"history, with the details of a call": async () => {
			await page.section("History");
			// Its calls are drawn anew for each period, without details that were open.
			await page.sees("Calls by hour");
			await page.choose(".filters label:nth-of-type(1) select", "90");
			await page.sees("Calls by day");
			await page.click("button", "Details of set_settings");
			await page.sees("may change", "tr.details");
		},
		"approvals, with a call that waits": async () => {
			await page.section("Approvals");
			const user_ids = [world.simulator.user("liwei").id];
			void world.clientWith(key).text("ban", { instance: "alpha", user_ids, reason: "bread" });
			await page.sees("bread", "article pre");
		},
		"a question": async () => {
			await page.click("button", "Approve");
			await page.sees("The bot runs it at once", "dialog");
		},
		settings: async () => {
			world.up.set("gamma", { state: "running", isHalted: undefined });
			await page.click("dialog button", "Cancel");
			await page.click("button", "Deny");
			await page.sees("No call waits");
			await page.section("Settings");
			await page.sees("Greetings", "h3");
		},
		"settings with changes, problems, history, a rehearsal, and a role menu": async () => {
			await page.fill('[id="setting-welcome.message"]', "Hello {user}");
			await page.sees("Hello @newcomer", ".preview");
			await page.fill('[id="setting-spam.timeout"]', "a while");
			await page.sees("a duration such as", ".problem");
			await page.click("summary", "History");
			await page.sees("set_settings", "tbody");
			await page.click("button", "Go to Rehearse");
			await page.sees("proven backup");
			await page.choose("details[open] .fields select", "member");
			await page.click("button", "Go to Role menu");
			await page.fill(".menu-row input", "Bread");
			await page.sees("Bread", ".preview");
		},
		"keys and connections": async () => {
			await page.section("Access");
			await page.sees("Claude", "tbody");
		},
		connect: async () => {
			await page.section("Connect");
			await page.sees("claude mcp add");
		},
		"connect, with a new key and its limits": async () => {
			await page.click("summary", "more limits");
			await page.click("button", "Create a key");
			await page.sees("It contains the new key", ".panel");
		},
		"a tool with a wrong argument": async () => {
			await page.section("Try");
			await page.choose("#tool", "show_kinds");
			await page.sees("Shows its arguments");
			await page.fill("[name=count]", "12");
			await page.click("button", "Run");
			await page.sees("The maximum is 9.");
		},
		"the result of a tool": async () => {
			await page.fill("[name=text]", "bread");
			await page.fill("[name=count]", "9");
			await page.click("button", "Run");
			await page.sees("Result", "h3");
		},
	};
	const found: Record<string, string[]> = {};
	for (const [view, open] of Object.entries(views)) {
		await open();
		found[view] = [...(await violations(browser)), ...(await unreachable(browser))];
	}
	expect(Object.entries(found).filter(([, problems]) => problems.length > 0)).toEqual([]);
	expect(browser.problems).toEqual([]);
}, 300_000);
