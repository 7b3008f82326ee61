// `--export-guild`, `--plan-guild` and `--apply-guild` as programs against the simulator, with and without a running bot.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../../src/demo/ports.ts";
import { toYaml } from "../../../../src/guild-document/format/document.ts";
import { pictureHash } from "../../../../src/guild-document/read/picture.ts";
import type { Simulator } from "../../../../src/simulator/simulator.ts";
import { botExecutable } from "../../../support/bot-executable.ts";
import { type BotProcess, startBotProcess } from "../../../support/bot-process.ts";
import { startCommand } from "../../../support/program.ts";
import { startSimulator } from "../../../support/simulator.ts";
import { until } from "../../../support/until.ts";

/** One transparent pixel. */
const png = Buffer.from(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
	"base64",
);
const mcpToken = "a-token-of-enough-length";
const createChannel = "POST /guilds/:guild_id/channels";
let directory: string;

beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	writeFileSync(inDirectory("config.toml"), 'bot_name = "Test"\n');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const inDirectory = (name: string) => join(directory, name);
const read = (name: string) => readFileSync(inDirectory(name), "utf8");

function envOf(simulator: Simulator): Record<string, string> {
	return {
		DISCORD_TOKEN: simulator.bot("alpha").token,
		DISCORD_API_URL: simulator.api,
		DISCORD_CDN_URL: simulator.cdn,
		GUILD_ID: simulator.guild("The Cooks").id,
		MCP_AUTH_TOKEN: mcpToken,
	};
}

/** Starts the program with a configuration of its own and a port on which nothing listens. */
async function start(simulator: Simulator, args: readonly string[], more: Record<string, string> = {}) {
	const env = { ...envOf(simulator), CONFIG_DIR: directory, MCP_PORT: String(await freePort()), ...more };
	return startCommand([await botExecutable(), ...args], env, { cwd: directory });
}

/** Runs the program with the configuration of a bot, or as `start` does. */
async function run(simulator: Simulator, args: readonly string[], bot?: BotProcess, more: Record<string, string> = {}) {
	const where = bot && { CONFIG_DIR: bot.directory, MCP_PORT: String(bot.port) };
	await using program = await start(simulator, args, { ...where, ...more });
	const code = await program.exited;
	return { code, text: program.lines.join("\n") };
}

const restaurant = {
	version: 1 as const,
	roles: [{ name: "Waiter", color: "#11806A" }],
	channels: [{ name: "menu", topic: "What there is" }],
	bot: { "welcome.channel": "menu" },
};

test("through the running bot a guild is exported, compared and changed, byte for byte as without it", async () => {
	await using simulator = await startSimulator();
	await using bot = await startBotProcess(envOf(simulator));
	const exported = await run(simulator, ["--export-guild", inDirectory("guild.yaml")], bot);
	expect(exported).toMatchObject({ code: 0 });
	expect(exported.text).toContain("Using the running bot Test at http://");
	expect(exported.text).toContain("Wrote ");

	const own = await run(simulator, ["--export-guild", inDirectory("own.yaml")]);
	expect(own).toMatchObject({ code: 0 });
	expect(own.text).toContain("No bot of this configuration runs at http://");
	expect(read("own.yaml")).toBe(read("guild.yaml"));

	const same = await run(simulator, ["--plan-guild", inDirectory("guild.yaml"), "--prune"], bot);
	expect(same).toMatchObject({ code: 0 });
	expect(same.text).toContain("There is nothing to do.");

	writeFileSync(inDirectory("more.yaml"), toYaml(restaurant));
	const plan = await run(simulator, ["--plan-guild", inDirectory("more.yaml")], bot);
	expect(plan).toMatchObject({ code: 3 });
	expect(plan.text).toContain("+ channel #menu");

	const unconfirmed = await run(simulator, ["--apply-guild", inDirectory("more.yaml")], bot);
	expect(unconfirmed).toMatchObject({ code: 1 });
	expect(unconfirmed.text).toContain("pass --yes");

	const applied = await run(simulator, ["--apply-guild", inDirectory("more.yaml"), "--yes"], bot);
	expect(applied).toMatchObject({ code: 0 });
	expect(applied.text).toMatch(/Job \w+ in The Cooks .*: done, 3 of 3 steps done/);
	const names = [...simulator.guild("The Cooks").channels.values()].map(({ name }) => name);
	expect(names.filter((name) => name === "menu")).toHaveLength(1);
	const after = await run(simulator, ["--plan-guild", inDirectory("more.yaml")], bot);
	expect(after).toMatchObject({ code: 0 });
});

describe("without a running bot", () => {
	test("a guild is changed, and its pictures come from the directory beside the document", async () => {
		await using simulator = await startSimulator();
		const guild = simulator.guild("The Cooks");
		const made = await run(simulator, ["--apply-guild", pictureDocument(), "--yes"]);
		expect(made).toMatchObject({ code: 0 });
		expect([...guild.emojis.values()].map(({ name }) => name)).toContain("dot");

		const exported = await run(simulator, ["--export-guild", inDirectory("emojis.json"), "--part=emojis"]);
		expect(exported).toMatchObject({ code: 0 });
		expect(exported.text).toContain("pictures in ");
		const { emojis } = JSON.parse(read("emojis.json"));
		expect(readdirSync(inDirectory("emojis.pictures"))).toHaveLength(
			new Set(emojis.map(({ picture }: { picture: string }) => picture)).size,
		);

		// Another database does not have the pictures.
		rmSync(inDirectory("data"), { recursive: true, force: true });
		const [dot] = [...guild.emojis.values()].filter(({ name }) => name === "dot");
		if (dot) simulator.world.emojis.remove(guild, dot);
		const restored = await run(simulator, ["--apply-guild", inDirectory("emojis.json"), "--yes"]);
		expect(restored).toMatchObject({ code: 0 });
		expect([...guild.emojis.values()].map(({ name }) => name)).toContain("dot");
	});

	test("standard input and output take a document", async () => {
		await using simulator = await startSimulator();
		const exported = await run(simulator, ["--export-guild=-", "--part", "roles", "--part", "everyone"]);
		expect(exported).toMatchObject({ code: 0 });
		expect(exported.text).toContain("\nroles:");
		expect(exported.text).not.toContain("\nchannels:");
	});

	test("a database that another process uses is an error that says what to do", async () => {
		await using simulator = await startSimulator();
		await using bot = await startBotProcess(envOf(simulator));
		const refused = await run(simulator, ["--export-guild", inDirectory("guild.yaml")], bot, {
			MCP_PORT: String(await freePort()),
		});
		expect(refused).toMatchObject({ code: 1 });
		expect(refused.text).toMatch(/DATA_DIR: .* is in use by pid \d+ on /);
		expect(refused.text).toContain("does not respond: the connection was refused");
		expect(readdirSync(directory)).toEqual(["config.toml"]);
		const other = await run(simulator, ["--export-guild", inDirectory("guild.yaml")], bot, {
			MCP_AUTH_TOKEN: "another-token-of-enough-length",
		});
		expect(other).toMatchObject({ code: 1 });
		expect(other.text).toContain("refuses this bot's MCP_AUTH_TOKEN");
	});

	test("a command that is killed in the middle of a job is continued by the same command, and nothing is made twice", async () => {
		await using simulator = await startSimulator();
		const guild = simulator.guild("The Cooks");
		const names = Array.from({ length: 12 }, (_, index) => `room-${index}`);
		writeFileSync(inDirectory("rooms.yaml"), toYaml({ version: 1, channels: names.map((name) => ({ name })) }));
		const args = ["--apply-guild", inDirectory("rooms.yaml"), "--yes"];
		{
			await using killed = await start(simulator, args);
			// The first room is made, and the command does not learn of it.
			const fault = simulator.faults.stall(createChannel, { after: true, times: 1 });
			await until("a room is made", () => fault.hits === 1);
			killed.kill("SIGKILL");
			await killed.exited;
			fault.release();
		}
		const again = await run(simulator, args);
		expect(again).toMatchObject({ code: 0 });
		expect(again.text).toContain("A job in this guild has not ended yet.");
		const made = [...guild.channels.values()].map(({ name }) => name).filter((name) => names.includes(name));
		expect(made.toSorted()).toEqual(names.toSorted());
	});

	test("Ctrl-C cancels the job after its running step; what was done stays", async () => {
		await using simulator = await startSimulator();
		const guild = simulator.guild("The Cooks");
		const names = Array.from({ length: 40 }, (_, index) => `room-${index}`);
		writeFileSync(inDirectory("rooms.yaml"), toYaml({ version: 1, channels: names.map((name) => ({ name })) }));
		await using program = await start(simulator, ["--apply-guild", inDirectory("rooms.yaml"), "--yes"]);
		const fault = simulator.faults.stall(createChannel, { times: 1 });
		await until("the first step runs", () => fault.hits === 1);
		program.kill("SIGINT");
		await program.line((line) => line.startsWith("Cancelling ") || undefined);
		fault.release();
		expect(await program.exited).toBe(3);
		const made = [...guild.channels.values()].filter(({ name }) => names.includes(name ?? ""));
		expect(made.length).toBeLessThan(names.length);
		const text = program.lines.join("\n");
		expect(text).toContain("Cancelling after the running step.");
		expect(text).toMatch(/Job \w+ in The Cooks .*: cancelled/);
	});
});

/** Writes a document with one emoji and its picture. Returns its path. */
function pictureDocument(): string {
	const hash = pictureHash(png);
	mkdirSync(inDirectory("dot.pictures"));
	writeFileSync(inDirectory(`dot.pictures/${hash}.png`), png);
	writeFileSync(inDirectory("dot.yaml"), toYaml({ version: 1, emojis: [{ name: "dot", picture: hash }] }));
	return inDirectory("dot.yaml");
}
