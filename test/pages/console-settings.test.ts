// The section "Settings" of the console in a real Chromium: a person sets up their server. With SCREENSHOTS=directory,
// pictures are made.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { botConfig } from "../support/bot-config.ts";
import { type ChromiumPage, chromium, openChromium } from "../support/chromium.ts";
import { gatewayToken } from "../support/gateway.ts";
import { storeBackup } from "../support/guild-settings.ts";
import { result } from "../support/stub-backend.ts";
import { until } from "../support/until.ts";
import { type ConsolePage, driveConsole } from "./console-page.ts";
import { type ConsoleWorld, hostile, startConsoleWorld } from "./console-world.ts";

const pictures = process.env.SCREENSHOTS;

let world: ConsoleWorld;
let browser: ChromiumPage;
let page: ConsolePage;

beforeAll(async () => {
	if (!chromium) return;
	[world, browser] = await Promise.all([
		startConsoleWorld({ hasApproval: false }),
		openChromium({ width: 1280, height: 900 }),
	]);
	page = driveConsole(browser, world.url);
});
afterAll(async () => {
	await browser?.[Symbol.asyncDispose]();
	await world?.[Symbol.asyncDispose]();
});
afterEach(() => {
	expect(browser?.problems.splice(0) ?? []).toEqual([]);
});

const inChromium = test.skipIf(!chromium);

const field = (key: string) => `[id="setting-${key}"]`;
const channel = (name: string) => world.simulator.channel(`The Cooks/${name}`).id;
const cooks = () => ({ instance: "alpha", guild_id: world.guild.id });
const stored = () => world.client.text("get_settings", cooks());
const set = (settings: object) => world.client.text("set_settings", { ...cooks(), settings });

/** Presses Tab until the element with this name has the focus. */
async function tabTo(name: string): Promise<void> {
	for (let stop = 0; stop < 150; stop++) {
		await browser.press("Tab");
		const focused = await page.focused();
		if (!focused?.name.startsWith(name)) continue;
		expect([name, focused.isVisible]).toEqual([name, true]);
		return;
	}
	throw new Error(`Tab does not reach ${name}`);
}

/** Presses ArrowDown until the menu with the focus shows this. */
async function pick(option: string): Promise<void> {
	for (let press = 0; press < 20; press++) {
		const shown = await browser.evaluate("document.activeElement.selectedOptions[0].text");
		if (shown === option) return;
		await browser.press("ArrowDown");
	}
	throw new Error(`the menu has no option ${option}`);
}

async function signIn(): Promise<void> {
	await page.forget();
	await page.signIn(gatewayToken);
	await page.section("Settings");
	await page.sees("Greetings", "h3");
	await page.misses("unsaved");
}

async function picture(name: string): Promise<void> {
	if (!pictures) return;
	for (const scheme of ["light", "dark"] as const)
		for (const width of [1280, 390]) {
			await browser.prefer(scheme);
			await browser.resize(width, 900);
			await browser.screenshot(`${pictures}/settings-${name}-${scheme}-${width}.png`);
		}
	await browser.prefer("light");
	await browser.resize(1280, 900);
}

inChromium("a person sets up their server by keyboard", async () => {
	await page.open();
	await tabTo("Sign in with Discord");
	await browser.press("Enter");
	await browser.arrive("simulated Discord");
	await browser.press("Tab");
	await browser.press("Enter");
	await browser.arrive("Guildhall console");
	await page.sees("connected", "#connection");
	await tabTo("Settings");
	await browser.press("Enter");
	await page.sees("Greetings", "h3");
	await tabTo("Channel");
	await pick("#general");
	await tabTo("Greeting");
	await browser.type("Hello {user}, welcome to {guild}!");
	await page.sees("Hello @newcomer, welcome to The Cooks!", ".preview");
	await tabTo("Role");
	await pick("@Newcomer");
	await tabTo("Moderation log");
	await pick("#staff");
	await tabTo("Reports");
	await pick("#staff");
	await tabTo("Raid alarm");
	await browser.type("20 joins in 60s");
	await tabTo("Act on spam");
	await browser.press("Space");
	await page.sees("7 unsaved changes", ".save-bar");
	await page.sees("Greetings · Greeting: not set → Hello {user}", ".changes");
	await picture("changes");
	await tabTo("Save");
	await browser.press("Enter");
	await page.sees("Saved.");
	await page.misses("unsaved");
	const text = await stored();
	for (const line of ["welcome.channel: #general", "join_role.role: @Newcomer", "spam.on: true", '"20 joins in 60s"'])
		expect(text).toContain(line);
	const { users, members, messages } = world.simulator.world;
	const nora = members.add(world.guild, users.add({ username: "nora" }));
	await until("she is greeted", () =>
		messages
			.in(channel("general"))
			.some(({ content }) => content === `Hello <@${nora.user.id}>, welcome to The Cooks!`),
	);
	await until("she has the role", () => (world.guild.members.get(nora.user.id)?.roles.length ?? 0) > 0);
	expect([await page.overflow(), await page.unnamed()]).toEqual([0, []]);
});

inChromium("what is wrong is said at the field, and stays there", async () => {
	await signIn();
	await page.fill(field("spam.timeout"), "a while");
	await page.fill(field("spam.times"), "2");
	await page.sees('a duration such as "30m"', ".problem");
	await page.sees("whole number from 3 to 50", ".problem");
	const ids = (await page.attribute(field("spam.timeout"), "aria-describedby"))?.split(" ") ?? [];
	expect(await page.texts(`[id="${ids[1]}"]`)).toEqual([expect.stringContaining("a duration such as")]);
	await page.click("button", "Save");
	await page.sees("Correct what is marked first.");
	expect((await page.focused())?.name).toContain("Same in messages");
	await picture("wrong");
	expect(await stored()).toContain('spam.timeout: "1d" (default)');
	await page.click("button", "Discard");
	await page.misses("unsaved");
	await page.misses("Expected");
});

inChromium("tags are added, changed and removed by keyboard, and a name that is there twice is said", async () => {
	await set({ tags: { faq: "One", rules: "Be kind" } });
	await signIn();
	await page.fill("fieldset:has(#setting-tags-help) textarea", "Two");
	await tabTo("Add to Tags");
	await browser.press("Enter");
	await browser.type("rules");
	await browser.press("Tab");
	await browser.type("line 1");
	await page.sees("Rules (again): expected 1 to 32", ".problem");
	await page.sees("Tags · Tags: faq: One → faq: Two, rules (again): line 1", ".changes");
	await page.click("button", "Remove rules");
	expect((await page.focused())?.name).toBe("Add to Tags");
	await page.click("button", "Save");
	await page.sees("Saved.");
	expect(await stored()).toContain('tags: ["faq","rules"]');
	await set({ tags: null });
});

inChromium("a change by somebody else meanwhile is shown, and nothing typed is lost", async () => {
	await signIn();
	await page.fill(field("welcome.message"), "Mine, {user}");
	await page.sees("Mine, @newcomer", ".preview");
	await set({ "welcome.message": "Theirs, {user}", "auto_role.min_messages": 7 });
	await page.click("button", "Save");
	await page.sees("Somebody else has changed settings meanwhile", ".conflict");
	await page.sees("Theirs, {user}", ".conflict");
	await page.sees("Theirs, {user} → Mine, {user}", ".save-bar > .changes");
	await picture("conflict");
	expect(await browser.evaluate(`document.getElementById("setting-auto_role.min_messages").value`)).toBe("7");
	expect(await stored()).toContain("Theirs");
	await page.click("button", "Save");
	await page.sees("Saved.");
	expect(await stored()).toContain("Mine, {user}");
});

inChromium("typing while a slow bot checks what is to be saved does not keep it from being saved", async () => {
	await signIn();
	await browser.evaluate(`const quick = fetch; const wait = () => new Promise((done) => setTimeout(done, 1_000));
		globalThis.fetch = (...given) => quick(...given).then((answer) => wait().then(() => answer)); true`);
	await page.fill(field("moderation.appeal"), "Slowly");
	await page.click("button", "Save");
	await page.fill(field("welcome.summary"), "{count} more");
	await page.sees("Saved.");
	expect(await stored()).toContain("Slowly");
});

inChromium("when the session ends, what was typed is there after the next sign-in, and nowhere else", async () => {
	await set({ "welcome.message": "Before" });
	await signIn();
	await page.fill(field("welcome.message"), "Typed, {user}");
	await page.sees("Typed, @newcomer", ".preview");
	await page.forget();
	await page.click("button", "Save");
	await page.sees("Your session has ended");
	await set({ "welcome.message": "After" });
	await page.fill("#token", gatewayToken);
	await page.click("form button", "Sign in");
	await page.sees("Before → After", ".conflict");
	await page.sees("After → Typed, {user}", ".save-bar > .changes");
	await page.click("button", "Save");
	await page.sees("Saved.");
	expect(await stored()).toContain("Typed, {user}");
	const kept = () => browser.evaluate("sessionStorage.length");
	expect(await kept()).toBe(0);
	await page.fill(field("welcome.message"), "Typed again");
	await page.sees("1 unsaved change", ".save-bar");
	expect(await kept()).toBe(1);
	await page.open("#settings");
	await page.sees("Typed again", ".changes");
	await page.click("button", "Sign out");
	await page.sees("Token", "form");
	expect(await kept()).toBe(0);
});

inChromium("the last change is undone, and a former version returns, after a look at what changes", async () => {
	await set({ "moderation.appeal": "First", "auto_role.min_messages": 1 });
	await set({ "moderation.appeal": "Second" });
	await signIn();
	await page.click("summary", "History");
	await page.sees("First → Second", "tr:first-child");
	await page.sees("set_settings", "tr:first-child");
	await page.sees("console", "tbody");
	await page.sees("Ada", "tbody");
	await browser.evaluate("document.querySelector('summary').scrollIntoView()");
	await picture("history");
	await page.click("button", "Undo the last change");
	await page.sees("Second → First", ".save-bar");
	expect(await stored()).toContain("Second");
	await page.click("button", "Save");
	await page.sees("Saved.");
	expect(await stored()).toContain("First");
	await page.sees("Second → First", "tr:first-child");
	await page.click("button", "Return to version 2");
	await page.sees("How to appeal: First → not set", ".save-bar");
	await page.sees("Messages: 1 → not set", ".save-bar");
	await page.click("button", "Save");
	await page.sees("How to appeal: First → not set", "tr:first-child");
	expect(await stored()).not.toContain("First");
	expect([await page.overflow(), await page.unnamed()]).toEqual([0, []]);
});

inChromium("a rehearsal fills in the setting that it advises", async () => {
	await set({ "moderation.raid": null });
	await signIn();
	await page.click("button", "Go to Rehearse");
	await page.sees("no rehearsal has restored one in 30 days");
	await page.choose("details[open] select", "raid");
	await page.click("details[open] button", "Rehearse");
	await page.sees("moderation.raid is not set, so nothing would happen", "details[open] .problem");
	await page.fill(field("moderation.raid"), "10 joins in 60s");
	await browser.evaluate("globalThis.steps = []; addEventListener('step', ({ detail }) => steps.push(detail)); true");
	await page.click("details[open] button", "Rehearse");
	await page.sees("60 of 60 accounts joined");
	expect(await browser.evaluate("steps.join()")).toContain("playing raid");
	await page.sees("off → on", ".save-bar");
	await page.sees("10 joins in 60s", ".save-bar");
	await picture("rehearsal");
	await page.click("button", "Discard");
	await browser.evaluate("globalThis.online = fetch; fetch = () => Promise.reject(new Error('offline')); true");
	await page.click("details[open] button", "Rehearse");
	await page.misses("Running…", "details[open] [role=status]");
	await browser.evaluate("fetch = online; true");
	await page.choose("details[open] select", "member");
	await page.click("details[open] .chip", "@Regular");
	await page.click("details[open] button", "Rehearse");
	await page.sees("A member with @Regular");
	await page.choose("details[open] select", "document");
	await page.fill("details[open] textarea", "channels: [{ name: planned }]");
	await page.click("details[open] button", "Rehearse");
	await page.sees("The plan: create 1");
	const parts = ["everyone", "roles", "categories", "channels", "members", "bot"];
	const backup = await world.client.text("export_guild", { ...cooks(), parts });
	await world.alpha.stop();
	await storeBackup(botConfig({ dataDirectory: `${world.directory}/alpha` }), world.guild.id, backup);
	await world.alpha.start();
	await until("the gateway has the bot again", () => stored().catch(() => ""));
	await page.click("details[open] button", "Prove it now");
	await page.sees("a rehearsal restored");
});

inChromium("a role menu is built by keyboard and posted", async () => {
	await signIn();
	await page.click("button", "Go to Role menu");
	expect((await page.focused())?.name).toBe("Role menu");
	await tabTo("Channel");
	await pick("#general");
	await tabTo("Title");
	await browser.type("Your taste");
	await tabTo("Text");
	await browser.type("What do you like?");
	await tabTo("Members choose");
	await pick("One");
	await tabTo("Role");
	await pick("@Regular");
	await tabTo("Emoji");
	await browser.type("🍲");
	await tabTo("Description");
	await browser.type("Soup every day");
	await tabTo("Add a role");
	await browser.press("Enter");
	expect((await page.focused())?.name).toContain("Role");
	await pick("@Newcomer");
	await tabTo("Label");
	await browser.type("Bread");
	await page.sees("🍲 Regular", ".preview");
	await page.sees("Soup every day", ".preview");
	await page.sees("Bread", ".preview");
	await picture("menu");
	expect([await page.overflow(), await page.unnamed()]).toEqual([0, []]);
	await page.fill(".menu-row:first-of-type input[maxlength='64']", "no emoji");
	await page.click("button", "Post the menu");
	await page.sees("expected a Unicode emoji", "form .problem");
	await page.sees("Bread", ".preview");
	await page.fill(".menu-row:first-of-type input[maxlength='64']", "🍲");
	await page.click("button", "Post the menu");
	await page.sees("Posted.");
	const menu = world.simulator.world.messages.in(channel("general")).at(-1);
	expect(menu?.content).toBe("## Your taste\nWhat do you like?");
	const options = [{ label: "Regular", description: "Soup every day", emoji: { name: "🍲" } }, { label: "Bread" }];
	expect(menu?.components).toMatchObject([{ components: [{ max_values: 1, options }] }]);
	await page.misses("Bread", ".preview");
});

inChromium("while the bot is away, what was typed stays", async () => {
	await signIn();
	await page.fill(field("moderation.appeal"), "Write to the cooks");
	await page.sees("1 unsaved change", ".save-bar");
	await world.alpha.stop();
	await page.click("button", "Save");
	await page.sees("alpha:", ".save-bar .problem");
	await page.section("Live");
	await page.section("Settings");
	await page.sees("Write to the cooks", ".changes");
	await world.alpha.start();
	await page.click("button", "Save");
	await page.sees("Saved.");
	expect(await stored()).toContain("Write to the cooks");
	await page.misses("unsaved");
});

inChromium("what a bot refuses to store is said, and nothing typed is lost", async () => {
	const described = { key: "a.b", label: "Colour", help: "Any", kind: "text", value: null, default: null };
	const many = {
		...described,
		key: "a.c",
		label: "Friends",
		kind: "many",
		list: "friends",
		default: [],
		value: ["f2"],
	};
	const friends = Array.from({ length: 20 }, (_, at) => ({ id: `f${at}`, name: at === 3 ? hostile : `Friend ${at}` }));
	const sections = [{ title: "Things", fields: [described, many] }];
	const form = {
		version: 1,
		calls: { change: "act" },
		problems: [],
		warnings: [],
		previews: {},
		sections,
		lists: { friends },
	};
	world.gamma.on["guildhall/settings"] = ({ id }) => result(id, JSON.stringify(form));
	world.gamma.on.act = ({ id }) =>
		result(id, '{"content":[{"type":"text","text":"The bot cannot reach its database."}],"isError":true}');
	await signIn();
	await page.choose("#server", "gamma 900000000000000001");
	await page.fill(field("a.b"), "green");
	await page.click("button", "Save");
	await page.sees("The bot cannot reach its database.", ".save-bar .problem");
	await page.sees("not set → green", ".changes");
	const checks = world.gamma.received("guildhall/settings").length;
	await until("it is checked again", () => world.gamma.received("guildhall/settings").length > checks);
	await page.sees("The bot cannot reach its database.", ".save-bar .problem");
	// A long list is a menu, and what was chosen of it.
	await page.choose("select[aria-label='Add to Friends']", "f3");
	await page.sees("Things · Friends: Friend 2 → Friend 2, <img src=x", ".changes");
	await page.click("input[value=f2]");
	await page.sees("Things · Friends: Friend 2 → <img src=x", ".changes");
	await page.misses("Role menu");
	await browser.resize(390, 844);
	expect([await page.overflow(), await page.unnamed()]).toEqual([0, []]);
	await browser.resize(1280, 900);
});
