// `bun run simulator`: a Discord to try things on, with two guilds, two bots and six people, and a game server beside it.

import * as v from "valibot";
import { ConfigError, parseSettings, port } from "../lib/config.ts";
import { parseCommandLine, runProgram } from "../lib/program.ts";
import { type GameServer, startGameServer } from "./game-server.ts";
import { realisticLimits } from "./rate-limits.ts";
import { type Simulator, startSimulator } from "./simulator.ts";

const usage = `bun run simulator: Discord's REST API and Gateway in memory, on the loopback

  --port N        where Discord listens; 9200 unless said otherwise, 0 for any free port
  --game-port N   where the game server listens; any free port unless said otherwise
  --json          one line on stdout with all URLs, tokens and ids
  --help          this text
  --version       the version`;

const values = parseCommandLine(usage, {
	port: { type: "string" },
	"game-port": { type: "string" },
	json: { type: "boolean" },
});

const json = values.json === true;

await runProgram(
	() => {
		const { settings, faults } = parseSettings(
			v.object({
				port: v.optional(port, "9200"),
				"game-port": v.optional(port, "0"),
			}),
			values,
		);
		if (!settings) throw new ConfigError("the command line", faults);
		const format = json ? "json" : "text";
		return { ...settings, log: { format, level: "info" } as const };
	},
	async ({ port, "game-port": gamePort }, log) => {
		const gameServer = await startGameServer({ port: gamePort });
		const simulator = await startSimulator({
			port,
			rateLimits: realisticLimits,
			log,
		});
		gameServer.issueCode({ username: "Steve" });
		console.log(
			json
				? JSON.stringify(facts(simulator, gameServer))
				: directions(simulator, gameServer),
		);
		return {
			close: async () => {
				await simulator.close();
				await gameServer.close();
			},
		};
	},
	// With --json stdout has one line, and a program reads it.
	json ? console.error : console.log,
);

function facts({ world, url, api }: Simulator, game: GameServer) {
	const accounts = [...world.accounts.values()];
	return {
		...{ url, api },
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
	};
}

function directions(simulator: Simulator, game: GameServer): string {
	const { bots, users, guilds, url, api } = facts(simulator, game);
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
	].join("\n");
}
