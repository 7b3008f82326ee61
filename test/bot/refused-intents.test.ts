// A bot to which Discord refuses the privileged intents: everything that does not need them runs.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { demoSeed } from "../../src/simulator/seed.ts";
import { until } from "../support/until.ts";
import { memberNamed, startWorld, type TestWorld } from "../support/world.ts";
import { grant } from "./features/running-feature.ts";

const general = "The Cooks/general";
const moderator = "jose.garcia";

let world: TestWorld;
beforeAll(async () => {
	const seed = demoSeed();
	const bots = [{ username: "alpha", privilegedIntents: [] }, { username: "beta" }];
	world = await startWorld(
		{ seed: { ...seed, bots } },
		{
			sections(simulator) {
				const { BanMembers, ModerateMembers } = PermissionFlagsBits;
				grant(simulator, "Staff", BanMembers, ModerateMembers);
				const honeypot = simulator.world.channels.add(simulator.guild("The Cooks"), {
					name: "honeypot",
					type: ChannelType.GuildText,
				});
				return {
					features: { moderation: true },
					moderation: {
						log_channel: simulator.channel("The Cooks/staff").id,
						reports: simulator.channel("The Cooks/staff").id,
					},
					spam: { on: true, honeypots: [honeypot.id] },
				};
			},
		},
	);
	await until("the commands are registered", () =>
		world.simulator
			.user(moderator)
			.commands(general)
			.some(({ name }) => name === "warn"),
	);
});
afterAll(() => world[Symbol.asyncDispose]());

const idOf = (name: string) => memberNamed(world, name).user.id;

async function run(person: string, command: string, options: object) {
	const user = world.simulator.user(person);
	const used = await user.run(general, command, options as never);
	return (await used.reply()).content;
}

const answers = () =>
	world.simulator.world.messages
		.in(world.simulator.channel(general).id)
		.filter(({ author }) => author.username === "alpha")
		.map(({ content }) => content);

test("it is ready, and /status names the intents", async () => {
	expect(world.bot.ready).toBe(true);
	const status = await fetch(new URL("/status", world.bot.url));
	expect(Object(await status.json()).discord).toMatchObject({
		connected: true,
		refused_intents: ["GuildMembers", "MessageContent"],
	});
});

test("slash commands and reports work, and follow the current roles of people", async () => {
	const zoe = { user: idOf("zoe"), reason: "insults" };
	expect(await run(moderator, "warn", zoe)).toContain("Case 1.");
	expect(await run("mona_lisa", "report", zoe)).toContain("Thank");
	// The bot has no event about it.
	const mona = memberNamed(world, "mona_lisa");
	const { roles } = memberNamed(world, moderator);
	world.simulator.world.members.edit(world.guild, mona, { roles: [...roles] });
	expect(await run(moderator, "warn", { user: mona.user.id, reason: "x" })).not.toContain("Case 2.");
});

test("chat commands work in messages that mention the bot, and are not seen in others", async () => {
	const user = world.simulator.user(moderator);
	await user.say(general, "!m help");
	await user.say(general, `!m help <@${world.simulator.bot("alpha").id}>`);
	await until("an answer", () => answers().length > 0);
	expect(answers()).toHaveLength(1);
});

test("a message in a honeypot is found", async () => {
	const { simulator, guild } = world;
	const { user } = simulator.world.users.addPerson({ username: "hijacked" });
	simulator.world.members.add(guild, user);
	await simulator.user("hijacked").say("The Cooks/honeypot", "hello");
	await until("the timeout", () => Boolean(guild.members.get(user.id)?.communication_disabled_until));
});

test("tools that need the members say so, and others work", async () => {
	await world.expectResult("send_message", { channel_id: world.simulator.channel(general).id, content: "hello" });
	const members = await world.call("list_members");
	expect(members.text).toContain('refuses it the "Server Members Intent"');
	const user_ids = [idOf("ada")];
	const permissions = await world.call("check_permissions", { user_ids });
	expect(permissions).toMatchObject({ isError: false });
	const holders = await world.call("check_permissions", {});
	expect(holders.text).toContain('refuses it the "Server Members Intent"');
});

test("a setting that needs a refused intent is refused, and one from before is a problem of the setup", async () => {
	const { text, isError } = await world.call("set_settings", { settings: { "welcome.channel": "#general" } });
	expect(text).toStartWith("welcome.channel: needs the Server Members Intent: ");
	expect(isError).toBe(true);
	expect((await world.call("get_settings")).text).toContain("Problem with spam.on: needs the Message Content Intent");
});
