// The simulator, a game server, and the real bot with the game module between them.

import { type Bot, startBot } from "../../../src/bot/bot.ts";
import type { BotConfig } from "../../../src/bot/config/config.ts";
import { createLog } from "../../../src/lib/log.ts";
import { type GameServer, startGameServer } from "../../../src/simulator/game/game-server.ts";
import type { Simulator, SimulatorOptions } from "../../../src/simulator/simulator.ts";
import type { Guild, Message } from "../../../src/simulator/world/state/entities.ts";
import { connectedConfig, tomlOf } from "../../support/bot-config.ts";
import { type SettingsOfGuilds, splitSettings, storeSettings } from "../../support/guild-settings.ts";
import { connectTo, type Outcome } from "../../support/mcp.ts";
import { fetchSample } from "../../support/prometheus.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";
import { quickTiming } from "../../support/world.ts";

export const general = "The Cooks/general";

export interface GameWorldOptions {
	/** Keys of [game], and of the guild's settings of the game. */
	settings?: Record<string, unknown> | ((simulator: Simulator) => Record<string, unknown>);
	/** Settings of other guilds. */
	others?(simulator: Simulator): SettingsOfGuilds;
	/** Keys of [features]. */
	features?: Record<string, boolean>;
	/** Keys of [mcp]. */
	mcp?: Record<string, unknown>;
	/** What is otherwise in the bot's configuration; it is told of the game server that there is. */
	config?(game: GameServer): Partial<BotConfig>;
	simulator?: SimulatorOptions;
	/** Before the bot starts. */
	prepare?(simulator: Simulator, game: GameServer): void | Promise<void>;
}

export interface GameWorld extends AsyncDisposable {
	simulator: Simulator;
	game: GameServer;
	guild: Guild;
	bot: Bot;
	/** What the bot logged, a line each. */
	logged: string[];
	call(tool: string, args?: Record<string, unknown>): Promise<Outcome>;
	listTools(): Promise<string[]>;
	/** What the bot has written in #general, in order. */
	answers(): Message[];
	/** Types in #general, and gives the bot's next `count` messages there. */
	ask(person: string, text: string, count?: number): Promise<Message[]>;
	/** Types in #general. Resolves with the text of the bot's next message there. */
	answer(person: string, text: string): Promise<string | undefined>;
	/** Resolves when the supporters' roles have been compared since the bot started. */
	compared(): Promise<void>;
	/** Ends the bot, and starts one with the settings of then and the same data. */
	restart(): Promise<void>;
}

/** The bot "alpha" is logged in, and its members are loaded. */
export async function startGameWorld(options: GameWorldOptions = {}): Promise<GameWorld> {
	const simulator = await startSimulator(options.simulator);
	const game = await startGameServer();
	await options.prepare?.(simulator, game);
	const guild = simulator.guild("The Cooks");
	const logged: string[] = [];
	const log = createLog({ format: "text", level: "debug" }, (line) => logged.push(line));
	const { toml: _, ...config } = connectedConfig(simulator, {
		guildId: guild.id,
		gameVerifyUrl: game.url,
		gameVerifySecret: game.secret,
		...options.config?.(game),
	});
	let starts = 0;
	const start = async () => {
		logged.length = 0;
		starts += 1;
		const { toml, stored } = splitSettings({
			features: { game: true, ...options.features },
			mcp: options.mcp ?? {},
			game: typeof options.settings === "function" ? options.settings(simulator) : (options.settings ?? {}),
		});
		await storeSettings(config, { [guild.id]: stored, ...options.others?.(simulator) }, starts);
		const bot = startBot({ toml: tomlOf(toml), ...config }, log, { timing: quickTiming, requestsPerSecond: 1_000_000 });
		await until("the bot has loaded", () => bot.loaded);
		return bot;
	};
	let bot = await start();
	let mcp = await connectTo(bot.url);
	const { id } = simulator.channel(general);
	const answers = () => simulator.world.messages.in(id).filter(({ author }) => author.id === simulator.bot("alpha").id);
	async function ask(person: string, text: string, count = 1) {
		const before = answers().length;
		await simulator.user(person).say(general, text);
		return until(`${count} answers to ${text}`, () => {
			const now = answers().slice(before);
			return now.length >= count && now;
		});
	}
	return {
		simulator,
		game,
		guild,
		logged,
		answers,
		get bot() {
			return bot;
		},
		call: (tool, args) => mcp.call(tool, args),
		listTools: async () => (await mcp.listTools()).map(({ name }) => name),
		ask,
		async answer(person, text) {
			const [answer] = await ask(person, text);
			return answer?.content;
		},
		async compared() {
			const runs = "guildhall_bot_donator_runs_total";
			const done = { outcome: "done" };
			await until("the supporters' roles are compared", async () => (await fetchSample(bot.url, runs, done)) > 0);
		},
		async restart() {
			await bot.close();
			bot = await start();
			mcp = await connectTo(bot.url);
		},
		async [Symbol.asyncDispose]() {
			await bot.close();
			await game.close();
			await simulator.close();
		},
	};
}
