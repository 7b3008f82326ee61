// Parsing commands, who may use them, failures and limits.

import { describe, expect, test } from "bun:test";
import {
	Client,
	type GuildMember,
	GatewayIntentBits as Intent,
	MessageType,
	PermissionFlagsBits,
	PermissionsBitField,
} from "discord.js";
import { type Command, readCommand } from "../../../src/bot/commands/commands.ts";
import { Limiter } from "../../../src/bot/commands/cooldown.ts";
import { createFrontEnds, type FrontEndsOptions } from "../../../src/bot/commands/front-ends.ts";
import { holdsOf } from "../../../src/bot/commands/who-may.ts";
import { demoSeed } from "../../../src/simulator/seed.ts";
import type { SimulatorOptions } from "../../../src/simulator/simulator.ts";
import type { NewMessage } from "../../../src/simulator/world/state/entities.ts";
import { settingsOf } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { addToBakers, channelNamed, denyBot, userNamed } from "../../support/world.ts";
import { noTools } from "../features/running-feature.ts";

type Stage = Awaited<ReturnType<typeof startStage>>;

const stageTest = testWith((commands: readonly Command[] = []) => startStage(commands));

const general = "The Cooks/general";

test.each<[prefix: string, text: string, name: string, rest: string]>([
	["!m", "!m verify ABC", "verify", "ABC"],
	["!m", "!m verify", "verify", ""],
	["!m", "!m   verify   ABC  ", "verify", "ABC"],
	["!m", "!m\tverify\nABC\n\n", "verify", "ABC"],
	["!m", "!m VERIFY abc", "verify", "abc"],
	["!m", "!m verify a b  c ", "verify", "a b  c"],
	["!m", "!m verify !m verify", "verify", "!m verify"],
	["!", "!verify ABC", "verify", "ABC"],
	["!", "! verify ABC", "verify", "ABC"],
	["?!", "?!verify ABC", "verify", "ABC"],
	["bot", "bot verify ABC", "verify", "ABC"],
	["m1", "m1 verify ABC", "verify", "ABC"],
	["ö", "ö verify ABC", "verify", "ABC"],
	["👍", "👍verify ABC", "verify", "ABC"],
])("%j: %j is the command %s with the rest %j", (prefix, text, name, rest) => {
	expect(readCommand(prefix, text)).toEqual({ name, rest });
});

test.each([
	["!m", ""],
	["!m", "!"],
	["!m", "!message verify"],
	["!m", "!mverify ABC"],
	["!m", "!M verify ABC"],
	["!m", " !m verify ABC"],
	["!m", "I say !m verify ABC"],
	["!m", "! m verify ABC"],
	["!m", "/m verify ABC"],
	["m1", "m12 verify"],
	["ö", "öl verify"],
	["!", "!"],
])("%j: %j is not a command", (prefix, text) => {
	expect(readCommand(prefix, text)).toBeUndefined();
});

test("in a thread whose parent is not cached, members hold what their roles give", async () => {
	// What discord.js returns for such a thread.
	const channel = { permissionsFor: () => null };
	const permissions = new PermissionsBitField("BanMembers");
	const member = { permissions } as unknown as GuildMember;
	const holds = holdsOf(await settingsOf(), member, channel as never);
	expect(holds({ permission: "ManageMessages" })).toBe(false);
	expect(holds({ permission: "BanMembers" })).toBe(true);
});

/** Replies with the author and the text. */
const echo: Command = { name: "echo", usage: "<text>", run: async ({ member }, rest) => `${member.id} said: ${rest}` };

describe.concurrent("who is answered", () => {
	stageTest("a person, as a reply that pings nobody", [echo], async (stage) => {
		const { simulator } = stage;
		const ada = simulator.user("ada");
		const { id } = await ada.say(general, `!m echo @everyone <@${ada.id}>`);
		const [answer] = await stage.answers(1);
		expect(answer).toMatchObject({
			content: `${ada.id} said: @everyone <@${ada.id}>`,
			message_reference: { message_id: id },
			mention_everyone: false,
			mentions: [],
		});
	});

	/** Adds a command of an author. */
	const added =
		(author: string, fields: Partial<NewMessage> = {}) =>
		({ simulator }: Stage) => {
			const user = userNamed(simulator, author);
			simulator.world.messages.add(simulator.channel(general).channel, user, { ...fields, content: "!m echo ignored" });
		};

	test.each<[string, (stage: Stage) => void | Promise<void>]>([
		["another bot", added("beta")],
		["the bot itself", added("alpha")],
		["a webhook", added("ada", { webhook_id: "123456789012345678" })],
		["a new thread's name", added("ada", { type: MessageType.ThreadCreated })],
		[
			"a message that is edited into a command",
			async ({ simulator }) => {
				const { id } = await simulator.user("ada").say(general, "hello");
				const { channel } = simulator.channel(general);
				const message = present(simulator.world.messages.get(channel.id, id));
				simulator.world.messages.edit(channel, message, { content: "!m echo edited" });
			},
		],
		[
			"an unknown command",
			async ({ simulator }) => {
				for (const text of ["!m nothing", "!m echoes", "hello", "!message echo"])
					await simulator.user("ada").say(general, text);
			},
		],
	])("not %s", async (_, act) => {
		await using stage = await startStage([echo]);
		await act(stage);
		await stage.simulator.user("ada").say(general, "!m echo heard");
		// Answers to one channel are sent in their order.
		const [first] = await stage.answers(1);
		expect(first?.content).toEndWith("said: heard");
		expect(stage.asked).toEqual(["heard"]);
	});

	test("also with Send Messages as the bot's only permission to reply", async () => {
		const seed = demoSeed();
		await using stage = await startStage([echo], {
			seed: {
				...seed,
				guilds: seed.guilds.map((guild) => ({
					...guild,
					bots: (guild.bots ?? []).map((bot) => ({ ...bot, permissions: 0n })),
				})),
			},
		});
		const { simulator } = stage;
		const { world } = simulator;
		const guild = simulator.guild("The Cooks");
		const everyone = present(guild.roles.get(guild.id));
		const { ViewChannel, SendMessages } = PermissionFlagsBits;
		world.roles.edit(guild, everyone, { permissions: String(ViewChannel | SendMessages) });
		await until("the bot has heard", () => {
			const known = stage.client.guilds.cache.get(guild.id);
			return known?.roles.everyone.permissions.bitfield === (ViewChannel | SendMessages);
		});
		await simulator.user("ada").say(general, "!m echo heard");
		const [answer] = await stage.answers(1);
		expect(answer?.content).toEndWith("said: heard");
		expect(answer?.message_reference).toBeUndefined();
	});
});

describe.concurrent("what fails", () => {
	test("a command that throws is logged as an error, without a reply", async () => {
		const broken: Command = {
			...echo,
			name: "break",
			run: async () => {
				throw new Error("broken");
			},
		};
		await using stage = await startStage([broken, echo]);
		const ada = stage.simulator.user("ada");
		await ada.say(general, "!m break SECRET");
		await ada.say(general, "!m echo heard");
		const [first] = await stage.answers(1);
		expect(first?.content).toEndWith("said: heard");
		const [entry] = stage.logged.entries("chat command failed: internal error");
		expect(entry).toMatchObject({ level: "error", command: "break" });
		expect(stage.logged.lines.join("\n")).not.toContain("SECRET");
	});

	stageTest("a reply that Discord refuses is logged without its text", [echo], async (stage) => {
		const { simulator } = stage;
		simulator.faults.refuse("POST /channels/*/messages", 50013, { actor: simulator.bot("alpha").id });
		await simulator.user("ada").say(general, "!m echo SECRET");
		const entry = await until("it is logged", () => stage.logged.entries("could not reply to a chat command")[0]);
		expect(entry).toMatchObject({ level: "warn", command: "echo" });
		expect(entry.reason).toContain("Missing Permissions");
		expect(stage.logged.lines.join("\n")).not.toContain("SECRET");
	});

	stageTest("without Send Messages nothing is sent, and the reason is logged", [echo], async (stage) => {
		const { simulator, client, logged } = stage;
		const { id } = simulator.channel(general);
		const bot = simulator.bot("alpha").id;
		denyBot(stage, channelNamed(simulator, "general"), PermissionFlagsBits.SendMessages);
		await until("the bot has heard", () => {
			const known = client.channels.cache.get(id);
			return known && "permissionOverwrites" in known && known.permissionOverwrites.cache.has(bot);
		});
		await simulator.user("ada").say(general, "!m echo SECRET");
		const entry = await until("it is logged", () => logged.entries("could not reply to a chat command")[0]);
		expect(entry).toMatchObject({ level: "warn", command: "echo" });
		expect(entry.reason).toContain("SEND_MESSAGES");
		expect(stage.asked).toEqual(["SECRET"]);
		const tried = simulator.requests.list().filter(({ method, actor }) => method === "POST" && actor === bot);
		expect(tried).toEqual([]);
	});

	test("a message of white space is left out of a long reply", async () => {
		const gap: Command = { ...echo, name: "gap", run: async () => `a${" ".repeat(6000)}b` };
		await using stage = await startStage([gap]);
		await stage.simulator.user("ada").say(general, "!m gap");
		const answers = await stage.answers(2);
		expect(answers.map(({ content }) => content.trim())).toEqual(["a", "b"]);
	});

	test("slash commands that Discord refuses are logged", async () => {
		const menus = [{ type: "slash" as const, name: "verify", options: [], run: async () => {} }];
		await using stage = await startStage(
			[echo],
			{},
			{ menus, scope: "global", before: ({ faults }) => faults.refuse("PUT /applications/*/commands", 50001) },
		);
		const entry = await until(
			"it is logged",
			() => stage.logged.entries("could not register slash commands with Discord")[0],
		);
		expect(entry).toMatchObject({ level: "warn" });
		await stage.simulator.user("ada").say(general, "!m echo heard");
		const [answer] = await stage.answers(1);
		expect(answer?.content).toEndWith("said: heard");
	});
});

test("during a raid of commands, moderators are answered", async () => {
	const held = Promise.withResolvers<undefined>();
	const slow: Command = { ...echo, name: "slow", run: () => held.promise };
	const stop: Command = {
		...echo,
		name: "stop",
		permission: "ManageGuild",
		run: async ({ member }) => (member.permissions.has("ManageGuild") ? "stopped" : "refused"),
	};
	await using stage = await startStage([slow, stop, echo], {}, { logIntervalMs: 500 });
	const { simulator, logged } = stage;
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const { channel } = simulator.channel(general);
	for (let number = 0; number < 110; number++) {
		const user = world.users.add({ username: `raider-${number}` });
		world.members.add(guild, user);
		world.messages.add(channel, user, { content: "!m slow" });
	}
	const told = () => logged.entries("commands ignored: too many were running at once");
	await until("all others are logged", () => {
		const counts = told().map(({ commands }) => Number(commands));
		return counts.reduce((sum, count) => sum + count, 0) === 10;
	});
	expect(told().length).toBeLessThan(10);
	expect(stage.asked).toHaveLength(100);
	// Without the permission there is no slot.
	await simulator.user("zoe").say(general, "!m stop");
	await simulator.user("ada").say(general, "!m stop");
	const [first] = await stage.answers(1);
	expect(first?.content).toBe("stopped");
	expect(stage.asked).toHaveLength(101);
	held.resolve(undefined);
	await until("there is room again", async () => {
		await simulator.user("jose.garcia").say(general, "!m echo heard");
		return stage.asked.includes("heard");
	});
});

test("the notice about a cooldown is sent once in each guild", async () => {
	await using stage = await startStage([echo], {}, { limiter: new Limiter({ max: 1, windowMs: 3_600_000 }) });
	const { simulator, client } = stage;
	const { world } = simulator;
	const ada = userNamed(simulator, "ada");
	const other = addToBakers(simulator);
	world.members.add(other, ada);
	await until("the bot is there", () => client.guilds.cache.has(other.id));
	const { channel } = simulator.channel("The Bakers/general");
	for (const place of [channel, simulator.channel(general).channel])
		for (let attempt = 0; attempt < 3; attempt++) world.messages.add(place, ada, { content: "!m echo x" });
	for (const place of [channel, simulator.channel(general).channel])
		await until("both are answered", () => {
			const own = world.messages.in(place.id).filter(({ author }) => author.id === simulator.bot("alpha").id);
			return own.length === 2 && own[1]?.content.startsWith("You used");
		});
});

/** A client of its own that serves these commands. */
async function startStage(
	commands: readonly Command[],
	simulated: SimulatorOptions = {},
	{
		before,
		...options
	}: Partial<FrontEndsOptions> & { before?(simulator: Awaited<ReturnType<typeof startSimulator>>): void } = {},
) {
	const simulator = await startSimulator(simulated);
	before?.(simulator);
	const logged = recordLog("debug");
	const asked: string[] = [];
	const client = new Client({
		intents: [Intent.Guilds, Intent.GuildMessages, Intent.MessageContent],
		rest: { api: simulator.api },
	});
	createFrontEnds({
		prefix: "!m",
		callAs: noTools,
		settings: await settingsOf(),
		commands: commands.map((command) => ({
			...command,
			run: (by, rest) => {
				asked.push(rest);
				return command.run(by, rest);
			},
		})),
		scope: "off",
		deleteSecrets: false,
		log: logged.log,
		...options,
	}).attach(client);
	await client.login(simulator.bot("alpha").token);
	await until("the client is ready", () => client.isReady());
	const { id } = simulator.channel(general);
	return {
		simulator,
		client,
		logged,
		asked,
		/** What the bot has replied, once that is so many messages. */
		answers: (count: number) =>
			until(`${count} answers`, () => {
				const own = simulator.world.messages
					.in(id)
					.filter(({ author, content }) => author.id === simulator.bot("alpha").id && !content.startsWith("!m"));
				return own.length >= count && own;
			}),
		async [Symbol.asyncDispose]() {
			await client.destroy();
			await simulator.close();
		},
	};
}
