// The examples of src/bot/game/README.md, run against the demo as it says.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { DemoFacts } from "../../src/demo/demo.ts";
import { type Program, startProgram } from "../support/program.ts";
import { until } from "../support/until.ts";

const file = join(import.meta.dir, "../../src/bot/game/README.md");
const readme = await Bun.file(file).text();
const examples = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

/** What each of them brings, in their order. */
const expected: [what: string, answer: RegExp][] = [
	["a code", /^\{"success":true,"username":"steve","uuid":"[-0-9a-f]{36}"\}$/],
	["a code that is none", /^\{"success":false,"error":"This code is not known\."\}$/],
	["a message", /"content":"!m verify [A-Z0-9]{6}"/],
	["the supporters", /^\{"donators":\[\]\}$/],
	["a ban", /^\{"success":true\}$/],
	["a chargeback", /^\{"accepted":true\}$/],
	["a chargeback without the secret", /^HTTP\/1\.1 401 Unauthorized\r\n/],
	["another code", /"code": "[A-Z0-9]{6}",\s+"username": "Alex"/],
];

let program: Program;
let facts: DemoFacts;

beforeAll(async () => {
	program = startProgram("src/demo/main.ts", {}, ["--json", ...["--gateway-port", "0"]]);
	facts = await program.line((line) => (line.startsWith("{") ? (JSON.parse(line) as DemoFacts) : undefined));
});

afterAll(async () => {
	await program[Symbol.asyncDispose]();
});

/** The variables that the README's table names, read from the facts as it says. */
function variables(): Record<string, string> {
	const rows = readme.matchAll(/^\| (`[A-Z_, `]+`) \| (`[^|]+`) \|$/gm);
	const named = [...rows].flatMap(([, names = "", paths = ""]) => {
		const words = (text: string) => text.replaceAll("`", "").split(", ");
		return words(names).map((name, index) => [name, words(paths)[index] ?? ""]);
	});
	return Object.fromEntries(
		named.map(([name = "", path = ""]) => {
			const keys = path.split(/[.[\]]+/).filter(Boolean);
			const value = keys.reduce<unknown>((from, key) => (from as Record<string, unknown>)[key], facts);
			if (typeof value !== "string") throw new Error(`${path} is no text`);
			return [name, value];
		}),
	);
}

async function run(command: string): Promise<string> {
	const { PATH = "" } = process.env;
	const child = Bun.spawn(["sh", "-c", command], {
		env: { PATH, NO_PROXY: "127.0.0.1", ...variables() },
		stdout: "pipe",
		stderr: "ignore",
	});
	return (await new Response(child.stdout).text()).trim();
}

test("every example has an answer to expect, and uses what the table names", () => {
	expect(examples).toHaveLength(expected.length);
	const used = examples.join("").match(/\$([A-Z_]+)/g) ?? [];
	const names = new Set(used.map((name) => name.slice(1)));
	expect([...names].sort()).toEqual(Object.keys(variables()).sort());
});

test.each(expected.map(([what, answer], index) => ({ what, answer, index })))("$what", async ({ answer, index }) => {
	expect(await run(examples[index] ?? "")).toMatch(answer);
});

test("the person who typed a code is answered by the bot, and linked", async () => {
	const [bot] = facts.instances;
	const [ada] = facts.platform.users;
	const url = `${facts.platform.api}/v10/channels/${bot?.channel_ids.general}/messages`;
	const contents = await until("the answer", async () => {
		const response = await fetch(url, { headers: { authorization: ada?.token ?? "" } });
		const messages = (await response.json()) as { content: string }[];
		return messages.length > 1 && messages.map(({ content }) => content);
	});
	expect(contents[0]).toBe("Your account is linked to the game account `alex`.");
	const state = await fetch(`${facts.game.url}/simulator/state`);
	const { links } = (await state.json()) as { links: Record<string, { username: string }> };
	expect(links[ada?.id ?? ""]?.username).toBe("alex");
});

test("the chargeback is shown to the staff", async () => {
	const [bot] = facts.instances;
	const url = `${facts.platform.api}/v10/channels/${bot?.channel_ids.staff}/messages`;
	await until("the alert", async () => {
		const response = await fetch(url, { headers: { authorization: `Bot ${bot?.discord_token}` } });
		return JSON.stringify(await response.json()).includes("Steve");
	});
});
