// `bun run simulator`: the demo's Discord, with a game server and an AI provider.

import * as v from "valibot";
import { ConfigError, parseSettings, port } from "../lib/config.ts";
import { parseCommandLine, runProgram } from "../lib/program.ts";
import { type AiSimulation, startAiProvider } from "./ai/ai-provider.ts";
import { type GameServer, startGameServer } from "./game/game-server.ts";
import { realisticLimits } from "./rest/rate-limits.ts";
import { type Simulator, startSimulator } from "./simulator.ts";

const usage = `bun run simulator: Discord's REST API and Gateway in memory, on the loopback

  --port N        where Discord listens; 9200 unless said otherwise, 0 for any free port
  --game-port N   where the game server listens; any free port unless said otherwise
  --ai-port N     where the AI provider listens; any free port unless said otherwise
  --json          one line on stdout with all URLs, tokens and ids
  --help          this text
  --version       the version`;

const values = parseCommandLine(usage, {
	port: { type: "string" },
	"game-port": { type: "string" },
	"ai-port": { type: "string" },
	json: { type: "boolean" },
});

const json = values.json === true;

await runProgram(
	() => {
		const { settings, faults } = parseSettings(
			v.object({
				port: v.optional(port, "9200"),
				"game-port": v.optional(port, "0"),
				"ai-port": v.optional(port, "0"),
			}),
			values,
		);
		if (!settings) throw new ConfigError("the command line", faults);
		const format = json ? "json" : "text";
		return { ...settings, log: { format, level: "info" } as const };
	},
	async ({ port, "game-port": gamePort, "ai-port": aiPort }, log) => {
		const gameServer = await startGameServer({ port: gamePort });
		const ai = await startAiProvider({ port: aiPort });
		const simulator = await startSimulator({
			port,
			rateLimits: realisticLimits,
			log,
		});
		gameServer.issueCode({ username: "Steve" });
		console.log(
			json
				? JSON.stringify(endpoints(simulator, gameServer, ai))
				: instructions(simulator, gameServer, ai),
		);
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

function endpoints(
	{ world, url, api }: Simulator,
	game: GameServer,
	ai: AiSimulation,
) {
	const accounts = [...world.accounts.values()];
	return {
		url,
		api,
		bots: accounts
			.filter(({ user }) => user.bot)
			.map(({ user, token }) => ({
				id: user.id,
				username: user.username,
				token,
				guilds: [...world.guilds.values()]
					.filter((guild) => guild.members.has(user.id))
					.map(({ id, name }) => ({ id, name })),
			})),
		users: accounts
			.filter(({ user }) => !user.bot)
			.map(({ user, token }) => ({
				id: user.id,
				username: user.username,
				token,
			})),
		guilds: [...world.guilds.values()].map(({ id, name, channels }) => ({
			id,
			name,
			channels: Object.fromEntries(
				Array.from(channels.values(), (channel) => [channel.name, channel.id]),
			),
		})),
		game: {
			url: game.url,
			secret: game.secret,
			codes: [...game.codes.keys()],
		},
		ai: { url: ai.url, key: ai.key },
	};
}

function instructions(
	simulator: Simulator,
	game: GameServer,
	ai: AiSimulation,
): string {
	const { bots, users, guilds, url, api } = endpoints(simulator, game, ai);
	const [person] = users;
	const channel = guilds[0]?.channels.general;
	return [
		`Discord is simulated on ${url}`,
		"",
		"Point a bot at it with one of these:",
		...bots.map(
			({ username, token, guilds: [guild] }) =>
				`  DISCORD_API_URL=${api} DISCORD_TOKEN=${token} GUILD_ID=${guild?.id}    # ${username}, in ${guild?.name}`,
		),
		"",
		"The people, and their tokens:",
		...users.map(({ username, token }) => `  ${username.padEnd(14)} ${token}`),
		"",
		`Post as ${person?.username} in ${guilds[0]?.name}, #general:`,
		`  curl -X POST ${api}/v10/channels/${channel}/messages -H 'authorization: ${person?.token}' -H 'content-type: application/json' -d '{"content":"hello"}'`,
		"Have the next message refused with Missing Permissions:",
		`  curl -X POST ${url}/simulator/faults -d '{"kind":"refuse","match":"POST /channels/*/messages","code":50013,"times":1}'`,
		"Read what was done:",
		`  curl ${url}/simulator/journal`,
		"",
		"The game server:",
		`  GAME_VERIFY_URL=${game.url} GAME_VERIFY_SECRET=${game.secret}`,
		`  A code to verify with: ${[...game.codes.keys()].join(", ")}. Another one:`,
		`  curl -X POST ${game.url}/simulator/codes -d '{"username":"Alex"}'`,
		"",
		"The AI provider: the first line goes into .env, the others into config.toml:",
		`  SIMULATED_API_KEY=${ai.key}`,
		"  [ai.providers.simulated]",
		`  url = "${ai.url}"`,
		'  model = "simulated"',
		'  api_key_env = "SIMULATED_API_KEY"',
		"Ask it, and have it break off in its next answer:",
		`  curl ${ai.url}/chat/completions -H 'authorization: Bearer ${ai.key}' -d '{"model":"simulated","messages":[{"role":"user","content":"hello"}],"stream":true}'`,
		`  curl ${ai.origin}/simulator/misbehave -d '{"kind":"cut","times":1}'`,
		"",
	].join("\n");
}
