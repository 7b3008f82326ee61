// `bun run simulator`: its output can be used, and invalid options are refused.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const readme = await Bun.file(join(import.meta.dir, "../../src/simulator/README.md")).text();
const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];

/** A directory with these files, which is deleted in the end. */
async function directoryWith(files: Record<string, string>) {
	const path = mkdtempSync(join(tmpdir(), "guildhall-worlds-"));
	for (const [name, text] of Object.entries(files)) await Bun.write(join(path, name), text);
	return {
		path: (name: string) => join(path, name),
		[Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
	};
}

const main = join(import.meta.dir, "../../src/simulator/main.ts");

function start(...args: string[]) {
	const child = Bun.spawn([process.execPath, main, ...args], {
		stdin: "pipe",
		stdout: "pipe",
		stderr: "pipe",
		// It ends with this test, even if that is killed.
		env: { ...process.env, STOP_WITH_STDIN: "1" },
	});
	return {
		child,
		/** Its output up to the first match. */
		printed: async (fits: RegExp) => {
			let text = "";
			for await (const chunk of child.stdout) {
				text += Buffer.from(chunk).toString();
				if (fits.test(text)) return text;
			}
			throw new Error(`it ended, having printed: ${text}`);
		},
		[Symbol.asyncDispose]: async () => {
			child.kill();
			await child.exited;
		},
	};
}

test("--json prints one line with all URLs, tokens and ids", async () => {
	await using simulator = start("--port", "0", "--json");
	const facts = JSON.parse(await simulator.printed(/\n/)) as {
		api: string;
		cdn: string;
		users: { username: string; token: string }[];
		guilds: { channels: { id: string; name: string }[] }[];
		game: { url: string; secret: string; codes: string[] };
		ai: { url: string; key: string };
	};
	const general = facts.guilds[0]?.channels.find(({ name }) => name === "general");
	const post = await fetch(`${facts.api}/v10/channels/${general?.id}/messages`, {
		method: "POST",
		headers: { authorization: facts.users[0]?.token ?? "", "content-type": "application/json" },
		body: JSON.stringify({ content: "hello" }),
	});
	expect(post.status).toBe(200);
	expect((await fetch(`${facts.cdn}/emojis/1.png`)).status).toBe(404);
	expect(post.headers.get("x-ratelimit-limit")).toBe("5");
	const verified = await fetch(`${facts.game.url}/api/verify`, {
		method: "POST",
		headers: { authorization: `Bearer ${facts.game.secret}` },
		body: JSON.stringify({ code: facts.game.codes[0], chat_id: "7" }),
	});
	expect(await verified.json()).toMatchObject({ success: true, username: "Steve" });
	const models = await fetch(`${facts.ai.url}/models`, { headers: { authorization: `Bearer ${facts.ai.key}` } });
	expect(models.status).toBe(200);
});

test.skipIf(Bun.which("curl") === null)("the printed curl lines work", async () => {
	await using simulator = start("--port", "0");
	const text = await simulator.printed(/SIMULATED_API_KEY"\n/);
	const lines = text.match(/curl .*/g) ?? [];
	expect(lines).toHaveLength(3);
	for (const line of lines) {
		const shell = Bun.spawn(["sh", "-c", `${line} --fail --silent`], { stdout: "pipe" });
		expect(await new Response(shell.stdout).text()).not.toBe("");
		expect(await shell.exited).toBe(0);
	}
});

test.each([
	[["--port", "many"], 1, 'port: expected a whole number from 0 to 65535, received "many"'],
	[["--members", "5"], 1, "members: needs --world FILE"],
	[
		["--world", "x.yaml", "--members", "many"],
		1,
		'members: expected a whole number from 0 to 1000000, received "many"',
	],
	[["--redirect-uri", "here"], 1, 'redirect-uri.0: expected a URI, received "here"'],
	[["--colour"], 2, "Unknown option '--colour'"],
])("%p is refused with exit %p", async (args, code, message) => {
	await using simulator = start(...args);
	expect(await simulator.child.exited).toBe(code);
	expect(await new Response(simulator.child.stderr).text()).toContain(message);
});

test("a port in use is a message and exit 1", async () => {
	await using first = start("--port", "0", "--json");
	const { url } = JSON.parse(await first.printed(/\n/)) as { url: string };
	await using second = start("--port", new URL(url).port);
	expect(await second.child.exited).toBe(1);
	expect(await new Response(second.child.stderr).text()).toContain("is already in use");
});

test("--world starts with the guilds of documents, in YAML and JSON", async () => {
	using directory = await directoryWith({
		"guild.yaml": example,
		"other.json": JSON.stringify({ version: 1, settings: { name: "Other" } }),
	});
	await using simulator = start(
		...["--port", "0", "--json", "--members", "30"],
		...["--redirect-uri", "http://127.0.0.1:9100/callback"],
		...["--world", directory.path("guild.yaml")],
		...["--world", directory.path("other.json")],
	);
	const facts = JSON.parse(await simulator.printed(/\n/)) as {
		api: string;
		bots: { username: string; token: string; guilds: { name: string }[] }[];
		guilds: { id: string; name: string }[];
		worlds: { file: string; guild_id: string; bot: string; notes: string[] }[];
	};
	expect(facts.guilds.map(({ name }) => name)).toEqual(["The Gardeners", "Other"]);
	expect(facts.bots).toMatchObject([
		{
			username: "helper",
			client_secret: expect.any(String),
			redirect_uris: ["http://127.0.0.1:9100/callback"],
			guilds: [{ name: "The Gardeners" }],
		},
		{ username: "alpha", guilds: [{ name: "Other" }] },
	]);
	expect(facts.worlds).toEqual([
		{ file: directory.path("guild.yaml"), guild_id: facts.guilds[0]?.id ?? "", bot: "helper", notes: [] },
		{
			file: directory.path("other.json"),
			guild_id: facts.guilds[1]?.id ?? "",
			bot: "alpha",
			notes: [expect.stringContaining("joined with a role")],
		},
	]);
	const guild = await fetch(`${facts.api}/v10/guilds/${facts.guilds[0]?.id}?with_counts=true`, {
		headers: { authorization: `Bot ${facts.bots[0]?.token}` },
	});
	expect(await guild.json()).toMatchObject({ approximate_member_count: 30 });
});

test("what is not as in the document is printed", async () => {
	using directory = await directoryWith({ "guild.yaml": "version: 1" });
	const file = directory.path("guild.yaml");
	await using simulator = start("--port", "0", "--world", file);
	const text = await simulator.printed(/SIMULATED_API_KEY"\n/);
	expect(text).toContain(`Not as in ${file}:\n  The document has no role of a bot that may moderate.`);
});

test("documents that cannot be read are refused, with all mistakes", async () => {
	using directory = await directoryWith({
		"guild.yaml": example,
		"bad.yaml": "version: 1\nroles: [{ name: 7 }]\nchanels: []",
		"worse.yaml": "version: [",
		"ghost.yaml": "version: 1\nsettings: { system_channel: ghost }",
	});
	const errorsOf = async (...files: string[]) => {
		await using simulator = start(...["--port", "0"], ...files.flatMap((file) => ["--world", directory.path(file)]));
		expect(await simulator.child.exited).toBe(1);
		return (await new Response(simulator.child.stderr).text()).replaceAll(`${directory.path("")}/`, "");
	};
	await using simulator = start(...["--world", directory.path("guild.yaml"), "--bot-role", "Helpr"]);
	expect(await simulator.child.exited).toBe(1);
	expect(await new Response(simulator.child.stderr).text()).toContain(
		'bot-role: none of the guild documents given with --world has a managed role "Helpr"; did you mean Helper?',
	);
	expect(await errorsOf("missing.yaml")).toBe(
		"missing.yaml has 1 error:\n  it cannot be read: there is no such file\n",
	);
	expect(await errorsOf("bad.yaml", "worse.yaml")).toMatch(
		/^--world has 3 errors:\n {2}bad.yaml: roles\[0\].name: expected a text; put numbers in quotes\n {2}bad.yaml: chanels: is not a known key; did you mean channels\? Keys: version, .+\n {2}worse.yaml: it is neither JSON nor YAML: /,
	);
	expect(await errorsOf("ghost.yaml")).toMatch(/^ghost.yaml has 1 error:\n {2}channel "ghost": /);
});
