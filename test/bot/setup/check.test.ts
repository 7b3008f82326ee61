import { describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { startBot } from "../../../src/bot/bot.ts";
import { type BotConfig, idleApproval, withoutToken } from "../../../src/bot/config/config.ts";
import { checkBot } from "../../../src/bot/setup/check.ts";
import { CheckFailed } from "../../../src/lib/program/check.ts";
import { demoSeed } from "../../../src/simulator/seed.ts";
import type { Simulator, SimulatorOptions } from "../../../src/simulator/simulator.ts";
import type { Guild, GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { botConfig } from "../../support/bot-config.ts";
import { versionsOf } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { addToBakers, quickTiming, roleNamed, roleOverwrite } from "../../support/world.ts";

/** An id that nothing has. */
const nobody = "12345678901234567";
const mcpToken = "the-token-of-this-mcp-server";

/** The simulator, and a configuration of alpha's that names a role or a channel wherever one can be named. */
async function startFixture(options: SimulatorOptions = {}) {
	const simulator = await startSimulator(options);
	const guild = simulator.guild("The Cooks");
	const role = (name: string) => roleNamed(simulator, name);
	const general = simulator.channel("The Cooks/general").channel as GuildChannel;
	const staff = simulator.channel("The Cooks/staff").channel as GuildChannel;
	const toml = { bot_name: "Alpha", features: { moderation: true } as Record<string, boolean>, mcp: {} };
	const settings: Record<string, unknown> = {
		"audit.channel": staff.id,
		"moderation.log_channel": staff.id,
		"auto_role.from_role": role("Newcomer").id,
		"auto_role.to_role": role("Regular").id,
		"auto_role.min_messages": 1,
		"join_role.role": role("Newcomer").id,
		"welcome.channel": general.id,
	};
	const env = {
		discordToken: simulator.bot("alpha").token,
		discordApiUrl: simulator.api,
		clientId: simulator.bot("alpha").id as string | undefined,
		guildId: guild.id as string | undefined,
		mcpToken,
		mcpPort: 0,
	};
	return {
		simulator,
		guild,
		role,
		general,
		staff,
		toml,
		settings,
		env,
		config: () => botConfig({ ...env, toml }),
		check: (options: CheckOptions = {}) =>
			check(botConfig({ ...env, toml }), {
				selectSettings: async () => versionsOf({ [guild.id]: settings }),
				...options,
			}),
		[Symbol.asyncDispose]: () => simulator.close(),
	};
}

const fixtureTest = testWith(startFixture);

type Fixture = Awaited<ReturnType<typeof startFixture>>;

type CheckOptions = NonNullable<Parameters<typeof checkBot>[2]>;

async function check(config: BotConfig, options: CheckOptions = {}) {
	const lines: string[] = [];
	const recorded = recordLog("warn");
	const passed = await checkBot(config, recorded.log, {
		write: (line) => lines.push(line),
		timing: quickTiming,
		...options,
	});
	const shown = [...lines, ...recorded.lines].join("\n");
	for (const secret of [config.discordToken, mcpToken]) expect(shown).not.toContain(secret);
	const marked = (mark: string) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2));
	return { passed, lines, marked, logged: recorded.lines };
}

const bot = (simulator: Simulator) => simulator.bot("alpha").id;

function alphaRole({ guild }: Fixture) {
	for (const role of guild.roles.values()) if (role.managed) return role;
	throw new Error("alpha has a role");
}

/** What alpha's role permits: all but these. */
function withhold(fixture: Fixture, ...names: (keyof typeof PermissionFlagsBits)[]) {
	const bits = names.reduce((all, name) => all | PermissionFlagsBits[name], 0n);
	const { world } = fixture.simulator;
	const change = (role: ReturnType<typeof alphaRole>) =>
		world.roles.edit(fixture.guild, role, { permissions: String(BigInt(role.permissions) & ~bits) });
	change(alphaRole(fixture));
	const everyone = fixture.guild.roles.get(fixture.guild.id);
	if (everyone) change(everyone);
}

/** Nobody may do this in the channel. */
function forbid({ simulator, guild }: Fixture, channel: GuildChannel, ...names: (keyof typeof PermissionFlagsBits)[]) {
	const bits = names.reduce((all, name) => all | PermissionFlagsBits[name], 0n);
	simulator.world.channels.edit(channel, {
		permission_overwrites: [{ id: guild.id, type: 0, allow: "0", deny: String(bits) }],
	});
}

fixtureTest("when all is well, every check passes and names what it found", async (fixture) => {
	const { simulator, guild, role, general, staff } = fixture;
	const { passed, lines, logged } = await fixture.check({ checkDatabase: async () => "SQLite in /data" });
	const roleLine = (name: string) => `@${name} (ID: ${role(name).id})`;
	expect(lines.sort()).toEqual(
		[
			"✓ configuration: /nowhere: Alpha",
			"✓ MCP port: any free port",
			"✓ database: SQLite in /data",
			`✓ Discord login: @alpha (ID: ${bot(simulator)}), with the Server Members Intent, with the Message Content Intent`,
			`✓ CLIENT_ID: ${bot(simulator)}`,
			`✓ guild: The Cooks (ID: ${guild.id})`,
			"✓ permissions: all that its tools and features need",
			`✓ audit.channel: #staff (ID: ${staff.id})`,
			`✓ auto_role.from_role: ${roleLine("Newcomer")}`,
			`✓ auto_role.to_role: ${roleLine("Regular")}`,
			`✓ join_role.role: ${roleLine("Newcomer")}`,
			`✓ welcome.channel: #general (ID: ${general.id})`,
			`✓ moderation.log_channel: #staff (ID: ${staff.id})`,
			"13 passed",
		].sort(),
	);
	expect(passed).toBe(true);
	expect(logged).toEqual([]);
	await until("the bot has logged out", () => simulator.sockets.connected.length === 0);
	expect(simulator.journal.entries("* *")).toEqual([]);
});

fixtureTest("without GUILD_ID, every guild that the bot is in is checked", async (fixture) => {
	const { simulator } = fixture;
	const bakers = addToBakers(simulator);
	fixture.env.guildId = undefined;
	const rows = versionsOf({
		[fixture.guild.id]: fixture.settings,
		[bakers.id]: { "welcome.channel": simulator.channel("The Bakers/general").id, "join_role.role": nobody },
		[nobody]: { "welcome.channel": nobody },
	});
	const { passed, marked } = await fixture.check({ selectSettings: async () => rows });
	expect(marked("✗")).toEqual([]);
	expect(passed).toBe(true);
	expect(marked("✓").join("\n")).toMatch(`welcome.channel in ${bakers.id}: #general`);
	expect(marked("✓")).toContain(`welcome.channel in ${nobody}: not checked: the bot is not in this guild`);
	expect(marked("!").join("\n")).toMatch(`join_role.role in ${bakers.id}: there is no role ${nobody} in The Bakers`);
	expect(marked("✓").join("\n")).toMatch(/guild: .*The Cooks.*, .*The Bakers/);
});

fixtureTest("a bot without a token passes with a warning", async (fixture) => {
	const { passed, marked } = await check(botConfig({ ...fixture.env, mcpToken: undefined }));
	expect(marked("!")).toContain(`MCP token: ${withoutToken}`);
	expect(passed).toBe(true);
});

fixtureTest("approval that no call can need passes with a warning", async (fixture) => {
	const mcp = { approval: "write", approval_for_root: false };
	Object.assign(fixture.toml.mcp, mcp);
	const warnings = async () => {
		const config = { ...fixture.config(), mcpToken: undefined };
		return (await check(config)).marked("!").join("\n");
	};
	expect(await warnings()).toContain(`mcp.approval: ${idleApproval}`);
	Object.assign(fixture.toml.mcp, { approval_for_root: true });
	expect(await warnings()).not.toContain("mcp.approval");
});

test("a bot to which Discord refuses privileged intents passes with a warning that says what is lacking", async () => {
	const seed = demoSeed();
	const bots = [{ username: "alpha", privilegedIntents: [] }, { username: "beta" }];
	await using fixture = await startFixture({ seed: { ...seed, bots } });
	const { passed, marked } = await fixture.check();
	const [warning] = marked("!").filter((line) => line.includes("Intent"));
	expect(warning).toMatch(
		/^Discord login: @alpha .+Discord refuses the Server Members Intent, so there are no lists of members.+join_role.+Discord refuses the Message Content Intent, so there are no chat commands.+Switch it on at https:\/\/discord\.com\/developers/,
	);
	expect(passed).toBe(true);
});

fixtureTest("a moderation log that everyone can see passes with a warning", async (fixture) => {
	fixture.settings["moderation.log_channel"] = fixture.general.id;
	const { passed, marked } = await fixture.check();
	expect(marked("!").join("\n")).toMatch(
		/moderation\.log_channel: #general .+: everyone can see it, so notes and the reasons of warnings are left out/,
	);
	expect(passed).toBe(true);
});

interface Row {
	what: string;
	/** Before the simulator starts. */
	options?: SimulatorOptions;
	change?(fixture: Fixture): void;
	/** The crosses, as patterns. */
	crosses?: (fixture: Fixture) => (string | RegExp)[];
	/** The warnings, as patterns: it passes without a cross. */
	warns?: (fixture: Fixture) => (string | RegExp)[];
	/** The line that says what to do. */
	next?: RegExp;
}

const rows: Row[] = [
	{
		what: "the token is wrong",
		change({ env }) {
			env.discordToken = "not.the.token";
		},
		crosses: () => [
			/^Discord login: Discord refuses DISCORD_TOKEN: put a token into \.env that http:\/\/127\.0\.0\.1:\d+\/api knows/,
		],
	},
	{
		what: "Discord is not there",
		change({ env }) {
			env.discordApiUrl = "http://127.0.0.1:1/api";
		},
		crosses: () => [/^Discord login: the bot could not log in to Discord within /],
		next: /reach http:\/\/127\.0\.0\.1:1\/api\?/,
	},
	{
		what: "CLIENT_ID is another application's",
		change({ env }) {
			env.clientId = nobody;
		},
		crosses: ({ simulator }) => [
			`CLIENT_ID: DISCORD_TOKEN belongs to the application ${bot(simulator)}, but CLIENT_ID is ${nobody}`,
		],
		next: /same application/,
	},
	{
		what: "the bot is not in the guild",
		change({ env, simulator }) {
			env.guildId = simulator.guild("The Bakers").id;
		},
		crosses: ({ env }) => [
			new RegExp(`^guild: the bot is not in the guild ${env.guildId} \\(GUILD_ID\\), but in The Cooks`),
		],
		next: /^ {4}Invite the bot: https:\/\/discord\.com\/oauth2\/authorize\?client_id=\d+&scope=bot%20applications\.commands&permissions=\d+$/,
	},
	{
		what: "the bot is not in the guild, and the one that it is in is unavailable",
		change({ env, simulator }) {
			env.guildId = simulator.guild("The Bakers").id;
			const { id } = simulator.guild("The Cooks");
			simulator.sockets.alterEvents((type, data) => (type === "GUILD_CREATE" ? { id, unavailable: true } : data));
		},
		crosses: ({ env }) => [
			new RegExp(
				`^guild: the bot is not in the guild ${env.guildId} \\(GUILD_ID\\), but in \\(unavailable\\) \\(ID: \\d+\\)$`,
			),
		],
	},
	{
		what: "the bot is in no guild",
		change({ env, simulator, guild }) {
			env.guildId = undefined;
			const me = guild.members.get(bot(simulator));
			if (me) simulator.world.members.remove(guild, me);
		},
		crosses: () => ["guild: the bot is in no guild"],
		next: /Invite the bot: /,
	},
	{
		what: "the bot lacks what a feature needs",
		change: (fixture) => withhold(fixture, "BanMembers"),
		crosses: ({ guild }) => [`permissions: the bot lacks BAN_MEMBERS in The Cooks (ID: ${guild.id})`],
		next: /invite the bot again: https:\/\/discord\.com/,
	},
	{
		what: "the bot is timed out",
		change({ simulator, guild }) {
			const me = guild.members.get(bot(simulator));
			if (me)
				simulator.world.members.edit(guild, me, {
					communication_disabled_until: new Date(Date.now() + 3_600_000).toISOString(),
				});
		},
		crosses: () => [/^permissions: the bot is timed out in The Cooks/],
	},
	{
		what: "a role does not exist",
		change({ settings }) {
			settings["join_role.role"] = nobody;
		},
		warns: ({ guild }) => [`join_role.role: there is no role ${nobody} in The Cooks (ID: ${guild.id})`],
	},
	{
		what: "a role is another guild's",
		change({ settings, simulator }) {
			const [id = ""] = simulator.guild("The Bakers").roles.keys();
			settings["auto_role.from_role"] = id;
		},
		warns: () => [/^auto_role\.from_role: there is no role \d+ in The Cooks/],
	},
	{
		what: "a role ranks above the bot",
		change({ simulator, guild, role }) {
			simulator.world.roles.move(guild, new Map([[role("Regular"), 99]]));
		},
		warns: () => [/^auto_role\.to_role: @Regular .* does not rank below the bot's highest role$/],
	},
	{
		what: "a role is the bot's own",
		change(fixture) {
			fixture.settings["join_role.role"] = alphaRole(fixture).id;
		},
		warns: () => [/^join_role\.role: @alpha .* belongs to an integration/],
	},
	{
		what: "a role is everyone's",
		change({ settings, guild }) {
			settings["join_role.role"] = guild.id;
		},
		warns: () => [/^join_role\.role: @everyone .* is the role of everyone$/],
	},
	{
		what: "the bot may not manage roles",
		change: (fixture) => withhold(fixture, "ManageRoles"),
		warns: () => [
			/^permissions: .*MANAGE_ROLES/,
			/^auto_role\.from_role: .*lacks MANAGE_ROLES/,
			/^auto_role\.to_role: .*lacks MANAGE_ROLES/,
			/^join_role\.role: .*lacks MANAGE_ROLES/,
		],
	},
	{
		what: "a channel does not exist",
		change({ settings }) {
			settings["welcome.channel"] = nobody;
		},
		warns: ({ guild }) => [`welcome.channel: there is no channel ${nobody} in The Cooks (ID: ${guild.id})`],
	},
	{
		what: "a channel is for voice",
		change({ settings, simulator }) {
			settings["welcome.channel"] = simulator.channel("The Cooks/Lounge").id;
		},
		warns: () => [/^welcome\.channel: #Lounge .* is not a text channel$/],
	},
	{
		what: "a channel is hidden from the bot",
		change: (fixture) => forbid(fixture, fixture.general, "ViewChannel"),
		warns: () => [/^welcome\.channel: the bot lacks .*VIEW_CHANNEL.* in a channel that the bot cannot see/],
	},
	{
		what: "the bot may not write in a channel",
		change: (fixture) => forbid(fixture, fixture.general, "SendMessages"),
		warns: () => [/^welcome\.channel: the bot lacks SEND_MESSAGES in #/],
	},
	{
		what: "the channels of both logs take no embeds",
		change: (fixture) => forbid(fixture, fixture.staff, "EmbedLinks"),
		warns: () => [
			/^audit\.channel: the bot lacks EMBED_LINKS in #staff/,
			/^moderation\.log_channel: the bot lacks EMBED_LINKS in #staff/,
		],
	},
	{
		what: "the bot cannot ping the role",
		change(fixture) {
			fixture.settings["night.ping_role"] = alphaRole(fixture).id;
			withhold(fixture, "MentionEveryone");
		},
		warns: () => [/^night\.ping_role: the bot cannot ping @alpha/],
	},
	{
		what: "everyone can see the channel for reports",
		change(fixture) {
			fixture.settings["moderation.reports"] = fixture.general.id;
		},
		warns: () => [/^moderation\.reports: @everyone can see #general .* reports are refused/],
	},
	{
		what: "the bot cannot read the history of the channel for reports",
		change(fixture) {
			fixture.settings["moderation.reports"] = fixture.staff.id;
			forbid(fixture, fixture.staff, "ReadMessageHistory");
		},
		// The staff channel has lost its overwrites.
		warns: () => [
			/^moderation\.log_channel: .+everyone can see it/,
			/^moderation\.reports: the bot lacks READ_MESSAGE_HISTORY/,
		],
	},
	{
		what: "the bot cannot delete messages in a honeypot",
		change(fixture) {
			fixture.settings["spam.honeypots"] = [fixture.general.id];
			forbid(fixture, fixture.general, "ManageMessages");
		},
		warns: () => [/^spam\.honeypots: the bot lacks MANAGE_MESSAGES in #general/],
	},
	{
		what: "the channel for approval takes no files",
		change(fixture) {
			fixture.settings["approval.channel"] = fixture.general.id;
			forbid(fixture, fixture.general, "AttachFiles");
		},
		warns: () => [/^approval\.channel: the bot lacks ATTACH_FILES in #general/],
	},
	{
		what: "a role that may approve does not exist",
		change(fixture) {
			// The bot need not be able to give these roles.
			fixture.settings["approval.roles"] = [alphaRole(fixture).id, "123456789012345678"];
		},
		warns: () => [/^approval\.roles: there is no role 123456789012345678 in /],
	},
	{
		what: "people have no channel to approve in",
		change: (fixture) => Object.assign(fixture.toml.mcp, { approval: "write", approval_for_root: true }),
		warns: () => [/^approval\.channel: calls that need approval are refused in The Cooks /],
	},
];

describe("fails, and says what to do, when", () => {
	test.each(rows)("$what", async ({ options, change, crosses, warns, next }) => {
		await using fixture = await startFixture(options);
		change?.(fixture);
		const { passed, lines, marked } = await fixture.check({
			loginTimeoutMs: fixture.env.discordApiUrl.includes(":1/") ? 50 : 20_000,
		});
		const patterns = (crosses ?? warns)?.(fixture) ?? [];
		expect(marked(crosses ? "✗" : "!")).toEqual(
			patterns.map((one) => (typeof one === "string" ? one : expect.stringMatching(one))),
		);
		if (next) expect(lines).toContainEqual(expect.stringMatching(next));
		expect(passed).toBe(!crosses);
	});

	fixtureTest("the database does not answer", async (fixture) => {
		const { passed, marked } = await fixture.check({
			async checkDatabase() {
				throw new CheckFailed("nothing answers at db:5432");
			},
		});
		expect(marked("✗")).toEqual(["database: nothing answers at db:5432"]);
		expect(passed).toBe(false);
	});

	fixtureTest("another program has the port", async (fixture) => {
		await using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") });
		fixture.env.mcpPort = other.port ?? 0;
		const { marked } = await fixture.check();
		expect(marked("✗")).toEqual([`MCP port: MCP_PORT: 127.0.0.1:${other.port} is in use by another program`]);
	});
});

test.each<[what: string, config: Partial<BotConfig>, secret: string]>([
	["DISCORD_TOKEN", { discordToken: "a.secret.token" }, "a.secret.token"],
	["MCP_AUTH_TOKEN", { mcpToken: "a-secret-token" }, "a-secret-token"],
	["GAME_VERIFY_SECRET", { gameVerifySecret: "a-secret" }, "a-secret"],
	["an API key", { apiKeys: { AN_API_KEY: "sk-secret" } }, "sk-secret"],
	["DATABASE_URL as a whole", { databaseUrl: "postgres://ada@db/secrets" }, "postgres://ada@db/secrets"],
	["the password in DATABASE_URL", { databaseUrl: "postgres://ada:s%3Ccret@db/bots" }, "s<cret"],
	["the same as it is written there", { databaseUrl: "postgres://ada:s%3Ccret@db/bots" }, "s%3Ccret"],
])("%s is not shown, even if an error quotes it", async (_, config, secret) => {
	await using fixture = await startFixture();
	const said = `it said ${secret}`;
	const { lines, logged } = await check(
		{ ...fixture.config(), ...config },
		{ checkDatabase: () => Promise.reject(new CheckFailed(said, said)), loginTimeoutMs: 1_000 },
	);
	expect(lines).toContain("✗ database: it said [secret]");
	expect(lines).toContain("    it said [secret]");
	expect([...lines, ...logged].join("\n")).not.toContain(secret);
});

fixtureTest("without a login, checks that need one are skipped", async (fixture) => {
	fixture.env.discordToken = "not.the.token";
	const { marked } = await fixture.check();
	expect(marked("✓")).toHaveLength(3);
	expect(marked("–")).toHaveLength(9);
	for (const line of marked("–")) expect(line).toEndWith('skipped, because "Discord login" failed');
});

fixtureTest("a missing permission that only some tools need is a warning", async (fixture) => {
	withhold(fixture, "ManageChannels", "MentionEveryone");
	const { passed, marked } = await fixture.check();
	expect(marked("!")).toEqual([expect.stringMatching(/^permissions: the bot lacks MANAGE_CHANNELS in /)]);
	expect(passed).toBe(true);
});

test.each([
	["spam.on", true, "ModerateMembers", "MODERATE_MEMBERS"],
	["moderation.escalate", ["3 warnings in 30d: kick"], "KickMembers", "KICK_MEMBERS"],
	["moderation.raid", "20 joins in 60s", "ManageGuild", "MANAGE_GUILD"],
] as const)("%s warns without the permission that it needs", async (key, value, permission, name) => {
	await using fixture = await startFixture();
	fixture.settings[key] = value;
	withhold(fixture, permission);
	const { passed, marked } = await fixture.check();
	expect(marked("!")).toContain(`${key}: the bot lacks ${name}`);
	expect(passed).toBe(true);
});

fixtureTest("a bot at the bottom of the role list is a warning with moderation on", async (fixture) => {
	const { toml, simulator, guild } = fixture;
	for (const name of Object.keys(toml.features)) toml.features[name] = name === "moderation";
	simulator.world.roles.move(guild, new Map([[alphaRole(fixture), 1]]));
	const { passed, marked } = await fixture.check({ selectSettings: async () => [] });
	expect(marked("!")).toEqual([
		expect.stringMatching(/^permissions: the bot's highest role, @alpha .* is at the bottom/),
	]);
	expect(passed).toBe(true);
});

fixtureTest("a permission granted only in some channels is a warning", async (fixture) => {
	withhold(fixture, "SendMessages");
	for (const channel of [fixture.general, fixture.staff])
		fixture.simulator.world.channels.edit(channel, {
			permission_overwrites: [
				roleOverwrite(alphaRole(fixture).id, {
					allow: PermissionFlagsBits.ViewChannel | PermissionFlagsBits.SendMessages,
				}),
			],
		});
	const { passed, marked } = await fixture.check();
	expect(marked("✗")).toEqual([]);
	expect(marked("!")).toEqual([
		expect.stringMatching(/^permissions: the bot lacks SEND_MESSAGES in /),
		// The staff channel has lost its overwrites.
		expect.stringMatching(/^moderation\.log_channel: .+everyone can see it/),
	]);
	expect(passed).toBe(true);
});

fixtureTest("an administrator may do everything, and an announcement channel is for text", async (fixture) => {
	const { simulator, guild, general } = fixture;
	simulator.world.roles.edit(guild, alphaRole(fixture), { permissions: String(PermissionFlagsBits.Administrator) });
	forbid(fixture, general, "ViewChannel");
	simulator.world.channels.edit(general, { type: ChannelType.GuildAnnouncement });
	const { passed, marked } = await fixture.check();
	expect([...marked("✗"), ...marked("!")]).toEqual([]);
	expect(passed).toBe(true);
});

fixtureTest("a bot that runs is not disturbed, and its port is its own; another bot's is not", async (fixture) => {
	const running = startBot(fixture.config(), recordLog().log);
	try {
		await until("the bot is ready", () => running.ready);
		fixture.env.mcpPort = Number(new URL(running.url).port);
		const own = await fixture.check();
		expect(own.marked("✓")).toContain(
			`MCP port: 127.0.0.1:${fixture.env.mcpPort} is in use by this bot, which is running`,
		);
		expect(own.passed).toBe(true);
		const beta = await check({ ...fixture.config(), botName: "Beta" });
		expect(beta.marked("✗")).toEqual([
			`MCP port: MCP_PORT: 127.0.0.1:${fixture.env.mcpPort} is in use by another bot, Alpha`,
		]);
		expect(running.ready).toBe(true);
	} finally {
		await running.close();
	}
});

fixtureTest("a name of a guild cannot forge a line", async (fixture) => {
	const { world } = fixture.simulator;
	const rename = (guild: Guild) => world.guilds.edit(guild, { name: "x\n✓ permissions: all\u202e" });
	rename(fixture.guild);
	const { lines } = await fixture.check();
	expect(lines.filter((line) => line.startsWith("✓ permissions"))).toHaveLength(1);
	expect(lines.join("")).not.toContain("\u202e");
});

fixtureTest("chat without an AI provider is a warning", async (fixture) => {
	Object.assign(fixture.toml.features, { chat: true });
	const { passed, lines } = await fixture.check();
	expect(passed).toBe(true);
	expect(lines.join("\n")).toContain("features.chat: no AI provider configured: mentions will not be answered");
});
