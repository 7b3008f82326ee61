// The demo's two communities, from world.yaml: who has said what, and what people do when the bots are there.

import { ConfigError } from "../lib/config.ts";
import { encodePrincipal, principalHeader } from "../lib/principal.ts";
import { demoSeed, moderatorPermissions, type Seed } from "../simulator/seed.ts";
import type { Simulator } from "../simulator/simulator.ts";
import type { Guild } from "../simulator/world/state/entities.ts";
import { createSnowflakes } from "../simulator/world/state/snowflake.ts";
import source from "./world.yaml" with { type: "text" };

interface Community {
	bot: string;
	guild: Seed["guilds"][0];
	members: Record<string, string[]>;
	messages: string;
	acts: [who: string, what: string, given: Record<string, string>][];
}

type World = { tour: string; answers: Record<string, string>; communities: Community[] };

const { tour, answers, communities } = Bun.YAML.parse(source) as World;
const unitMs: Record<string, number> = { h: 3_600_000, d: 86_400_000 };
const msOf = (age: string) => Number.parseInt(age, 10) * (unitMs[age.slice(-1)] ?? 0);
const rowsOf = (text: string) => Array.from(text.trimEnd().split("\n"), (line) => line.split(" | "));

export function worldSeed(): Seed {
	const { bots, users: known } = demoSeed();
	const names = new Set(communities.flatMap(({ members }) => Object.keys(members)));
	// Before anybody has joined.
	const newId = createSnowflakes();
	const id = () => newId(Date.now() - msOf("365d"));
	const users = Array.from(names, (username) => ({
		username,
		id: id(),
		...known.find((one) => one.username === username),
	}));
	const guilds = communities.map(({ bot, guild, members }) => ({
		...guild,
		id: id(),
		bots: [{ username: bot, permissions: moderatorPermissions }],
		members: Object.entries(members).map(([username, roles]) => ({ username, roles })),
	}));
	return { bots: bots.map((bot) => ({ ...bot, id: id() })), users, guilds };
}

/** The steps of the tour on the simulator's page: see world.yaml. */
export const tourWith = (links: { console: string }) => rowsOf(tour.replace("{console}", links.console));

/** What the simulated AI knows. */
export function answerTo(question: string): string | undefined {
	return Object.entries(answers).find(([word]) => question.includes(word))?.[1];
}

/** Adds what has been said. */
export function addHistory(simulator: Simulator): void {
	const { world } = simulator;
	for (const { guild: given, messages } of communities) {
		const guild = simulator.guild(given.name);
		const members = [...guild.members.values()];
		for (const member of members) member.joined_at = new Date(Date.now() - msOf("90d")).toISOString();
		for (const [index, row] of rowsOf(messages).entries()) {
			const [place, author = "", age = "", text = "", reactions = "", thread] = row;
			const { channel } = simulator.channel(`${guild.name}/${place}`);
			const user = world.users.get(simulator.user(author).id);
			if (!user) continue;
			// Of two messages of the same age, the second is a minute younger.
			const id = world.state.newId(Date.now() - msOf(age) + index * 60_000);
			const content = withMentions(simulator, guild, text.replaceAll("\\n", "\n"));
			const message = world.messages.add(channel, user, { id, content });
			for (const [, name = "", count] of reactions.matchAll(/(\S+) (\d+)/g))
				for (const { user } of members.slice(-Number(count)))
					world.reactions.add(channel, message, user, { id: null, name });
			if (thread && "position" in channel) world.threads.add(channel, user, { name: thread, message });
		}
	}
}

/** What people do when a bot is ready. What an assistant asks for waits for an approval. */
export async function play(simulator: Simulator, bot: { name: string; url: string; token: string }): Promise<void> {
	const { guild: given, acts } = communities.find((one) => one.bot === bot.name) ?? {};
	const guild = simulator.guild(given?.name ?? "");
	for (const [who, what, args] of acts ?? []) {
		const values = withIds(simulator, guild, args);
		const { id } = simulator.channel(values.channel ?? `${guild.name}/general`);
		const { world } = simulator;
		if (what === "join") world.members.add(guild, world.users.addPerson({ username: who, ...args }).user);
		else if (what === "say") await simulator.user(who).say(id, withMentions(simulator, guild, args.text ?? ""));
		else if (what.startsWith("/")) await runCommand(simulator.user(who), what.slice(1), id, values);
		else if (who === "assistant") callTool(bot, what, values).catch(() => {});
		else await callTool(bot, what, values, simulator.user(who).id);
	}
}

async function runCommand(person: ReturnType<Simulator["user"]>, name: string, channel: string, values: object) {
	// A bot registers its commands after it is ready.
	while (!person.commands(channel).some((one) => one.name === name)) await Bun.sleep(20);
	if (name !== "settings") return void (await person.run(channel, name, { ...values }));
	// With approvals, a call of set_settings would wait for one.
	const panel = await (await person.run(channel, name)).reply();
	for (const [key, value] of Object.entries(values)) {
		const [page = ""] = key.split(".");
		await (await person.select(panel, "settings:page", page)).reply();
		await (await person.select(panel, `settings:set:${page}:0:${key}`, value)).reply();
	}
}

/** In the name of a person, if there is one. */
async function callTool(bot: { url: string; token: string }, name: string, args: object, personId?: string) {
	const person = personId && { id: personId, name: "", signedIn: false };
	const response = await fetch(`${bot.url}/mcp`, {
		method: "POST",
		headers: {
			Authorization: `Bearer ${bot.token}`,
			"Content-Type": "application/json",
			...(person && { [principalHeader]: encodePrincipal({ id: "key:demo", name: "demo", access: "all", person }) }),
		},
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
	});
	const text = await response.text();
	if (!text.includes('"result"') || text.includes('"isError":true'))
		throw new ConfigError("the start of the Guildhall demo", [`${name}: ${text}`]);
}

/** Replaces #channel, @role and @person in a text by mentions. */
function withMentions(simulator: Simulator, guild: Guild, text: string): string {
	return text.replaceAll(/([#@])([\w.-]*\w)/g, (_, sign, name) => {
		if (sign === "#") return `<#${simulator.channel(`${guild.name}/${name}`).id}>`;
		const role = guild.roles.values().find((one) => one.name === name && !one.managed);
		return `<@${role?.id ?? simulator.user(name).id}>`;
	});
}

/** Replaces each value that is #channel, @role or @person by its id, and "in 3d" by a time. */
function withIds<T extends object>(simulator: Simulator, guild: Guild, args: T): T {
	return JSON.parse(JSON.stringify(args), (_, value) => {
		if (/^[#@]\S+$/.test(value)) return withMentions(simulator, guild, value).replaceAll(/\D/g, "");
		return /^in \d+[hd]$/.test(value) ? new Date(Date.now() + msOf(value.slice(3))).toISOString() : value;
	});
}
