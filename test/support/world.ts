// The simulator, the real bot in front of it, and an MCP client in front of that.

import { type BotOptions, startBot } from "../../src/bot/bot.ts";
import type { BotConfig } from "../../src/bot/config/config.ts";
import type { Stored } from "../../src/bot/settings/guild-settings.ts";
import { createLog, type Log } from "../../src/lib/log.ts";
import { moderatorPermissions } from "../../src/simulator/seed.ts";
import type { Simulator, SimulatorOptions } from "../../src/simulator/simulator.ts";
import type { NewRule } from "../../src/simulator/world/guilds/automod.ts";
import type {
	AutoModerationRule,
	Guild,
	GuildChannel,
	Member,
	Role,
	User,
} from "../../src/simulator/world/state/entities.ts";
import { connectedConfig, type TomlKeys } from "./bot-config.ts";
import { splitSettings, storeSettings } from "./guild-settings.ts";
import { connectTo, type McpCaller } from "./mcp.ts";
import { startSimulator } from "./simulator.ts";
import { testWith } from "./test-with.ts";
import { until } from "./until.ts";

export interface TestWorld extends AsyncDisposable, Pick<McpCaller, "call" | "expectResult" | "expectError"> {
	simulator: Simulator;
	/** The bot's own guild. */
	guild: Guild;
	bot: ReturnType<typeof startBot>;
	/** The directory of its SQLite file. */
	dataDirectory: string;
	mcp: McpCaller;
	/** The log lines of the bot. */
	logged: string[];
	/** Times out the pending Discord requests of the bot. */
	expireRequests(): void;
	/** Resolves when the bot has received all events so far, which arrive in order. */
	heard(): Promise<void>;
}

/** A channel and the link to a message in it, as results of tools name them. */
export function linked(
	{ guild }: Pick<TestWorld, "guild">,
	{ id, name }: { id: string; name: string },
	messageId: string | undefined,
): string {
	return `#${name} (ID: ${id}): https://discord.com/channels/${guild.id}/${id}/${messageId}`;
}

/** Reconnects without delay. */
export const quickTiming = {
	identifyMs: 0,
	backOffMs: [5, 200],
	invalidSessionMs: [5, 20],
	resendPauseMs: [5, 20],
} as const;

/** Starts a simulator and the bot "alpha", logged in and with its members loaded. */
export async function startWorld(
	options: SimulatorOptions = {},
	{
		tools,
		toml,
		settings,
		sections,
		mcpToken,
		apiKeys = {},
		// Tests send more than 50 per second.
		requestsPerSecond = 1_000_000,
	}: Pick<BotOptions, "tools" | "requestsPerSecond"> &
		Partial<Pick<BotConfig, "mcpToken" | "apiKeys">> & { toml?: TomlKeys | undefined } & {
			/** Of the bot's own guild, by key. */
			settings?: ((simulator: Simulator) => Stored | Promise<Stored>) | undefined;
			/** Both, in sections, in place of `toml` and `settings`. */
			sections?: ((simulator: Simulator) => Record<string, unknown>) | undefined;
		} = {},
): Promise<TestWorld> {
	const simulator = await startSimulator(options);
	const guild = simulator.guild("The Cooks");
	const logged: string[] = [];
	const log: Log = createLog({ format: "text", level: "debug" }, (line) => logged.push(line));
	const divided = sections && splitSettings(sections(simulator));
	const config = connectedConfig(simulator, { guildId: guild.id, toml: divided?.toml ?? toml, mcpToken, apiKeys });
	const stored = divided?.stored ?? (await settings?.(simulator));
	if (stored) await storeSettings(config, { [guild.id]: stored });
	let expiry = new AbortController();
	const bot = startBot(config, log, {
		tools,
		timing: quickTiming,
		timeoutSignal: (ms) => AbortSignal.any([AbortSignal.timeout(ms), expiry.signal]),
		requestsPerSecond,
	});
	await until("the bot has loaded", () => bot.loaded);
	const mcp = await connectTo(bot.url, mcpToken);
	const me = memberNamed({ guild }, "alpha");
	let marks = 0;
	let hearing: Promise<void> = Promise.resolve();
	async function hear(): Promise<void> {
		marks += 1;
		const nick = `mark-${marks}-`;
		simulator.world.members.edit(guild, me, { nick });
		await until("the bot has heard", async () => {
			const found = await mcp.call("lookup_user_by_name", { query: nick });
			return found.text.startsWith("1 match");
		});
		simulator.world.members.edit(guild, me, { nick: null });
	}
	return {
		simulator,
		guild,
		bot,
		dataDirectory: config.dataDirectory,
		mcp,
		logged,
		call: mcp.call,
		expectResult: mcp.expectResult,
		expectError: mcp.expectError,
		expireRequests() {
			const due = expiry;
			expiry = new AbortController();
			due.abort(new DOMException("The time is up", "TimeoutError"));
		},
		heard() {
			// One after another: a second nickname would replace the first before it is seen.
			hearing = hearing.catch(() => {}).then(hear);
			return hearing;
		},
		async [Symbol.asyncDispose]() {
			await bot.close();
			await simulator.close();
		},
	};
}

/** The Cooks with their channel #general and owner ada; Discord hides what others write from the bot. */
export const blindSeed = {
	bots: [{ username: "alpha", privilegedIntents: ["GuildMembers"] as const }],
	users: [{ username: "ada" }],
	guilds: [
		{
			name: "The Cooks",
			owner: "ada",
			bots: [{ username: "alpha", permissions: 0n }],
			channels: [{ name: "general" }],
		},
	],
};

/** Something that runs in a guild; or the simulator, for its guild The Cooks. */
type Place = Simulator | Pick<TestWorld, "guild">;
const worldOf = (place: Simulator | Pick<TestWorld, "simulator">) =>
	("simulator" in place ? place.simulator : place).world;
const guildOf = ({ guild }: Place): Guild => (typeof guild === "function" ? guild("The Cooks") : guild);

function named<Thing>(things: ReadonlyMap<string, Thing>, name: string, nameOf: (thing: Thing) => string): Thing {
	for (const thing of things.values()) if (nameOf(thing) === name) return thing;
	throw new Error(`nothing is called ${name}`);
}

export const channelNamed = (place: Place, name: string): GuildChannel =>
	named(guildOf(place).channels, name, (channel) => channel.name);

export const roleNamed = (place: Place, name: string): Role => named(guildOf(place).roles, name, (role) => role.name);

/** The member, a person or a bot. */
export const memberNamed = (place: Place, name: string): Member =>
	named(guildOf(place).members, name, ({ user }) => user.username);

/** The account of a person or bot. */
export const userNamed = (place: Simulator | Pick<TestWorld, "simulator">, name: string): User =>
	named(worldOf(place).accounts, name, ({ user }) => user.username).user;

/** Gives a member a new role beside their others. By default it ranks lowest; at position 99 above the bot. */
export function giveRole(
	place: Simulator | Pick<TestWorld, "simulator" | "guild">,
	person: string,
	{ permissions = 0n, ...role }: { name?: string; permissions?: bigint; position?: number } = {},
): Role {
	const world = worldOf(place);
	const guild = guildOf(place);
	const given = world.roles.add(guild, { name: "Given", permissions: String(permissions), ...role });
	const member = memberNamed(place, person);
	world.members.edit(guild, member, { roles: [...member.roles, given.id] });
	return given;
}

/** Adds an AutoMod rule of the owner: by default one that blocks "soup". */
export function addRule(
	place: Simulator | Pick<TestWorld, "simulator" | "guild">,
	more: Partial<NewRule> = {},
): AutoModerationRule {
	const guild = guildOf(place);
	return worldOf(place).autoModeration.add(guild, {
		name: "No soup",
		creator_id: guild.owner_id,
		enabled: true,
		event_type: 1,
		trigger_type: 1,
		trigger_metadata: { keyword_filter: ["soup"] },
		actions: [{ type: 1, metadata: {} }],
		exempt_roles: [],
		exempt_channels: [],
		...more,
	});
}

/** Gives the bot's guild the feature that stage and announcement channels need. */
export async function makeCommunity(world: TestWorld): Promise<void> {
	world.simulator.world.guilds.edit(world.guild, { features: ["COMMUNITY"] });
	await world.heard();
}

/** Adds the bot to another guild, The Bakers. */
export function addToBakers(place: Simulator | Pick<TestWorld, "simulator">): Guild {
	const bakers = ("simulator" in place ? place.simulator : place).guild("The Bakers");
	worldOf(place).members.add(bakers, userNamed(place, "alpha"), { botPermissions: moderatorPermissions });
	return bakers;
}

interface OverwriteBits {
	allow?: bigint;
	deny?: bigint;
}

/** A permission overwrite of a role, as channels have them. */
export const roleOverwrite = (id: string, { allow = 0n, deny = 0n }: OverwriteBits) => ({
	id,
	type: 0 as const,
	allow: String(allow),
	deny: String(deny),
});

/** A permission overwrite of a member. */
export const memberOverwrite = (id: string, bits: OverwriteBits) => ({ ...roleOverwrite(id, bits), type: 1 as const });

/** Denies the bot these permissions, and no others, in a channel. Resolves when a bot with an MCP client has heard of it. */
export async function denyBot(
	{ simulator, heard }: Pick<TestWorld, "simulator"> & Partial<Pick<TestWorld, "heard">>,
	channel: GuildChannel,
	deny: bigint,
): Promise<void> {
	simulator.world.channels.setOverwrite(channel, memberOverwrite(simulator.bot("alpha").id, { deny }));
	await heard?.();
}

/** The requests with other methods than GET, in order. */
export function writes({ simulator }: TestWorld): string[] {
	return simulator.requests
		.list()
		.filter(({ method }) => method !== "GET")
		.map(({ method, path }) => `${method} ${path}`);
}

/** The hash of a plan that creates this many roles. */
export async function planOf({ expectResult }: TestWorld, count: number): Promise<string> {
	const roles = Array.from({ length: count }, (_, index) => ({ name: `made-${index}` }));
	return /plan_hash=(\w+)/.exec(await expectResult("plan_guild", { document: { roles } }))?.[1] ?? "";
}

/** A test with a world of its own. */
export const worldTest = testWith(startWorld);
