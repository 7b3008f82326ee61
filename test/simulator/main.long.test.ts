// `bun run simulator`: its output can be used, and invalid options are refused.

import { expect, test } from "bun:test";
import { join } from "node:path";

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
		guilds: { channels: Record<string, string> }[];
		game: { url: string; secret: string; codes: string[] };
		ai: { url: string; key: string };
	};
	const post = await fetch(
		`${facts.api}/v10/channels/${facts.guilds[0]?.channels.general}/messages`,
		{
			method: "POST",
			headers: {
				authorization: facts.users[0]?.token ?? "",
				"content-type": "application/json",
			},
			body: JSON.stringify({ content: "hello" }),
		},
	);
	expect(post.status).toBe(200);
	expect((await fetch(`${facts.cdn}/emojis/1.png`)).status).toBe(404);
	expect(post.headers.get("x-ratelimit-limit")).toBe("5");
	const verified = await fetch(`${facts.game.url}/api/verify`, {
		method: "POST",
		headers: { authorization: `Bearer ${facts.game.secret}` },
		body: JSON.stringify({ code: facts.game.codes[0], chat_id: "7" }),
	});
	expect(await verified.json()).toMatchObject({
		success: true,
		username: "Steve",
	});
	const models = await fetch(`${facts.ai.url}/models`, {
		headers: { authorization: `Bearer ${facts.ai.key}` },
	});
	expect(models.status).toBe(200);
});

test.skipIf(Bun.which("curl") === null)(
	"the printed curl lines work",
	async () => {
		await using simulator = start("--port", "0");
		const text = await simulator.printed(/misbehave .*\n/);
		const lines = text.match(/curl .*/g) ?? [];
		expect(lines).toHaveLength(6);
		for (const line of lines) {
			const shell = Bun.spawn(["sh", "-c", `${line} --fail --silent`], {
				stdout: "pipe",
			});
			expect(await new Response(shell.stdout).text()).not.toBe("");
			expect(await shell.exited).toBe(0);
		}
	},
);

test.each([
	[
		["--port", "many"],
		1,
		'port: expected a whole number from 0 to 65535, received "many"',
	],
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
	expect(await new Response(second.child.stderr).text()).toContain(
		"is already in use",
	);
});
