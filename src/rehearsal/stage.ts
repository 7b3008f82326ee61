// A copy of a guild in the simulator with the same bot in it, and what scenarios do there.

import { startBot } from "../bot/bot.ts";
import type { Answer, Rehearsal } from "../bot/guild-documents/rehearsals/rehearsals.ts";
import { featureOff, isKey } from "../bot/settings/keys.ts";
import { parseJson } from "../lib/json.ts";
import { createLog } from "../lib/log.ts";
import { encodePrincipal, principalHeader } from "../lib/principal.ts";
import { type RateLimits, realisticLimits } from "../simulator/rest/rate-limits.ts";
import { callerOf, startSimulator } from "../simulator/simulator.ts";
import type { Account, Member } from "../simulator/world/state/entities.ts";
import { has } from "../simulator/world/state/permissions.ts";
import { call, show } from "./memory-network.ts";
import { advance, during, isWatched } from "./virtual-time.ts";

export type Scenario = (stage: Stage, given: Rehearsal, random: () => number) => Promise<Answer>;

export type Stage = Awaited<ReturnType<typeof openStage>>;

const log = createLog({ format: "text", level: "error" }, console.error);
const token = "rehearsal";

let place = "";

/** A line of JSON for the bot. */
export const report = (line: { step: string } | { answer: Answer } | { error: string }) =>
	process.stdout.write(`${JSON.stringify("step" in line ? { step: line.step + place } : line)}\n`);

/** `dataDirectory`: for files that nobody else uses. */
export async function openStage(given: Rehearsal, dataDirectory: string, rateLimits?: RateLimits) {
	const { document, toml, botId, botRole = "", settings } = given;
	const simulator = await startSimulator({
		seed: { bots: [], guilds: [], users: [{ username: "owner" }] },
		worlds: [{ file: "the copy", document }],
		worldOptions: { botId, botRoles: [botRole] },
		timing: { allMembersMs: 0 },
		rateLimits,
		log,
	});
	const { world, api, documentGuilds, journal, requests } = simulator;
	const [made] = documentGuilds;
	const [owner] = world.users.people;
	if (!made || !owner) throw new Error("the copy has no guild");
	const { guild } = made;
	if (isWatched) place = `, to be watched at ${show(api)}`;
	report({ step: "starting the bot" });
	const config = {
		botName: toml.bot_name,
		command: "!m",
		timezone: toml.timezone,
		discordToken: made.bot.token,
		shards: 1,
		discordApiUrl: api,
		discordCdnUrl: simulator.cdn,
		guildId: guild.id,
		dataDirectory,
		mcpPort: 0,
		mcpBindAddress: "127.0.0.1",
		mcpToken: token,
		allowedHosts: [],
		allowedOrigins: [],
		apiKeys: {},
		toml: {
			...toml,
			// Neither the game server nor an AI provider can be reached, and nobody could approve.
			features: { ...toml.features, game: false, chat: false },
			mcp: { ...toml.mcp, approval: "off", guilds: undefined, toolsets: undefined, read_only: false },
			ai: {},
		},
	} as unknown as Parameters<typeof startBot>[0];
	const bot = startBot(config, log);
	while (!bot.loaded) await advance(100);
	let startedAt = 0;

	function begin(): void {
		startedAt = Date.now();
		requests.clear();
		journal.clear();
	}

	/** As a person. Undefined if it was refused. */
	async function request(account: Account, method: string, path: string, content?: object) {
		const { status, body } = await callerOf(simulator, account)(method, path, content);
		return status < 400 ? (Object(body) as Record<string, unknown>) : undefined;
	}

	function hijack({ user }: Member): Account {
		const account = { token: user.id, user, privilegedIntents: [] };
		world.state.accounts.set(account.token, account);
		return account;
	}

	/** A tool of the bot, in the name of the owner. Time passes until it ends. Throws its error. */
	async function tool(name: string, args: object): Promise<string> {
		const person = { id: guild.owner_id, name: "", signedIn: false };
		const principal = encodePrincipal({ id: "key:rehearsal", name: "rehearsal", access: "all", person });
		const { host } = new URL(bot.url);
		const headers = { host, authorization: `Bearer ${token}`, [principalHeader]: principal };
		const params = { name, arguments: { guild_id: guild.id, ...args } };
		const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
		const response = call(new Request(bot.url, { method: "POST", headers, body }));
		const text = await during(response.then((one) => one.text()));
		const { result, error } = Object(parseJson(/^data: (.*)$/m.exec(text)?.[1] ?? text));
		const said: string = result?.content.map((part: { text: string }) => part.text).join("\n") ?? error.message;
		// A plan of the copy is no plan of the guild.
		if (error || result.isError) throw new Error(`${name}: ${said.replace(/\nplan_hash=.*/s, "")}`);
		return said;
	}

	const kept = Object.entries(settings).filter(([key]) => !isKey(key) || !featureOff(key, config.toml.features));
	if (kept.length > 0) await tool("set_settings", { settings: Object.fromEntries(kept) });
	// The bot makes AutoMod rules.
	await advance(5_000);
	begin();
	return {
		world,
		guild,
		owner,
		begin,
		request,
		tool,
		costs: () => costs(requests.list().filter(({ actor }) => actor === botId)),
		hijack,
		/** Of a day. */
		newAccount: (username: string) =>
			world.users.addPerson({ username, id: world.state.newId(Date.now() - 86_400_000) }),
		/** Ids of the text channels in which it may write. */
		placesOf: ({ user }: Account) =>
			[...guild.channels.values()]
				.filter(
					(one) => one.type === 0 && has(world.channels.permissionsOf(one, user), ["ViewChannel", "SendMessages"]),
				)
				.map(({ id }) => id),
		/** Since the beginning, such as "9.1 s". */
		after: (at: string) => `${(Date.parse(at) - startedAt) / 1000} s`,
		done: (route: string) => journal.entries(route).filter(({ actor }) => actor === botId),
		async [Symbol.asyncDispose]() {
			await during(bot.close());
			await simulator.close();
		},
	};
}

/** How long Discord's limits make these requests last at least, as observed: it publishes none per route. */
function costs(sent: readonly { route: string | undefined; path: string }[]): string {
	const { global, each, routes } = realisticLimits;
	const places = Map.groupBy(sent, ({ route, path }) => [route, ...path.split("/").slice(1, 3)].join(" "));
	const secondsOf = (count: number, limit: typeof each) =>
		((Math.ceil(Math.max(count, 1) / limit.requests) - 1) * limit.perMs) / 1000;
	const all = [...places.values()].map((some) => secondsOf(some.length, routes?.[some[0]?.route ?? ""] ?? each));
	const seconds = Math.max(secondsOf(sent.length, global), ...all);
	const least = seconds < 1 ? "" : ` Discord's limits, as observed, make that last at least ${seconds} s.`;
	return `The bot sent ${sent.length} request(s).${least}`;
}
