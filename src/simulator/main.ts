// `bun run simulator`: the demo's Discord, or the guilds of documents, with a game server and an AI provider.

import * as v from "valibot";
import { ConfigError, formatValue, parseSettings, port } from "../lib/config.ts";
import { parseCommandLine, runProgram, runs } from "../lib/program/program.ts";
import { escapeBreaks } from "../lib/text.ts";
import { type AiSimulation, startAiProvider } from "./ai/ai-provider.ts";
import { summarizeState } from "./control/views.ts";
import { readWorlds, worldOptions, worldUsage } from "./documents/command-line.ts";
import { type GameServer, startGameServer } from "./game/game-server.ts";
import { realisticLimits } from "./rest/rate-limits.ts";
import { addInvites } from "./seed.ts";
import { type Simulator, startSimulator } from "./simulator.ts";

const localGateway = ["127.0.0.1", "localhost"].map((host) => `http://${host}:9100/oauth/callback`);

const redirectUri = v.pipe(
	v.string(),
	v.check(
		(uri) => URL.canParse(uri),
		({ input }) => `expected a URI, received ${formatValue(input)}`,
	),
);

const usage = `${runs("simulator")}: Discord's REST API and Gateway in memory, on a loopback port

  --port N          Discord's port (default 9200; 0 picks a free port)
  --game-port N     the game server's port (default: a free port)
  --ai-port N       the AI provider's port (default: a free port)
  --redirect-uri URI
                    an OAuth2 redirect URI of the bots' applications; several times
                    for several (default: those of a gateway on port 9100)
${worldUsage}
  --json            print one line of JSON with all URLs, tokens and ids
  --help            print this text
  --version         print the version`;

const values = parseCommandLine(usage, {
	port: { type: "string" },
	"game-port": { type: "string" },
	"ai-port": { type: "string" },
	"redirect-uri": { type: "string", multiple: true },
	...worldOptions,
	json: { type: "boolean" },
});

const json = values.json === true;

await runProgram(
	() => {
		const { settings, issues } = parseSettings(
			v.object({
				port: v.optional(port, "9200"),
				"game-port": v.optional(port, "0"),
				"ai-port": v.optional(port, "0"),
				"redirect-uri": v.optional(v.array(redirectUri), localGateway),
			}),
			values,
		);
		if (!settings) throw new ConfigError("the command line", issues);
		return { ...settings, log: { format: json ? "json" : "text", level: "info" } as const };
	},
	async ({ port, "game-port": gamePort, "ai-port": aiPort, "redirect-uri": redirectUris }, log) => {
		const { worlds, worldOptions } = await readWorlds(values);
		const gameServer = await startGameServer({ port: gamePort });
		const ai = await startAiProvider({ port: aiPort });
		const simulator = await startSimulator({
			port,
			rateLimits: realisticLimits,
			worlds,
			worldOptions: { ...worldOptions, progress: console.error },
			log,
		});
		addInvites(simulator.world);
		for (const { user } of simulator.world.users.bots)
			simulator.world.authorizations.configure(user.id, { redirectUris });
		gameServer.issueCode({ username: "Steve" });
		console.log(json ? JSON.stringify(endpoints(simulator, gameServer, ai)) : instructions(simulator, gameServer, ai));
		return {
			close: async () => {
				await simulator.close();
				await gameServer.close();
				await ai.close();
			},
		};
	},
	// With --json stdout contains only that line.
	json ? console.error : console.log,
);

function endpoints(simulator: Simulator, game: GameServer, ai: AiSimulation) {
	return {
		...summarizeState(simulator, ""),
		worlds: simulator.documentGuilds.map(({ file, guild, bot, notes }) => ({
			file,
			guild_id: guild.id,
			bot: bot.user.username,
			notes,
		})),
		game: { url: game.url, secret: game.secret, codes: [...game.codes.keys()] },
		ai: { url: ai.url, key: ai.key },
	};
}

function instructions(simulator: Simulator, game: GameServer, ai: AiSimulation): string {
	const { bots, users, worlds, url, api, cdn } = endpoints(simulator, game, ai);
	return [
		`Discord is simulated at ${url}/: open this page in a browser to watch, and to act as a person`,
		"",
		"Settings for a bot:",
		...bots.map(
			({ username, token, guilds: [guild] }) =>
				`  DISCORD_API_URL=${api} DISCORD_CDN_URL=${cdn} DISCORD_TOKEN=${token} GUILD_ID=${guild?.id}    # ${username}, in ${escapeBreaks(guild?.name ?? "")}`,
		),
		"",
		"Settings for signing in with Discord:",
		...bots.map(
			({ id, username, client_secret }) =>
				`  DISCORD_API_URL=${api} DISCORD_CLIENT_ID=${id} DISCORD_CLIENT_SECRET=${client_secret}    # ${username}`,
		),
		"",
		"People and their tokens:",
		...users.map(({ username, token }) => `  ${username.padEnd(14)} ${token}`),
		"",
		...worlds
			.filter(({ notes }) => notes.length > 0)
			.flatMap(({ file, notes }) => [`Not as in ${file}:`, ...notes.map((note) => `  ${note}`), ""]),
		"Refuse the next message with Missing Permissions:",
		`  curl -X POST ${url}/simulator/faults -d '{"kind":"refuse","match":"POST /channels/*/messages","code":50013,"times":1}'`,
		"List the executed writes:",
		`  curl ${url}/simulator/journal`,
		"",
		"Game server:",
		`  GAME_VERIFY_URL=${game.url} GAME_VERIFY_SECRET=${game.secret}`,
		`  A verification code: ${[...game.codes.keys()].join(", ")}. Issue another:`,
		`  curl -X POST ${game.url}/simulator/codes -d '{"username":"Alex"}'`,
		"",
		"AI provider (first line for .env, the others for config.toml):",
		`  SIMULATED_API_KEY=${ai.key}`,
		"  [ai.providers.simulated]",
		`  url = "${ai.url}"`,
		'  model = "simulated"',
		'  api_key_env = "SIMULATED_API_KEY"',
		"",
	].join("\n");
}
