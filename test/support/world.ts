// The simulator, the real bot in front of it, and an MCP client in front of that.

import { startBot } from "../../src/bot/bot.ts";
import { createLog, type Log } from "../../src/lib/log.ts";
import {
	type Simulator,
	type SimulatorOptions,
	startSimulator,
} from "../../src/simulator/simulator.ts";
import type {
	Guild,
	GuildChannel,
	Role,
} from "../../src/simulator/world/state/entities.ts";
import { botConfig } from "./bot-config.ts";
import { connectTo, type McpCaller, type Outcome } from "./mcp.ts";
import { until } from "./until.ts";

export interface TestWorld extends AsyncDisposable {
	simulator: Simulator;
	/** The bot's own guild. */
	guild: Guild;
	bot: ReturnType<typeof startBot>;
	/** Where the bot keeps its SQLite file. */
	dataDirectory: string;
	mcp: McpCaller;
	/** What the bot logged, a line each. */
	logged: string[];
	call(tool: string, args?: Record<string, unknown>): Promise<Outcome>;
	/** Ends the time of the requests to Discord that the bot waits for. */
	expireRequests(): void;
	/** Resolves when the bot has heard of everything that has happened so far: events come in order. */
	heard(): Promise<void>;
}

/** A bot connects again at once. */
export const quickTiming = { identifyMs: 0, backOffMs: [5, 200] } as const;

/** A running world, the bot "alpha" logged in and its members loaded. */
export async function startWorld(
	options: SimulatorOptions = {},
): Promise<TestWorld> {
	const simulator = await startSimulator(options);
	const guild = simulator.guild("The Cooks");
	const logged: string[] = [];
	const log: Log = createLog({ format: "text", level: "debug" }, (line) =>
		logged.push(line),
	);
	const config = botConfig({
		discordToken: simulator.bot("alpha").token,
		discordApiUrl: simulator.api,
		guildId: guild.id,
	});
	let expiry = new AbortController();
	const bot = startBot(config, log, {
		timing: quickTiming,
		timeoutSignal: (ms) =>
			AbortSignal.any([AbortSignal.timeout(ms), expiry.signal]),
		// A test sends more than 50 in a second.
		requestsPerSecond: 1_000_000,
	});
	await until("the bot has loaded", () => bot.loaded);
	const mcp = await connectTo(bot.url);
	const me = guild.members.get(simulator.bot("alpha").id);
	if (!me) throw new Error("alpha is a member");
	let marks = 0;
	return {
		simulator,
		guild,
		bot,
		dataDirectory: config.dataDirectory,
		mcp,
		logged,
		call: mcp.call,
		expireRequests() {
			const due = expiry;
			expiry = new AbortController();
			due.abort(new DOMException("The time is up", "TimeoutError"));
		},
		async heard() {
			marks += 1;
			const nick = `mark-${marks}-`;
			simulator.world.members.edit(guild, me, { nick });
			await until("the bot has heard", async () =>
				(
					await mcp.call("lookup_user_by_name", { query: nick })
				).text.startsWith("1 match"),
			);
			simulator.world.members.edit(guild, me, { nick: null });
		},
		async [Symbol.asyncDispose]() {
			await bot.close();
			await simulator.close();
		},
	};
}

/** The channel of the bot's guild that is called so. */
export function channelNamed(
	{ guild }: Pick<TestWorld, "guild">,
	name: string,
): GuildChannel {
	for (const channel of guild.channels.values())
		if (channel.name === name) return channel;
	throw new Error(`no channel is called ${name}`);
}

/** The role of the bot's guild that is called so. */
export function roleNamed({ guild }: TestWorld, name: string): Role {
	for (const role of guild.roles.values()) if (role.name === name) return role;
	throw new Error(`no role is called ${name}`);
}

/** The requests that write, in order. */
export function writes({ simulator }: TestWorld): string[] {
	return simulator.requests
		.list()
		.filter(({ method }) => method !== "GET")
		.map(({ method, path }) => `${method} ${path}`);
}
