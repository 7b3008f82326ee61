// Starts the whole demo: a simulated Discord, a game server and an AI provider in this process, and two bots and the
// gateway as child processes. If the demo is killed while one of its bots is stopped (SIGSTOP), this bot ends only when
// it is continued.

import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../lib/config.ts";
import { consoleLink } from "../lib/console-link.ts";
import type { Fields } from "../lib/log.ts";
import { reachableHost } from "../lib/program/listen.ts";
import { startAiProvider } from "../simulator/ai/ai-provider.ts";
import { quoteLastMessage } from "../simulator/ai/chat-completions.ts";
import type { Worlds } from "../simulator/documents/command-line.ts";
import { startGameServer } from "../simulator/game/game-server.ts";
import { addInvites } from "../simulator/seed.ts";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { chatChannelOf } from "../simulator/world/channels/channels.ts";
import type { ProgramStart } from "../up/gateway.ts";
import { parseLine } from "../up/log-lines.ts";
import { startChildProcess } from "../up/process.ts";
import { Supervisor, timing } from "../up/supervisor.ts";
import { freePort } from "./ports.ts";
import { addHistory, answerTo, play, tourWith, worldSeed } from "./world.ts";

const command = { prefix: "!", root: "m" };
const readyWithinMs = 30_000;
const graceMs = 500;

/** Printed by `--json`. */
export type DemoFacts = Awaited<ReturnType<typeof startDemo>>["facts"];

interface DemoOptions {
	/** 0 takes any free port. */
	gatewayPort: number;
	gatewayBindAddress: string;
	/** 0 takes any free port. */
	simulatorPort: number;
	/** The other parts of the demo listen on the loopback address. */
	simulatorBindAddress: string;
	/** A bot for each of these guild documents. Default: the demo's own two guilds. */
	worlds?: Worlds;
	progress(line: string): void;
	/** Also when a part is restarted. */
	onTrouble(line: string): void;
}

/** Resolves when all are ready. ConfigError if a part does not start. */
export async function startDemo(options: DemoOptions) {
	const { gatewayPort, gatewayBindAddress, progress, onTrouble } = options;
	await using stack = new AsyncDisposableStack();
	const token = randomBytes(16).toString("hex");

	progress("starting the simulated Discord, game server and AI provider");
	const simulator = stack.use(
		await startSimulator({
			port: options.simulatorPort,
			hostname: options.simulatorBindAddress,
			...(options.worlds?.worlds.length ? options.worlds : { seed: worldSeed() }),
			worldOptions: { ...options.worlds?.worldOptions, progress },
		}),
	);
	addInvites(simulator.world);
	const { documentGuilds } = simulator;
	const names = simulator.world.users.bots.map(({ user }) => user.username);
	const isOwnWorld = documentGuilds.length === 0;
	if (isOwnWorld) addHistory(simulator);
	const game = stack.use(await startGameServer());
	const ai = stack.use(await startAiProvider());
	ai.answer = (messages) => answerTo(messages.at(-1)?.content ?? "") ?? quoteLastMessage(messages);
	const codes = ["steve", "alex"].map((username) => game.issueCode({ username }).code);

	progress(`starting the bots ${names.join(" and ")}`);
	const directory = mkdtempSync(join(tmpdir(), "guildhall-demo-"));
	process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
	const programs = stack.use(new Programs(onTrouble));
	const around = { simulator, game, ai, directory, programs, token };
	const bots = await Promise.all(names.map((name) => startDemoBot(name, around)));
	progress("waiting for the bots to log in");
	await Promise.all(
		bots.map(async (bot) => {
			await respondsWith(`${bot.url}/mcp`, "ready");
			if (isOwnWorld) await play(simulator, bot);
		}),
	);

	progress("starting the gateway");
	// The settings for signing in contain the port.
	const port = gatewayPort === 0 ? await freePort() : gatewayPort;
	const publicUrl = publicUrlOf(gatewayBindAddress, port);
	const database = join(directory, "gateway.sqlite");
	const gateway = await programs.keepRunning("GATEWAY_PORT", {
		name: "gateway",
		program: "gateway",
		env: {
			INSTANCES: bots.map(({ name, url }) => `${name}=${url}`).join(","),
			MCP_AUTH_TOKEN: token,
			GATEWAY_PORT: String(port),
			GATEWAY_BIND_ADDR: gatewayBindAddress,
			GATEWAY_DATABASE: database,
			...(publicUrl && signInSettings(simulator, publicUrl)),
		},
	});
	await respondsWith(new URL("/readyz", gateway.url).href, "ok");
	const console = new URL("/console", gateway.url).href;
	if (isOwnWorld) simulator.tour = tourWith({ console });

	const running = stack.move();
	return {
		facts: {
			gateway: {
				/** Signs in once. */
				console_link: await consoleLink(new URL("/console", gateway.url).href, token, Date.now()),
				url: gateway.url,
				token,
				database,
				console,
			},
			worlds: documentGuilds.map(({ file, guild, bot: { user }, notes }) => {
				return { file, guild_id: guild.id, bot: user.username, notes };
			}),
			instances: bots,
			platform: {
				url: `${simulator.url}/`,
				api: simulator.api,
				users: [...simulator.world.accounts.values()].flatMap(({ user: { id, username, bot }, token }) =>
					bot ? [] : { id, username, token },
				),
			},
			game: { url: game.url, secret: game.secret, codes },
			ai: { url: ai.url, key: ai.key },
		},
		close: () => running.disposeAsync(),
	};
}

interface AroundBot {
	simulator: Simulator;
	game: Awaited<ReturnType<typeof startGameServer>>;
	ai: Awaited<ReturnType<typeof startAiProvider>>;
	directory: string;
	programs: Programs;
	token: string;
}

async function startDemoBot(name: string, { simulator, game, ai, directory, programs, token }: AroundBot) {
	const account = simulator.bot(name);
	const guild = [...simulator.world.guilds.values()].find(({ members }) => members.has(account.id));
	if (!guild) throw new Error(`the simulator has no guild for the bot ${name}`);
	const channels = [...guild.channels.values()];
	const hasGame = simulator.documentGuilds.length === 0;
	const child = await programs.keepRunning("MCP_PORT", {
		name,
		program: "bot",
		env: {
			CONFIG_DIR: writeConfig(directory, name, { aiUrl: ai.url, hasGame }),
			DISCORD_TOKEN: account.token,
			DISCORD_API_URL: simulator.api,
			DISCORD_CDN_URL: simulator.cdn,
			GUILD_ID: guild.id,
			MCP_PORT: "0",
			MCP_AUTH_TOKEN: token,
			GAME_VERIFY_URL: game.url,
			GAME_VERIFY_SECRET: game.secret,
			SIMULATED_API_KEY: ai.key,
		},
	});
	return {
		name,
		url: new URL(child.url).origin,
		token,
		discord_token: account.token,
		user_id: account.id,
		guild_id: guild.id,
		channel_ids: Object.fromEntries(channels.map((c) => [c.name, c.id])),
		chat_channel_id: chatChannelOf(guild)?.id,
		command: command.prefix + command.root,
	};
}

/** Child processes that are started again, on the same port, when they end. They end with this process. */
class Programs implements AsyncDisposable {
	readonly #supervisors: Supervisor[] = [];

	constructor(private readonly onTrouble: (line: string) => void) {}

	/** Resolves when it listens. */
	async keepRunning(
		portSetting: string,
		{ name, program, env }: Omit<ProgramStart, "level">,
	): Promise<{ url: string }> {
		const tell = (message: string, { reason, error }: Fields = {}) =>
			this.onTrouble([name, message, reason ?? error].filter(Boolean).join(": "));
		const supervisor = new Supervisor({
			name,
			log: { debug() {}, info() {}, warn: tell, error: tell },
			timing,
			stopMs: () => graceMs,
			spawn: () =>
				startChildProcess({
					program,
					env: { ...env, ...(supervisor.url && { [portSetting]: new URL(supervisor.url).port }), STOP_WITH_STDIN: "1" },
					onLine(text) {
						const { level, message, fields } = parseLine(name, text, "");
						if (level !== "info") tell(message, fields);
					},
					onErrorLine: (text) => tell(text),
				}),
		});
		this.#supervisors.push(supervisor);
		const started = await supervisor.start();
		if ("url" in started) return started;
		throw new ConfigError("the start of the Guildhall demo", [`${name}: ${started.reason}`]);
	}

	/** The last one first. */
	async [Symbol.asyncDispose](): Promise<void> {
		for (const supervisor of this.#supervisors.toReversed()) await supervisor.close();
	}
}

/** For signing in; undefined beyond the loopback address, where that requires HTTPS. */
function publicUrlOf(bindAddress: string, port: number): string | undefined {
	const host = reachableHost(bindAddress);
	const isLoopback = ["127.0.0.1", "localhost", "[::1]"].includes(host);
	return isLoopback ? `http://${host}:${port}` : undefined;
}

/** Adds the redirect URI to an application; returns the gateway's variables for it. */
function signInSettings({ world, api }: Simulator, publicUrl: string): Record<string, string> {
	const bots = world.accounts.values();
	const clientId = bots.find(({ user }) => user.bot)?.user.id;
	if (!clientId) throw new Error("the simulator has no bot");
	const { clientSecret } = world.authorizations.configure(clientId, { redirectUris: [`${publicUrl}/oauth/callback`] });
	return {
		PUBLIC_URL: publicUrl,
		DISCORD_API_URL: api,
		DISCORD_CLIENT_ID: clientId,
		DISCORD_CLIENT_SECRET: clientSecret,
	};
}

function writeConfig(parent: string, name: string, given: { aiUrl: string; hasGame: boolean }): string {
	const directory = join(parent, name);
	mkdirSync(directory);
	writeFileSync(
		join(directory, "config.toml"),
		`bot_name = "${name}"
command_prefix = "${command.prefix}"
command_root = "${command.root}"

[features]
game = ${given.hasGame}
chat = true

[game]
slash_commands = true

[ai.providers.simulated]
url = "${given.aiUrl}"
model = "simulated"
api_key_env = "SIMULATED_API_KEY"
${given.hasGame && name === "beta" ? `\n[mcp]\napproval = "destructive"\napproval_for_root = true\n` : ""}`,
	);
	return directory;
}

async function respondsWith(url: string, text: string): Promise<void> {
	let last = "";
	for (const end = performance.now() + readyWithinMs; performance.now() < end; await Bun.sleep(20)) {
		last = await fetch(url, { signal: AbortSignal.timeout(1_000) }).then((response) => response.text(), String);
		if (last.trim() === text) return;
	}
	throw new ConfigError("the start of the Guildhall demo", [
		`${url} did not return "${text}" within ${readyWithinMs / 1000} s; its last response was "${last}"`,
	]);
}
