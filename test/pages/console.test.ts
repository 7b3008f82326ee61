// The console in a real Chromium, with a real gateway and real bots; the simulator stands in for Discord. A test fails
// on uncaught exceptions, on errors that the page logs, and on violations of its content security policy. Chromium's
// own lines about failed requests are ignored: they appear whenever a server is down or refuses a token. With
// SCREENSHOTS=.github/screenshots, the pictures for the README are made.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { DemoFacts } from "../../src/demo/demo.ts";
import { consoleLink } from "../../src/lib/console-link.ts";
import { type ChromiumPage, chromium, openChromium } from "../support/chromium.ts";
import { createGatewayClient, gatewayToken } from "../support/gateway.ts";
import { startProgram } from "../support/program.ts";
import { until } from "../support/until.ts";
import { type ConsolePage, driveConsole } from "./console-page.ts";
import { type ConsoleWorld, hostile, startConsoleWorld } from "./console-world.ts";

if (!chromium) console.warn("no page is tried in a browser: chromium is not installed");

/** The directory for pictures. */
const pictures = process.env.SCREENSHOTS;

const wide = { width: 1280, height: 800 };
const narrow = { width: 390, height: 844 };
const sections = ["Live", "History", "Approvals", "Settings", "Access", "Connect", "Try"] as const;

/** For each section, a text that it shows when it has loaded. */
const shownIn = {
	Live: "list_guilds",
	History: "list_guilds",
	Approvals: "No call waits",
	Settings: "Greetings",
	Access: "Claude",
	Connect: "claude mcp add",
	Try: "only read",
};

describe.skipIf(!chromium)("in Chromium", () => {
	let world: ConsoleWorld;
	let browser: ChromiumPage;
	let page: ConsolePage;
	beforeAll(async () => {
		[world, browser] = await Promise.all([startConsoleWorld(), openChromium(wide)]);
		page = driveConsole(browser, world.url);
	});
	afterAll(async () => {
		await browser[Symbol.asyncDispose]();
		await world[Symbol.asyncDispose]();
	});
	beforeEach(async () => {
		await browser.resize(wide.width, wide.height);
		await page.forget();
	});
	afterEach(() => {
		expect(browser.problems.splice(0)).toEqual([]);
	});

	test("a wrong token is refused, the right one signs in, and the page keeps neither", async () => {
		await page.open();
		await page.fill("#token", "wrong-token-of-a-person");
		await page.click("form button", "Sign in");
		await page.sees("MCP_AUTH_TOKEN", ".problem");
		expect(await page.kept()).not.toContain("wrong-token-of-a-person");
		await page.fill("#token", gatewayToken);
		await page.click("form button", "Sign in");
		await page.sees("Signed in");
		await page.sees("alpha", ".bot");
		for (const name of sections) await page.section(name);
		expect(await page.kept()).not.toContain(gatewayToken);
		await page.open();
		await page.sees("Signed in");
		await page.click("button", "Sign out");
		await page.sees("Token", "form");
		await page.open();
		await page.sees("Token", "form");
	});

	test("a link from the terminal signs in once, and stays nowhere", async () => {
		const link = await consoleLink(world.url, gatewayToken, Date.now());
		const [, hash = ""] = link.split("#");
		await page.open(`#${hash}`);
		await page.sees("Signed in");
		expect(await browser.evaluate("location.href")).toBe(world.url);
		expect(await page.kept()).not.toContain(hash);
		await page.forget();
		await page.open(`#${hash}`);
		await page.sees("This link was used before", ".problem");
		expect(await browser.evaluate("location.hash")).toBe("");
	});

	test("bots are shown with their state, and calls as they happen", async () => {
		await page.signIn(gatewayToken);
		await page.sees("3 of 3 bots online");
		await page.sees("online", ".bot");
		await world.client.text("list_guilds", { instance: "alpha" });
		await page.sees("list_guilds", "tbody tr");
		await world.client.text("get_member", { instance: "beta", user_ids: "100000000000000001" });
		await page.sees("refused", "tbody tr");
		await page.click("button", "Details of get_member");
		await page.sees("refused: ", "tr.details .answer");
		await page.click("button", "Details of get_member");
		const rows = await page.texts("tbody tr");
		expect(rows[0]).toContain("get_member");

		await page.choose(".filters label:nth-of-type(1) select", "alpha");
		await page.misses("get_member", "tbody");
		await page.sees("list_guilds", "tbody");
		await page.choose(".filters label:nth-of-type(2) select", "warn");
		await page.misses("list_guilds", "tbody");
		await page.click("button", "All calls");
		await page.sees("get_member", "tbody");
		await page.click("button", "Calls of beta");
		await page.misses("list_guilds", "tbody");
		await page.click("button", "All calls");
		await page.fill("[type=search]", "Holder of the TOKEN");
		await page.sees("list_guilds", "tbody");
		await page.fill("[type=search]", "list_g");
		await page.misses("get_member", "tbody");
		await page.click("button", "All calls");
		await page.sees("get_member", "tbody");

		await page.click("button", "Pause");
		await world.client.text("list_channels", { instance: "beta" });
		await page.sees("Paused. 1 new call", "#call-count");
		expect(await page.texts("tbody code")).not.toContain("list_channels");
		await page.click("button", "Continue");
		await page.sees("list_channels", "tbody");

		await page.click("button", "Details of list_channels");
		await page.sees("done", "tr.details");
		// Details stay open while a filter hides the call.
		await page.choose(".filters label:nth-of-type(2) select", "bad");
		await page.misses("list_channels", "tbody");
		await page.click("button", "All calls");
		await page.sees("done", "tr.details");
		await page.click("button", "Details of list_channels");
		await page.misses("Request", "tbody");
	});

	test("calls of the bots' audit logs are searched, counted, shown and exported", async () => {
		const { client } = world;
		await client.text("list_roles", { instance: "alpha" });
		await client.text("get_member", { instance: "beta", user_ids: "100000000000000002" });
		await page.signIn(gatewayToken);
		await page.section("History");
		await page.sees("list_roles", "tbody");
		await page.sees("Without gamma: ", ".problem");
		expect(await page.attribute(".chart svg", "aria-label")).toMatch(/^Calls by hour; the highest bar is \d+$/);

		await page.choose(".filters label:nth-of-type(2) select", "beta");
		await page.misses("list_roles", "tbody");
		await page.choose(".filters label:nth-of-type(2) select", "");
		await page.choose(".filters label:nth-of-type(3) select", "refused");
		await page.misses("list_roles", "tbody");
		await page.sees("get_member", "tbody");
		await page.choose(".filters label:nth-of-type(3) select", "");
		await page.fill("[type=search]", "100000000000000002");
		await browser.press("Enter");
		await page.misses("list_roles", "tbody");
		await page.sees("0 done", "[role=status]");
		await page.sees("1 refused", "[role=status]");
		await page.click("button", "Details of get_member");
		await page.sees("100000000000000002", "tr.details .answer");

		await browser.evaluate(
			"URL.createObjectURL = (blob) => { void blob.text().then((text) => { globalThis.csv = text; }); return '#history'; }; true",
		);
		await page.click("button", "Export as CSV");
		const csv = await until("the file", () => browser.evaluate<string>("globalThis.csv"));
		const [heads, ...lines] = csv?.split("\r\n") ?? [];
		expect(heads).toStartWith('"at","instance","tool","guild","guild_name","outcome"');
		const line = /^"[^"]+","beta","get_member","\d+","The Bakers","refused","\d+"/;
		expect(lines).toEqual([expect.stringMatching(line), ""]);

		const [zoe, { id: guild_id }] = [world.simulator.user("zoe").id, world.simulator.guild("The Bakers")];
		await client.text("get_member", { guild_id, user_ids: zoe });
		await page.fill("[type=search]", "@ZOE");
		await browser.press("Enter");
		await page.misses("refused", "tbody");
		await page.sees("get_member", "tbody");

		await client.text("create_role", { guild_id, name: "Bread lovers" });
		await page.fill("[type=search]", "bread LOVERS");
		await browser.press("Enter");
		await page.click("button", "Details of create_role");
		await page.click("button", "Before and after");
		await page.sees("created role @Bread lovers", "tr.details pre");

		await page.fill("[type=search]", "nobody called this");
		await browser.press("Enter");
		await page.sees("No bot has recorded such a call in this time.");
		// All pages are exported, and no name becomes a formula.
		await browser.evaluate(
			`globalThis.csv = undefined; let left = 60; const call = { at: 0, guild: "1", names: { 1: " =1+1" } };
			globalThis.fetch = async () => Response.json({ unavailable: [], calls: Array(--left > 0 ? 200 : 1).fill(call) }); true`,
		);
		await page.click("button", "Export as CSV");
		await page.sees("Exported 11801 calls.", "#message");
		const all = await until("the file", () => browser.evaluate<string>("globalThis.csv"));
		expect(all?.split("\r\n").filter((line) => line.includes('"\' =1+1"'))).toHaveLength(11_801);
	});

	test("a call that waits is approved after a question, or denied", async () => {
		await page.signIn(gatewayToken);
		await page.section("Approvals");
		await page.sees("No call waits");
		const { id } = world.simulator.user("liwei");
		const client = world.clientWith(await world.createKey("assistant"));
		/** Calls a tool that bans someone. Resolves with its result after somebody has decided. */
		const ban = (reason: string) => client.text("ban", { instance: "alpha", user_ids: [id], reason });

		const denied = ban("bread");
		await page.sees("bread", "article pre");
		await page.sees("the key assistant", "article");
		await page.sees("1", "nav a[href='#approvals'] .badge");
		await page.click("button", "Deny");
		await page.sees("No call waits");
		expect(await denied).toContain("denied");

		const approved = ban("cake");
		await page.sees("cake", "article pre");
		await page.click("button", "Approve");
		await page.sees("The bot runs it at once", "dialog");
		await page.click("dialog button", "Cancel");
		await page.sees("cake", "article pre");
		expect(world.guild.bans.has(id)).toBe(false);
		await page.click("button", "Approve");
		await page.click("dialog button", "Approve");
		await page.sees("No call waits");
		expect(await approved).toContain("anned");
		expect(world.guild.bans.has(id)).toBe(true);
	});

	test("the first view says what happened since the last visit, also after a restart of the gateway", async () => {
		await page.signIn(gatewayToken);
		await page.sees("In the last 24 hours", ".panel");
		const visit = `{ "seen": ${Date.now() - 3_600_000} }`;
		await browser.evaluate(`localStorage.setItem("visit:", '${visit}'); Storage.prototype.setItem = () => {}; true`);
		await world.client.text("get_member", { instance: "beta", user_ids: "100000000000000003" });
		await world.gateway.restart();
		await page.open();
		await page.sees("Since your last visit", ".panel");
		await page.sees("Approvals: 1 approved, 1 denied.", ".panel");
		world.up.set("gamma", { state: "stopped", isHalted: true });
		await page.sees("gamma: stopped since", ".panel");
		world.up.set("gamma", { state: "running", isHalted: undefined });
		const [before = ""] = await page.texts(".panel .state.warn");
		await world.client.text("get_member", { instance: "beta", user_ids: "100000000000000004" });
		await page.sees(
			before.replace(/\d+/, (count) => `${Number(count) + 1}`),
			".panel .state.warn",
		);
		await page.click(".panel a", "refused");
		await page.misses("list_guilds", "tbody");
		await page.click("button", "Details of get_member");
		await page.sees("100000000000000004", "tr.details .answer");
	});

	test("a key with limits is made and shown once, works, and is revoked after a question", async () => {
		await page.signIn(gatewayToken);
		await page.section("Connect");
		await page.click('input[value="Another client"]');
		await page.click("summary", "more limits");
		await page.fill("[name=name]", "ci");
		await page.fill("[name=guilds]", "not an id");
		await page.click("button", "Create a key");
		await until("an error", async () => (await page.texts("form .problem"))[0]);
		await page.fill("[name=guilds]", world.guild.id);
		await page.fill("[name=days]", "3");
		await page.click("input[value=alpha]");
		await page.click("button", "Create a key");
		await page.sees("the new key ci", ".panel");
		const [, secret = ""] = /Bearer (\S{20,})/.exec((await page.texts(".panel pre"))[0] ?? "") ?? [];
		const { toolNames } = world.clientWith(secret);
		expect(await toolNames()).toContain("list_guilds");
		await page.section("Access");
		await page.sees(`bots: alpha; guilds: ${world.guild.id}`, "tbody");
		expect(await page.kept()).not.toContain(secret);
		await page.click("button", "Revoke the key ci");
		await page.click("dialog button", "Cancel");
		await page.misses("Revoke the key");
		expect(await toolNames()).toContain("list_guilds");
		await page.click("button", "Revoke the key ci");
		await page.click("dialog button", "Revoke");
		await page.sees("Revoked: ci");
		await page.misses("ci", "tbody");
		await until("the key is refused", async () => {
			const { status } = await world.clientWith(secret).post("{}");
			return status === 401;
		});
	});

	test("a connection is ended after a question", async () => {
		await world.grant("Claude");
		await page.signIn(gatewayToken);
		await page.section("Access");
		await page.sees("Claude", "tbody");
		await page.click("button", "Revoke the connection with Claude");
		await page.click("dialog button", "Revoke");
		await page.misses("Claude", "tbody");
	});

	test("each client's configuration names the endpoint and holds no token", async () => {
		await page.signIn(gatewayToken);
		await page.section("Connect");
		await page.sees("Claude Code", ".panel");
		const endpoint = `${world.origin}/mcp`;
		const texts: Record<string, string> = {};
		for (const client of await page.texts(".chips:first-child .chip")) {
			await page.click(`input[value="${client}"]`);
			await page.sees(client, ".panel h3");
			texts[client] = (await page.texts(".panel pre"))[0] ?? "";
			expect(await page.attribute(".panel a.button", "href")).toBeNull();
			await page.misses("the button", ".panel");
		}
		expect(Object.keys(texts)).toHaveLength(11);
		const { "claude.ai": claude, ChatGPT, ...local } = texts;
		expect([claude, ChatGPT]).toEqual(["", ""]);
		for (const [client, text] of Object.entries(local)) {
			expect([client, text.includes(endpoint)]).toEqual([client, true]);
			expect(text).not.toContain(gatewayToken);
		}
		expect(JSON.parse(texts.Windsurf ?? "").mcpServers.guildhall.serverUrl).toBe(endpoint);
	});

	test("a key for a client is made and filled in, with what the client may do, and is not kept", async () => {
		await page.signIn(gatewayToken);
		await page.section("Connect");
		const links: Record<string, (link: string) => unknown> = {
			Cursor: (link) => JSON.parse(atob(new URL(link).searchParams.get("config") ?? "")),
			"VS Code": (link) => JSON.parse(decodeURIComponent(link.replace("vscode:mcp/install?", ""))),
		};
		for (const [client, read] of Object.entries(links)) {
			await page.click(`input[value="${client}"]`);
			await page.click("input[value=write]");
			await page.click("input[value=beta]");
			await page.click("button", "Create a key and fill it in");
			await page.sees("It contains the new key", ".panel");
			const [text = ""] = await page.texts(".panel pre");
			const server = Object.values(Object.values(JSON.parse(text))[0] as object)[0];
			const [, secret = ""] = /Bearer (\S{20,})"/.exec(text) ?? [];
			expect(server).toMatchObject({ url: `${world.origin}/mcp`, headers: { Authorization: `Bearer ${secret}` } });
			expect(read((await page.attribute(".panel a.button", "href")) ?? "")).toMatchObject(server);
			expect(await world.clientWith(secret).text("list_instances")).not.toContain("alpha");
			expect(await world.clientWith(secret).toolNames()).not.toContain("ban");
			await page.click("input[value=Zed]");
			await page.sees(secret, ".panel pre");
			await page.click(`input[value="${client}"]`);
			// Other choices need another key.
			await page.click("input[value=beta]");
			await page.sees("<TOKEN>", ".panel pre");
			expect(await page.kept()).not.toContain(secret);
		}
		await page.click("button", "Create a key and fill it in");
		await page.sees("new key vs-code-2", ".panel");
		await page.section("Access");
		await page.sees("vs-code-2", "tbody");
		for (const name of ["cursor", "vs-code", "vs-code-2"]) {
			await page.click("button", `Revoke the key ${name}`);
			await page.click("dialog button", "Revoke");
			await page.sees(`Revoked: ${name}`);
		}
		await page.section("Connect");
		await page.sees("<TOKEN>", ".panel pre");
	});

	test("a tool that reads is tried with a form that checks what is entered", async () => {
		await page.signIn(gatewayToken);
		await page.section("Try");
		await page.choose("#tool", "show_kinds");
		await page.sees("Shows its arguments");
		expect((await page.texts(".fields label")).slice(0, 3)).toEqual([
			"Bot instance",
			"Text required",
			"Count required",
		]);
		await page.fill("[name=count]", "12");
		await page.fill("[name=share]", "much");
		await page.fill("[name=filter]", "[]");
		await page.fill("[name=rows]", "{");
		await page.click("button", "Run");
		await page.sees("This is required.");
		expect(await page.texts(".fields .problem")).toEqual([
			"This is required.",
			"The maximum is 9.",
			"This is not a number.",
			"This is not a JSON object.",
			expect.stringContaining("This is not JSON"),
		]);
		expect((await page.focused())?.name).toContain("Text");
		await page.fill("[name=text]", hostile.slice(0, 80));
		await page.fill("[name=count]", "9");
		await page.fill("[name=share]", "0.5");
		await page.fill("[name=filter]", '{"a": [1]}');
		await page.fill("[name=rows]", "[{}]");
		await page.fill("[name=ids]", "one\n\n two ");
		await page.fill("[name=__proto__]", '"own"');
		await page.choose("[name=loud]", "false");
		await page.choose("[name=colour]", "blue");
		await page.click("button", "Run");
		await page.sees("Result", "h3");
		expect(await page.texts(".fields .problem")).toEqual([]);
		const sent = world.gamma.received("show_kinds").at(-1)?.body ?? "";
		expect(JSON.parse(sent).params.arguments).toEqual({
			text: hostile.slice(0, 80),
			count: 9,
			share: 0.5,
			loud: false,
			colour: "blue",
			ids: ["one", "two"],
			filter: { a: [1] },
			rows: [{}],
			["__proto__"]: "own",
		});
		await page.choose("#tool", "get_member");
		await page.sees("get_member", "h3");
		// Without a choice, a call goes to the first bot that has the tool. People, channels and roles are offered by name.
		const offered = (list: string) =>
			browser.evaluate<string>(`[...document.querySelectorAll("#list-${list} option")].map((one) => one.label).join()`);
		await until("members are offered", async () => (await offered("member"))?.includes("@zoe"));
		expect(await offered("channel")).toContain("#general");
		expect(await offered("role")).toContain("@Newcomer");
		await page.fill("[name=user_ids]", "100000000000000001");
		await page.click("button", "Run");
		await page.sees("The tool refused", "h3");
		await page.fill("[name=user_ids]", `${world.simulator.user("zoe").id}, 100000000000000001`);
		await page.click("button", "Run");
		await page.sees("1 not in the guild", "pre");
		const guilds = () =>
			browser.evaluate<string>("[...document.querySelector('[name=guild_id]').options].map((one) => one.text).join()");
		expect(await guilds()).toBe("not set,The Cooks");
		await page.choose("[name=instance]", "beta");
		expect(await guilds()).toBe("not set,The Bakers");
	});

	test("hostile names change nothing on the page", async () => {
		await world.grant(hostile);
		const client = world.clientWith(await world.createKey("hostile"));
		const { id } = world.simulator.user("mona_lisa");
		const reason = hostile.slice(0, 200);
		const asked = client.text("ban", { instance: "alpha", user_ids: [id], reason });
		await page.signIn(gatewayToken);
		await page.click("article:nth-child(3) summary");
		await page.sees("<img src=x", ".guilds");
		const [guilds = ""] = await page.texts("article:nth-child(3) .guilds");
		expect(guilds.length).toBeLessThan(300);
		expect(guilds).not.toContain("\u202e");
		await page.section("Try");
		await page.choose("#tool", "show_kinds");
		await page.fill("[name=text]", hostile);
		await page.fill("[name=count]", "1");
		await page.click("button", "Run");
		await page.sees("<img src=x", "pre");
		await page.section("Live");
		await page.sees("show_kinds", "tbody");
		for (const { width, height } of [wide, narrow]) {
			await browser.resize(width, height);
			for (const name of sections) {
				await page.section(name);
				if (name === "Access") await page.sees("<img src=x", "tbody");
				if (name === "Approvals") await page.sees("<img src=x", "article");
				expect([name, width, await page.overflow()]).toEqual([name, width, 0]);
				expect((await page.texts("body"))[0]).not.toContain("\u202e");
			}
		}
		await page.section("Access");
		await page.click("button", "Revoke the connection with <img");
		await page.sees("<img src=x", "dialog");
		await page.click("dialog button", "Revoke");
		await page.misses("<img src=x", "tbody");
		await page.section("Approvals");
		await page.click("button", "Deny");
		expect(await asked).toContain("denied");
		expect(await browser.evaluate("document.querySelectorAll('img:not(.mark)').length")).toBe(0);
		expect(await browser.evaluate("document.title")).toContain("Guildhall");
	});

	test.each([wide, narrow])(
		"each section fits $width pixels, and all that can be used has a name",
		async ({ width, height }) => {
			await world.grant("Claude");
			await browser.resize(width, height);
			await page.open();
			await page.sees("Sign in", "h2");
			expect([await page.overflow(), await page.unnamed()]).toEqual([0, []]);
			await page.signIn(gatewayToken);
			await world.client.text("list_guilds", { instance: "alpha" });
			for (const name of sections) {
				await page.section(name);
				await page.sees(shownIn[name]);
				expect([name, await page.overflow(), await page.unnamed()]).toEqual([...[name, 0, []]]);
			}
		},
	);

	test("the page is used with the keyboard alone", async () => {
		await page.open();
		await page.sees("Token");
		expect(await page.focused()).toMatchObject({ name: "Token" });
		await browser.type(gatewayToken);
		await browser.press("Enter");
		await page.sees("connected", "#connection");
		expect((await page.focused())?.name).toBe("Live");
		await page.open();
		await page.sees("connected", "#connection");
		const walk: string[] = [];
		for (let stop = 0; stop < 7; stop++) {
			await browser.press("Tab");
			const focused = await page.focused();
			expect(focused?.isVisible).toBe(true);
			walk.push(focused?.name.replace(/\s.*$/, "") ?? "");
		}
		expect(walk).toEqual([...["Skip", "Sign", "Live", "History", "Approvals", "Settings", "Access"]]);
		await browser.press("Tab");
		await browser.press("Enter");
		await page.sees("Claude Code", ".panel h3");
		await browser.press("Tab");
		await browser.press("ArrowDown");
		await page.sees("Claude Desktop", ".panel h3");
	});

	test("a bot is stopped after a question, shown as that, and started, with the keyboard alone", async () => {
		await page.signIn(gatewayToken);
		await browser.evaluate(`document.querySelector('[aria-label="Stop gamma"]').focus()`);
		await browser.press("Enter");
		await page.sees("Later ones are refused", "dialog");
		await browser.press("Tab");
		await browser.press("Enter");
		await page.sees("gamma is stopped", "#message");
		await page.sees("it was stopped on purpose", "article");
		await page.sees("2 of 3 bots online (gamma: stopped)");
		expect(await world.client.text("show_kinds", { instance: "gamma" })).toContain("BackendOffline");
		await until("the focus is on the button that starts it", async () => {
			return (await page.focused())?.name === "Start gamma";
		});
		await browser.press("Enter");
		await page.sees("gamma listens at", "#message");
		await page.sees("3 of 3 bots online");
		expect(world.up.commands.splice(0)).toEqual([
			{ command: "stop", name: "gamma" },
			{ command: "start", name: "gamma" },
		]);
	});

	test("a bot is added, and its token is kept nowhere", async () => {
		await page.signIn(gatewayToken);
		await page.click("summary", "Add a bot");
		await page.fill("#bot-name", "alpha");
		await page.fill("#bot-token", "a.secret.token");
		await page.click("button", "Add bot");
		await page.sees("alpha: the name is taken", ".problem");
		await page.fill("#bot-name", "delta");
		await page.fill("#bot-token", "a.secret.token");
		await page.click("button", "Add bot");
		await page.sees("delta is added", "dialog");
		expect(await page.attribute("dialog a", "href")).toStartWith("https://discord.com/oauth2/");
		expect(await page.kept()).not.toContain("a.secret.token");
		expect(world.up.commands.splice(0).map(({ token }) => token)).toEqual(["a.secret.token", "a.secret.token"]);
	});

	test("the restart of a bot shows, and ends by itself", async () => {
		await page.signIn(gatewayToken);
		await page.sees("3 of 3 bots online");
		await world.beta.stop();
		// The gateway notices that the bot is away at the next call, which it holds.
		const held = world.client.text("list_channels", { instance: "beta" });
		await page.sees("2 of 3 bots online");
		await world.beta.start();
		await held;

		await page.sees("3 of 3 bots online");
		expect(await page.texts("#waiting")).toEqual([]);
	});

	test("after a restart of the gateway the page goes on with its session", async () => {
		await page.signIn(gatewayToken);
		await page.sees("3 of 3 bots online");
		await world.gateway.stop();
		await page.sees("The gateway does not answer", "#waiting");
		await page.section("Access");
		await page.sees("The gateway does not answer", "#message");
		await world.gateway.start();
		await page.sees("Keys are tokens");
		await page.section("Live");
		await page.sees("connected", "#connection");
		await page.misses("does not answer");
		await world.client.text("list_guilds", { instance: "alpha" });
		await page.sees("list_guilds", "tbody");
	});

	test("a session that has ended leads to the sign-in, and keeps what was typed", async () => {
		await page.signIn(gatewayToken);
		await page.section("Connect");
		await page.click("summary", "more limits");
		await page.fill("[name=name]", "half a na");
		world.setToken("another-token-of-the-gateway");
		await world.gateway.restart();
		await page.sees("Your session has ended");
		world.setToken(gatewayToken);
		await world.gateway.restart();
		await page.fill("#token", gatewayToken);
		await page.click("form button", "Sign in");
		await page.sees("Claude Code");
		expect(await browser.evaluate("document.querySelector('[name=name]').value")).toBe("half a na");
	});

	test("a person who signs in with Discord sees their own", async () => {
		await page.open("?from=discord");
		await page.sees("You have not signed in with Discord", ".problem");
		await page.open("#access");
		await page.click("button", "Sign in with Discord");
		await browser.arrive("simulated Discord");
		await browser.press("Tab");
		await browser.press("Enter");
		await browser.arrive("Guildhall console");
		await page.sees("Signed in");
		expect(await browser.evaluate("location.search")).toBe("");
		await page.sees("Clients that act in your name");
		await page.section("Live");
		expect(await page.texts("nav a")).toEqual([...sections]);
		await page.sees("bots online");
		await page.misses("Add a bot");
		expect(await page.texts("[aria-label^=Stop]")).toEqual([]);
		await page.section("Connect");
		await page.misses("Authorization", ".panel pre");
	});
});

test.skipIf(!chromium || !pictures)("pictures for the README, of the demo", async () => {
	await using program = startProgram("src/demo/main.ts", {}, [
		"--json",
		"--gateway-port",
		"0",
		"--simulator-port",
		"0",
	]);
	const line = await program.line((line) => (line.startsWith("{") ? line : undefined));
	const { gateway, instances } = JSON.parse(line) as DemoFacts;
	await using browser = await openChromium({ width: 1280, height: 860 });
	const page = driveConsole(browser, gateway.console);
	await browser.send("Emulation.setScrollbarsHidden", { hidden: true });
	await browser.prefer("light");
	await page.signIn(gateway.token);
	await page.section("Connect");
	await page.click("input[value=write]");
	await page.click("button", "Create a key and fill it in");
	await page.sees("It contains the new key", ".panel");
	const [, key = ""] = /Bearer ([^"]+)/.exec((await page.texts(".panel pre")).join()) ?? [];
	await page.section("Live");
	const [root, assistant] = [gateway.token, key].map((token) => createGatewayClient(gateway.url, token));
	const [cooks, bakers] = [{ instance: "alpha" }, { instance: "beta" }];
	await root?.text("list_channels", cooks);
	await assistant?.text("list_members", bakers);
	await assistant?.text("search_messages", { ...cooks, text: "bread" });
	await root?.text("get_member", { ...bakers, user_ids: "100000000000000001" });
	await assistant?.text("list_cases", cooks);
	const channel_id = instances[0]?.channel_ids.general;
	await assistant?.text("send_message", { ...cooks, channel_id, content: "Fresh bread at six!" });
	await assistant?.text("create_role", { ...cooks, name: "Bread lovers" });
	await assistant?.text("list_scheduled_events", bakers);
	await page.sees("1", "nav a[href='#approvals'] .badge");
	await page.sees("of last 5", "article:nth-child(1)");
	await browser.screenshot(`${pictures}/console.png`);
	await browser.prefer("dark");
	await browser.resize(narrow.width, narrow.height);
	await browser.screenshot(`${pictures}/console-phone.png`);
	await browser.prefer("light");
	await browser.resize(960, 900);
	await page.section("Settings");
	await page.click("button", "Go to Rehearse");
	await page.click("details[open] button", "Rehearse");
	await page.sees("off → on", ".save-bar");
	await browser.evaluate("document.querySelector('details[open]').scrollIntoView()");
	await browser.screenshot(`${pictures}/rehearsal.png`);
});
