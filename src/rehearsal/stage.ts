// A copy of a guild in the simulator with the same bot in it, and what scenarios do there.

import * as v from "valibot";
import { startBot } from "../bot/bot.ts";
import type { BotConfig } from "../bot/config/config.ts";
import { toml as tomlSettings } from "../bot/config/settings.ts";
import type { DocumentRequest, RequestOutput } from "../bot/guild-documents/command-line/requests.ts";
import type { Answer, Rehearsal } from "../bot/guild-documents/rehearsals/rehearsals.ts";
import { parseJson } from "../lib/json.ts";
import { createLog } from "../lib/log.ts";
import { encodePrincipal, principalHeader } from "../lib/principal.ts";
import { inMemory } from "../lib/store/sqlite.ts";
import type { DocumentGuild } from "../simulator/documents/build-guild.ts";
import type { RequestRecord } from "../simulator/rest/journal.ts";
import { type RateLimits, realisticLimits } from "../simulator/rest/rate-limits.ts";
import { callerOf, type Simulator, startSimulator } from "../simulator/simulator.ts";
import type { Account, Member } from "../simulator/world/state/entities.ts";
import { has } from "../simulator/world/state/permissions.ts";
import { advance, call, during, isWatched, show } from "./sandbox.ts";

export type Scenario = (stage: Stage, given: Rehearsal) => Promise<Answer>;

export type Stage = Awaited<ReturnType<typeof openStage>>;

const log = createLog({ format: "text", level: "error" }, console.error);
const token = "rehearsal";
/** Shown by name. */
const maxRoutes = 8;

let place = "";

/** A line of JSON for the bot. */
export const report = (line: { step: string } | { answer: Answer } | { error: string }) =>
	process.stdout.write(`${JSON.stringify("step" in line ? { step: line.step + place } : line)}\n`);

/** `missing`: what the copy lacks is added. */
export async function openStage(given: Rehearsal, missing: Set<string>, rateLimits?: RateLimits) {
	const { document, botId, botRole = "" } = given;
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
	guild.countedMembers = sumOf(given.counted);
	// The copy that is played next has the same address.
	if (isWatched) place ||= `, to be watched at ${show(api)}`;
	report({ step: "starting the bot" });
	// Nobody else changes the copy while a job runs.
	const documents = { maxStateAgeMs: () => Infinity, readBackups: { read: async () => given.backup } as never };
	const bot = startBot(configOf(given, simulator, made), log, { documents });
	// Without the intent it never has all members.
	while (!(given.toml.intents.includes("GuildMembers") ? bot.loaded : bot.ready)) await advance(100);
	let startedAt = 0;

	const sent: RequestRecord[] = [];
	requests.ended.add((one) => {
		if (one.actor === botId) sent.push(one);
	});

	function begin(): void {
		startedAt = Date.now();
		sent.length = 0;
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

	/** The text of the bot's response. Time passes until it ends. */
	async function post(path: string, input: object, principal = {}): Promise<string> {
		const { host, href } = new URL(path, bot.url);
		const headers = { host, authorization: `Bearer ${token}`, ...principal };
		const response = call(new Request(href, { method: "POST", headers, body: JSON.stringify(input) }));
		return during(response.then((one) => one.text()));
	}

	/** A tool of the bot, in the name of the owner. Throws its error. */
	async function tool(name: string, args: object): Promise<string> {
		const person = { id: guild.owner_id, name: "", signedIn: false };
		const principal = encodePrincipal({ id: "key:rehearsal", name: "rehearsal", access: "all", person });
		const params = { name, arguments: { guild_id: guild.id, ...args } };
		const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
		const text = await post("/mcp", request, { [principalHeader]: principal });
		const { result, error = { message: text } } = Object(parseJson(/^data: (.*)$/m.exec(text)?.[1] ?? text));
		const said: string = result?.content.map((part: { text: string }) => part.text).join("\n") ?? error.message;
		if (!result || result.isError) throw new Error(`${name}: ${said}`);
		return said;
	}

	/** As the command line does, without a person. Throws its error. */
	async function ask<Name extends DocumentRequest>(name: Name, input: object): Promise<RequestOutput<Name>> {
		// Plans of 20,000 steps leave much behind.
		Bun.gc(true);
		const output = Object(parseJson(await post(`/guild-document/${name}`, input)));
		if (output.error) throw new Error(output.error);
		return output;
	}

	const canWrite = (user: Account["user"], channel: Parameters<typeof world.channels.permissionsOf>[0]) =>
		channel.type === 0 && has(world.channels.permissionsOf(channel, user), ["ViewChannel", "SendMessages"]);

	const kept = await setEach(given, missing, (some) => tool("set_settings", { settings: some }));
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
		ask,
		plan: (document: unknown) => ask("plan", { guild_id: guild.id, document }),
		settings: kept,
		/** Requests of the bot. */
		sent,
		costs: () => costs(sent),
		hijack,
		/** Of a day. */
		newAccount: (username: string) =>
			world.users.addPerson({ username, id: world.state.newId(Date.now() - 86_400_000) }),
		/** Ids of the text channels in which it may write. */
		placesOf: ({ user }: Account) =>
			[...guild.channels.values()].filter((one) => canWrite(user, one)).map(({ id }) => id),
		/** That were not deleted. */
		messagesOf: (userId: string) =>
			[...guild.channels.keys()]
				.flatMap((id) => world.messages.in(id))
				.filter(({ type, author }) => type === 0 && author.id === userId),
		/** Since the beginning, such as "after 9.1 s". */
		after: (at: string) => (Date.parse(at) > startedAt ? `after ${(Date.parse(at) - startedAt) / 1000} s` : "at once"),
		done: (route: string) => journal.entries(route).filter(({ actor }) => actor === botId),
		async [Symbol.asyncDispose]() {
			await during(bot.close());
			await simulator.close();
		},
	};
}

export const sumOf = (groups: readonly { count: number }[]) => groups.reduce((sum, { count }) => sum + count, 0);

/** Returns those that the bot can have in the copy. The backup does not bring back the others. */
async function setEach({ settings, backup }: Rehearsal, missing: Set<string>, set: (some: object) => Promise<unknown>) {
	const kept = { ...settings };
	if (Object.keys(kept).length === 0 || (await set(kept).catch(() => undefined))) return kept;
	for (const [key, value] of Object.entries(settings))
		await set({ [key]: value }).catch(({ message }) => {
			missing.add(`the setting ${key}: ${message.replace(/^.*?: .*?: |\nNothing was done\.$/g, "")}`);
			delete kept[key];
			delete backup?.document.bot?.[key];
		});
	return kept;
}

function configOf({ toml, deny }: Rehearsal, { api, cdn }: Simulator, { bot, guild }: DocumentGuild): BotConfig {
	const defaults = v.parse(tomlSettings, { bot_name: toml.bot_name });
	const tools = { deny: deny.filter((name) => name !== "set_settings") };
	return {
		botName: toml.bot_name,
		command: "!m",
		timezone: toml.timezone,
		discordToken: bot.token,
		shards: 1,
		discordApiUrl: api,
		discordCdnUrl: cdn,
		guildId: guild.id,
		dataDirectory: inMemory,
		mcpPort: 0,
		mcpBindAddress: "127.0.0.1",
		mcpToken: token,
		allowedHosts: [],
		allowedOrigins: [],
		apiKeys: {},
		toml: { ...defaults, ...toml, mcp: { ...defaults.mcp, tools } },
	} as unknown as BotConfig;
}

/** By route, and how long Discord's limits make them last at least, as observed: it publishes none per route. */
function costs(sent: readonly RequestRecord[]): string[] {
	const { global, each, routes } = realisticLimits;
	const secondsOf = (count: number, limit: typeof each) =>
		((Math.ceil(Math.max(count, 1) / limit.requests) - 1) * limit.perMs) / 1000;
	const rows = Array.from(Map.groupBy(sent, ({ route = "others" }) => route).entries(), ([route, some]) => {
		const places = Map.groupBy(some, ({ path }) => path.split("/").slice(1, 3).join("/"));
		const count = Math.max(...places.values().map(({ length }) => length));
		return { route, count: some.length, seconds: secondsOf(count, routes?.[route] ?? each) };
	}).sort((a, b) => b.seconds - a.seconds || b.count - a.count);
	const seconds = Math.max(secondsOf(sent.length, global), rows[0]?.seconds ?? 0);
	const rest = rows.splice(maxRoutes);
	if (rest[0]) rows.push({ ...rest[0], route: `${rest.length} other routes`, count: sumOf(rest) });
	return [{ route: "Requests of the bot", count: sent.length, seconds }, ...rows].map(
		(one) =>
			`${one.route}: ${one.count}${one.seconds < 1 ? "" : `, at least ${one.seconds} s by Discord's limits as observed`}`,
	);
}
