// The main job: a client, the gateway, two bots and a chat platform, each a real program on a real port.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callingTools, tools } from "../../src/bot/tools/index.ts";
import type { DemoFacts } from "../../src/demo/demo.ts";
import { Browser } from "../gateway/oauth/browser.ts";
import { drive } from "../pages/drive.ts";
import { openChromium } from "../support/chromium.ts";
import { connectTo, type McpCaller } from "../support/mcp.ts";
import { pathWithBun } from "../support/path-with-bun.ts";
import { allEnded, childrenOf, type Program, startProgram } from "../support/program.ts";
import { present, until } from "../support/until.ts";

const messages = /^(POST|PATCH) \/channels\/:channel_id\/messages/;

/** The bots and the gateway. */
const childCount = 3;

/** Where the demos of these tests have their temporary directories. */
const temporary = mkdtempSync(join(tmpdir(), "guildhall-demos-"));
const env = { TMPDIR: temporary };

const directories = () => readdirSync(temporary).filter((name) => name.startsWith("guildhall-demo-"));

async function startDemo(args: readonly string[] = []) {
	const program = startProgram("src/demo/main.ts", env, ["--json", "--gateway-port", "0", ...args]);
	const facts = await program.line((line) => (line.startsWith("{") ? (JSON.parse(line) as DemoFacts) : undefined));
	return { program, facts };
}

let program: Program;
let facts: DemoFacts;
let mcp: McpCaller;

beforeAll(async () => {
	({ program, facts } = await startDemo());
	mcp = await connectTo(facts.gateway.url, facts.gateway.token);
});

afterAll(async () => {
	await program[Symbol.asyncDispose]();
	rmSync(temporary, { recursive: true, force: true });
});

/** The simulator, as another process sees it. */
async function platform<T>(path: string, init: { token?: string; post?: unknown; method?: string } = {}): Promise<T> {
	const response = await fetch(new URL(path, facts.platform.api), {
		method: init.method ?? (init.post === undefined ? "GET" : "POST"),
		...(init.post !== undefined && { body: JSON.stringify(init.post) }),
		headers: { "Content-Type": "application/json", ...(init.token && { Authorization: init.token }) },
	});
	if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
	return (await response.json()) as T;
}

/** What was written by messages in this channel, in order. A slow answer is edited. */
async function journal(channelId: string): Promise<string[]> {
	const entries = await platform<{ route: string; path: string; body: { content: string } }[]>("/simulator/journal");
	return entries
		.filter(({ route, path }) => messages.test(route) && path.includes(channelId))
		.map(({ body }) => body.content);
}

function instance(name: string) {
	const found = facts.instances.find((one) => one.name === name);
	if (!found) throw new Error(`there is no ${name}`);
	const channel_id = present(found.channel_ids.general, `${name} has no #general`);
	return { ...found, channel_id };
}

test("the demo serves one token, two bots with a guild each, and people to play", () => {
	expect(facts.instances.map(({ name }) => name)).toEqual(["alpha", "beta"]);
	for (const { token, guild_id, channel_ids, command } of facts.instances) {
		expect(token).toBe(facts.gateway.token);
		expect(guild_id).toMatch(/^\d{17,19}$/);
		expect(channel_ids.general).toMatch(/^\d{17,19}$/);
		expect(command).toBe("!m");
	}
	expect(facts.platform.users.length).toBeGreaterThan(1);
	expect(facts.game.codes.length).toBeGreaterThan(0);
});

test("the bots' AI provider answers those who have its key", async () => {
	const response = await fetch(`${facts.ai.url}/chat/completions`, {
		method: "POST",
		headers: { Authorization: `Bearer ${facts.ai.key}` },
		body: JSON.stringify({ model: "simulated", messages: [{ role: "user", content: "hello" }] }),
	});
	expect(await response.text()).toContain("The last I heard was: hello");
});

test("list_instances and the default tools of the bots are in one catalogue", async () => {
	const listed = await mcp.listTools();
	expect(listed.map(({ name }) => name)).toEqual([
		...[...tools, ...callingTools].filter(({ offered }) => offered === "listed").map(({ name }) => name),
		// Calls on beta need approval.
		...["get_approval", "list_approvals"],
		"list_instances",
	]);
	const { text } = await mcp.call("list_instances");
	expect(text).toMatch(/^2 instance\(s\):\nalpha \| online \| 1 guild\(s\): .+\nbeta \| online \| 1 guild\(s\): .+$/);
});

test("the communities live: messages, a thread, a poll, a role menu, a report, cases, an event, and a call that waits", async () => {
	const [alpha, beta] = [instance("alpha"), instance("beta")];
	const on = (name: string) => ({ instance: name, guild_id: instance(name).guild_id });
	const count = async (name: string) =>
		Number(/\d+/.exec((await mcp.call("search_messages", { ...on(name), count_by: "author" })).text)?.[0]);
	expect((await count("alpha")) + (await count("beta"))).toBeGreaterThanOrEqual(50);
	const texts = async (tool: string, args: object) => (await mcp.call(tool, { ...args })).text;
	expect(await texts("list_threads", on("alpha"))).toContain("Pumpkin soup");
	expect(await texts("list_reports", on("alpha"))).toContain("Writes to members about gift cards");
	expect(await texts("list_cases", on("alpha"))).toContain("Advertised his shop");
	expect(await texts("list_scheduled_events", on("alpha"))).toContain("Tasting");
	const messagesIn = (one: typeof alpha, channel: string) =>
		platform<{ content: string; poll?: object; components: object[] }[]>(
			`/api/v10/channels/${one.channel_ids[channel]}/messages`,
			{ token: `Bot ${one.discord_token}` },
		);
	expect((await messagesIn(alpha, "recipes")).some(({ poll }) => poll)).toBe(true);
	const welcome = await messagesIn(alpha, "welcome");
	expect(welcome.some(({ components }) => components.length > 0)).toBe(true);
	await until("the newcomer is greeted", async () =>
		(await messagesIn(alpha, "welcome")).some(({ content }) => content.startsWith("Welcome to The Cooks, <@")),
	);
	await until("the AI has answered", async () =>
		(await messagesIn(beta, "help")).some(({ content }) => content.startsWith("Feed it equal weights")),
	);
	await until("a ban waits for a person", async () =>
		/ban \| pending/.test((await mcp.call("list_approvals", { instance: "beta" })).text),
	);
});

test("in a raid the bot times out who floods, and suggests raid mode", async () => {
	const { guild_id, channel_ids, discord_token } = instance("alpha");
	await platform("/simulator/raid", { post: { guild_id } });
	await until("the log tells of both", async () => {
		const path = `/api/v10/channels/${channel_ids["mod-log"]}/messages`;
		const posted = JSON.stringify(await platform(path, { token: `Bot ${discord_token}` }));
		return posted.includes("Spam: the same link") && posted.includes("raid:on");
	});
});

test.each(["alpha", "beta"])("each tool does its work on %s, by instance and by guild_id", async (name) => {
	const { guild_id, channel_id } = instance(name);
	const targets = [{ instance: name }, { guild_id }];
	for (const target of targets) {
		const guilds = await mcp.call("list_guilds", target);
		expect(guilds.text).toEndWith(`| ID: ${guild_id}`);

		const content = `by ${Object.keys(target)}`;
		const sent = await mcp.call("send_message", { ...target, channel_id, content });
		const [id] = /\d{17,19}/.exec(sent.text) ?? [];
		const message = await platform<{ content: string; author: { username: string } }>(
			`/api/v10/channels/${channel_id}/messages/${id}`,
			{ token: `Bot ${instance(name).discord_token}` },
		);
		expect(message).toMatchObject({ content, author: { username: name } });

		const found = await mcp.call("lookup_user_by_name", { ...target, query: "zoe" });
		const zoe = facts.platform.users.find((u) => u.username === "zoe");
		expect(found.text).toEndWith(`(@zoe) | ID: ${zoe?.id}`);
	}
});

test("what a person writes is seen by another person", async () => {
	const { channel_id } = instance("alpha");
	const [ada, other] = facts.platform.users;
	await platform(`/api/v10/channels/${channel_id}/messages`, {
		token: ada?.token ?? "",
		post: { content: "hello, people" },
	});
	// The people of the demo write, too.
	const latest = await platform<{ content: string }[]>(`/api/v10/channels/${channel_id}/messages?limit=50`, {
		token: other?.token ?? "",
	});
	expect(latest.map(({ content }) => content)).toContain("hello, people");
});

test("a person signs in to the console with the simulated Discord", async () => {
	const browser = new Browser();
	const { origin } = new URL(facts.gateway.console);
	const headers = { Origin: origin, "Content-Type": "application/json" };
	async function post<Body>(path: string, body: object): Promise<Body> {
		const init = { method: "POST", headers, body: JSON.stringify(body) };
		return (await browser.open(`${origin}/console/api/${path}`, init)).json() as Promise<Body>;
	}
	const { url: page } = await post<{ url: string }>("sign-in/discord", {});
	expect(new URL(page).origin).toBe(new URL(facts.platform.api).origin);
	expect(await browser.get(page)).toContain("@ada");
	const [ada] = facts.platform.users;
	const accepted = await browser.open(page, {
		method: "POST",
		body: new URLSearchParams({ user_id: ada?.id ?? "", authorize: "true" }),
	});
	const back = accepted.headers.get("location") ?? "";
	expect(await browser.redirected(back)).toBe(`${facts.gateway.console}?from=discord`);
	const { session } = await post<{ session: { person: { name: string } } }>("sign-in", { discord: true });
	expect(session.person.name).toBe("Ada");
});

test("a bot answers a person who mentions it", async () => {
	const { channel_id, user_id } = instance("alpha");
	const [person] = facts.platform.users;
	await platform(`/api/v10/channels/${channel_id}/messages`, {
		token: person?.token ?? "",
		post: { content: `<@${user_id}> What can you do?` },
	});
	await until("the answer", async () =>
		(await journal(channel_id)).some((content) => content.endsWith("What can you do?") && content.startsWith("I am")),
	);
});

test("the tools that only look need no request to Discord, so no fault reaches them", async () => {
	const faults = [
		{ kind: "refuse", code: 50013 },
		{ kind: "stall" },
		{ kind: "drop", when: "before" },
		{ kind: "rateLimit", retryAfterMs: 60_000 },
	];
	for (const fault of faults) {
		await platform("/simulator/faults", { post: { match: "* *", ...fault } });
		await mcp.expectResult("list_guilds", { instance: "alpha" });
		const found = await mcp.call("lookup_user_by_name", { instance: "alpha", query: "ada" });
		expect(found.text).toStartWith("1 match");
		await platform("/simulator/faults", { method: "DELETE" });
	}
});

/** What a command prints on stdout. It runs in the project. */
function run(command: string): Promise<string> {
	const options = {
		cwd: `${import.meta.dir}/../..`,
		env: { ...process.env, PATH: pathWithBun() },
		stdout: "pipe",
		stderr: "ignore",
	} as const;
	return Bun.spawn(["sh", "-c", command], options).stdout.text();
}

test("the demo prints at most 24 lines of 80 columns, without colours in a pipe, and SIGINT ends everything", async () => {
	await using talker = startProgram("src/demo/main.ts", env, ["--gateway-port", "0"]);
	await talker.line((line) => line.startsWith("Ctrl-C") || undefined);
	expect(talker.lines.slice(24)).toEqual([]);
	expect(talker.lines.filter((line) => line.length > 80)).toEqual([]);
	const said = talker.lines.join("\n");
	expect(said).not.toContain("\u001b");
	const [discord = "", gateway = ""] = said.match(/http:\S+\/(?!mcp)\S*/g) ?? [];
	expect((await fetch(gateway)).headers.get("content-type")).toStartWith("text/html");
	const state = await fetch(new URL("/simulator/state", discord));
	expect(await state.json()).toMatchObject({ guilds: [{}, {}], tour: { length: 6 } });
	const [, url = "", token = ""] =
		/claude mcp add --transport http guildhall (\S+) \\\n +--header "Authorization: Bearer (\S+)"/.exec(said) ?? [];
	const pasted = await connectTo(url, token);
	expect((await pasted.call("list_instances")).text).toContain("alpha");
	const children = await childrenOf(talker.pid);
	const before = directories();
	talker.kill("SIGINT");
	expect([await talker.exited, talker.lines.slice(24)]).toEqual([0, []]);
	expect(directories()).toHaveLength(before.length - 1);
	await allEnded(children);
});

test("with --verbose the demo prints a command for a key, and where sign-ins end", async () => {
	await using talker = startProgram("src/demo/main.ts", env, ["--verbose", "--gateway-port", "0"]);
	await talker.line((line) => line.startsWith("Ctrl-C") || undefined);
	const said = talker.lines.join("\n");
	const [endpoint = ""] = /(?<=endpoint +)http\S+/.exec(said) ?? [];
	const [command] = /GATEWAY_DATABASE=.*/.exec(said) ?? [];
	const key = await connectTo(endpoint, (await run(command ?? "")).trim());
	expect((await key.call("list_instances")).text).toContain("alpha");
	expect(said).toContain(`see and end that at ${new URL("/console#access", endpoint)}\n`);
});

test("the demo ends by a SIGTERM of its own when the `bun run` that started it is killed", async () => {
	await using stack = new AsyncDisposableStack();
	const launcher = Bun.spawn(
		[
			"sh",
			"-c",
			// A shell that stays, so that there is one to kill.
			`"${process.execPath}" run --silent demo --json --gateway-port 0; true`,
		],
		{
			cwd: `${import.meta.dir}/../..`,
			env: { ...process.env, ...env, PATH: pathWithBun() },
			stdout: "pipe",
			stderr: "ignore",
		},
	);
	stack.defer(() => launcher.kill("SIGKILL"));
	// Open to the end: a demo that cannot print any more would end by that.
	const output = launcher.stdout.getReader();
	for (let text = ""; !text.includes("\n"); ) {
		const { done, value } = await output.read();
		if (done) throw new Error("the demo has not started");
		text += new TextDecoder().decode(value);
	}
	const [bunRun] = await childrenOf(launcher.pid);
	const [demo] = bunRun ? await childrenOf(bunRun) : [];
	// Signals to process 0 would end the tests themselves.
	if (!bunRun || !demo) throw new Error("the demo has not started");
	const children = await childrenOf(demo);
	process.kill(bunRun, "SIGKILL");
	await allEnded([demo, ...children]);
});

test("--world starts with the guilds of documents, and a bot for each", async () => {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-worlds-"));
	await using stack = new AsyncDisposableStack();
	stack.defer(() => rmSync(directory, { recursive: true, force: true }));
	const readme = await Bun.file("src/simulator/README.md").text();
	const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
	const files = {
		"guild.yaml": example,
		"other.json": JSON.stringify({ version: 1, settings: { name: "Other" }, channels: [{ name: "hall" }] }),
	};
	for (const [name, text] of Object.entries(files)) await Bun.write(join(directory, name), text);
	const { program, facts } = await startDemo(Object.keys(files).flatMap((name) => ["--world", join(directory, name)]));
	stack.use(program);
	expect(facts.instances.map(({ name }) => name)).toEqual(["helper", "alpha"]);
	expect(facts.worlds.map(({ bot, notes }) => [bot, notes.length])).toEqual([
		["helper", 0],
		["alpha", 1],
	]);
	const { call } = await connectTo(facts.gateway.url, facts.gateway.token);
	const listed =
		/^2 instance\(s\):\nhelper \| online \| 1 guild\(s\): The Gardeners .+\nalpha \| online \| 1 guild\(s\): Other .+$/;
	// The gateway is ready before it has read the guilds of every bot.
	await until("the guilds of both bots are listed", async () => listed.test((await call("list_instances")).text));
	for (const { name, chat_channel_id } of facts.instances) {
		const sent = await call("send_message", { instance: name, channel_id: chat_channel_id, content: "Hello" });
		expect([sent.isError, sent.text]).toEqual([false, expect.any(String)]);
	}
	// The copy can be changed as the guild itself would be.
	const guild_id = facts.worlds[0]?.guild_id;
	const planned = await call("plan_guild", {
		guild_id,
		document: { version: 1, categories: [{ name: "Garden", channels: [{ name: "compost" }] }] },
	});
	const [, plan_hash] = /^plan_hash=(\w+)$/m.exec(planned.text) ?? [];
	const applied = await call("apply_guild", { guild_id, plan_hash });
	expect([applied.isError, applied.text]).toEqual([false, expect.any(String)]);
	await until("the channel is there", async () => {
		const channels = await call("list_channels", { guild_id });
		return channels.text.includes("compost");
	});
});

test.each(["gateway", "simulator"] as const)(
	"if the port of the %s is in use, one line says what to do before anything starts",
	async (part) => {
		const { port } = new URL(part === "gateway" ? facts.gateway.url : facts.platform.url);
		const others = ["--gateway-port", "0", `--${part}-port`, port];
		await using second = startProgram("src/demo/main.ts", env, others);
		expect(await second.exited).toBe(1);
		expect(second.lines).toEqual([
			`Port ${port} is in use. Stop the program that uses it, or add --${part}-port 0 (any free port).`,
		]);
	},
);

/** The folder for the pictures of the README: .github/screenshots. */
const pictures = process.env.SCREENSHOTS;

test.skipIf(!pictures)("pictures", async () => {
	await using browser = await openChromium({ width: 1280, height: 800 });
	const page = drive(browser);
	await browser.prefer("dark");
	await browser.open(facts.platform.url, "Simulator");
	for (const step of [1, 2, 3, 4]) {
		await page.sees("#tour", `${step} of 6`);
		await page.isLoaded();
		await page.click("#tour button", "Next");
	}
	await page.sees("#messages", "Turn on raid mode");
	await browser.evaluate("document.querySelector('.component.danger').closest('li').scrollIntoView()");
	await page.settle();
	await browser.screenshot(`${pictures}/simulator.png`);
	await browser.resize(390, 844);
	await browser.prefer("light");
	await page.click("#tour button", "Dismiss");
	await page.view("channels");
	await page.click("#channels button", "welcome");
	await page.isLoaded();
	await page.settle();
	await browser.screenshot(`${pictures}/simulator-phone.png`);
});

// The last one: nobody else needs it any more.
test("SIGKILL ends the demo and everything that it started", async () => {
	const children = await childrenOf(program.pid);
	expect(children).toHaveLength(childCount);
	program.kill("SIGKILL");
	await program.exited;
	await allEnded(children);
});
