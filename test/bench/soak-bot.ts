// A real bot for the soak: in front of the simulator, which is a process of its own, and called through the gateway with a
// mix of tools.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demoSeed } from "../../src/simulator/seed.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { becomesReady, listeningUrl, type Program, startProgram } from "../support/program.ts";

/** The name under which the gateway knows the bot. */
export const botName = "gamma";
const guildName = "The Cooks";
/** Members of the guild, besides the demo's. */
const crowd = 2_000;
/** Calls of the mix between two messages: Discord lets a bot send about one a second to a channel. */
const callsPerMessage = 100;

/** What the bot needs to know of the simulator. */
interface World {
	api: string;
	token: string;
	guildId: string;
	channelId: string;
}

/** Runs the simulator until stdin ends. Prints what a bot needs to know of it. */
export async function runSoakSimulator(): Promise<never> {
	const seed = demoSeed();
	const guilds = seed.guilds.map((guild) => (guild.name === guildName ? { ...guild, crowd } : guild));
	const simulator = await startSimulator({ seed: { ...seed, guilds } });
	const world: World = {
		api: simulator.api,
		token: simulator.bot("alpha").token,
		guildId: simulator.guild(guildName).id,
		channelId: simulator.channel(`${guildName}/general`).id,
	};
	console.log(JSON.stringify(world));
	for await (const _ of Bun.stdin.stream());
	process.exit(0);
}

/** A tool call, and whether the tool is expected to refuse it. */
export interface MixedCall {
	params: { name: string; arguments: object };
	isRefused: boolean;
}

export interface SoakBot extends AsyncDisposable {
	program: Program;
	url: string;
	/** Returns the call with this number of the mix: reads, now and then a message, and calls that the bot refuses. */
	call(number: number): MixedCall;
}

/** Starts the simulator and a bot from the sources. Resolves when the bot is ready. */
export async function startSoakBot(token: string): Promise<SoakBot> {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(startProgram("test/bench/soak.ts", {}, ["simulator"]));
	const world = await simulator.line((line) => (line.startsWith("{") ? (JSON.parse(line) as World) : undefined));
	const directory = mkdtempSync(join(tmpdir(), "guildhall-soak-"));
	stack.defer(() => rmSync(directory, { recursive: true, force: true }));
	writeFileSync(join(directory, "config.toml"), 'bot_name = "Soak"\n');
	const program = stack.use(
		startProgram("src/bot/main.ts", {
			DISCORD_TOKEN: world.token,
			DISCORD_API_URL: world.api,
			GUILD_ID: world.guildId,
			MCP_AUTH_TOKEN: token,
			CONFIG_DIR: directory,
			MCP_PORT: "0",
			LOG_FORMAT: "json",
		}),
	);
	const url = await listeningUrl(program);
	await becomesReady(program, url);
	const parts = stack.move();
	return {
		program,
		url,
		call: (number) => mixedCall(number, world),
		[Symbol.asyncDispose]: () => parts.disposeAsync(),
	};
}

function mixedCall(number: number, { channelId }: World): MixedCall {
	const call = (name: string, args: object, isRefused = false) => ({
		params: { name, arguments: { instance: botName, ...args } },
		isRefused,
	});
	if (number % callsPerMessage === 0)
		return call("send_message", { channel_id: channelId, content: `Message ${number}` });
	const mix = [
		call("list_guilds", {}),
		call("get_guild_info", {}),
		call("list_channels", {}),
		call("list_members", { limit: 100 }),
		call("list_members", { query: "a" }),
		call("get_member", { user_ids: "100000000000000000" }, true),
	] as const;
	return mix[number % mix.length] ?? mix[0];
}
