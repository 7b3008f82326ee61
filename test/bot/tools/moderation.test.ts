// ban.

import { expect, test } from "bun:test";
import { shareWorld } from "../../support/shared-world.ts";
import { memberNamed, startWorld, userNamed } from "../../support/world.ts";

const shared = shareWorld();

const put = "PUT /guilds/:guild_id/bans/:user_id";
const daySeconds = 86_400;

test("ban bans a user who is not a member, and the dry run says so", async () => {
	await using world = await startWorld();
	const { id } = world.simulator.user("bob_the_baker");
	const dry = await world.call("ban", { user_id: id, dry_run: true });
	expect(dry.text).toBe(
		`Dry run: nothing was done.\nWould ban @bob_the_baker (ID: ${id}), who is not a member.`,
	);
	const { text } = await world.call("ban", { user_id: id });
	expect(text).toBe(`Banned @bob_the_baker (ID: ${id}).`);
	expect(world.guild.bans.has(id)).toBe(true);
});

test.each([
	["the owner", "ada", "owns the guild"],
	["the bot itself", "alpha", "is the bot itself"],
])(
	"ban refuses %s before Discord sees it, also in a dry run",
	async (_, name, said) => {
		await using world = await startWorld();
		const { id } = world.simulator.user(name);
		for (const dry_run of [false, true]) {
			const { text, isError } = await world.call("ban", {
				user_id: id,
				dry_run,
			});
			expect(isError).toBe(true);
			expect(text).toContain(said);
			expect(text).toContain(id);
		}
		expect(world.guild.members.has(id)).toBe(true);
		expect(world.simulator.requests.list(put)).toEqual([]);
	},
);

test("ban refuses a member who ranks as high as the bot, or higher", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const zoe = memberNamed(world, "zoe");
	const own = [...guild.roles.values()].find(({ name }) => name === "alpha");
	const above = simulator.world.roles.add(guild, {
		name: "Above",
		position: 99,
	});
	for (const role of [own, above]) {
		simulator.world.members.edit(guild, zoe, { roles: [role?.id ?? ""] });
		await world.heard();
		const { text, isError } = await world.call("ban", { user_id: zoe.user.id });
		expect(isError).toBe(true);
		expect(text).toContain(
			`Zoë 🍞 (@zoe, ID: ${zoe.user.id}) does not rank below the bot: @${role?.name} (ID: ${role?.id}) is not below @alpha`,
		);
	}
	expect(simulator.requests.list(put)).toEqual([]);
});

test("ban of a banned user says that nothing was done", async () => {
	await using world = await startWorld();
	const { id } = world.simulator.user("zoe");
	await world.call("ban", { user_id: id });
	const { text, isError } = await world.call("ban", { user_id: id });
	expect(isError).toBe(true);
	expect(text).toBe(
		`@zoe (ID: ${id}) is already banned from the guild. Nothing was done.`,
	);
	expect(world.simulator.requests.list(put)).toHaveLength(1);
});

test.each([
	[{}, ["new", "3 hours", "2 days", "6 days", "8 days"]],
	[
		{ delete_message_seconds: 0 },
		["new", "3 hours", "2 days", "6 days", "8 days"],
	],
	[{ delete_message_seconds: 3600 }, ["3 hours", "2 days", "6 days", "8 days"]],
	[{ delete_message_days: 1 }, ["2 days", "6 days", "8 days"]],
	[{ delete_message_days: 7 }, ["8 days"]],
	[{ delete_message_seconds: 604_800 }, ["8 days"]],
])("ban with %j leaves the messages of these ages: %j", async (args, left) => {
	await using world = await startWorld();
	const { simulator } = world;
	const zoe = userNamed(world, "zoe");
	const { id: channelId } = simulator.channel("The Cooks/general");
	const channel = world.guild.channels.get(channelId);
	if (!channel) throw new Error("it was just found");
	const ages = {
		"8 days": 8,
		"6 days": 6,
		"2 days": 2,
		"3 hours": 1 / 8,
		new: 0,
	};
	for (const [content, days] of Object.entries(ages))
		simulator.world.messages.add(channel, zoe, {
			content,
			id: simulator.world.state.newId(Date.now() - days * daySeconds * 1000),
		});
	const ada = userNamed(world, "ada");
	simulator.world.messages.add(channel, ada, { content: "ada's" });
	const dry = await world.call("ban", {
		user_id: zoe.id,
		...args,
		dry_run: true,
	});
	expect(dry.text.includes("delete their messages of the last")).toBe(
		left.length < 5,
	);
	const { isError } = await world.call("ban", { user_id: zoe.id, ...args });
	expect(isError).toBe(false);
	const contents = simulator.world.messages
		.in(channel.id)
		.map(({ content }) => content);
	expect(contents.toSorted()).toEqual([...left, "ada's"].toSorted());
});

test.each([
	[
		{ delete_message_seconds: 0, delete_message_days: 0 },
		"delete_message_seconds, delete_message_days: expected at most one",
	],
	[
		{ delete_message_days: 8 },
		"delete_message_days: expected an integer from 0 to 7",
	],
	[{ delete_message_days: 0.5 }, "delete_message_days: expected an integer"],
	[
		{ delete_message_seconds: 604_801 },
		"delete_message_seconds: expected an integer",
	],
	[
		{ delete_message_seconds: -1 },
		"delete_message_seconds: expected an integer",
	],
	[{ delete_message_seconds: "60" }, "delete_message_seconds: expected number"],
])("ban refuses %j", async (args, fault) => {
	const world = await shared();
	const { id: user_id } = world.simulator.user("zoe");
	const { text, code } = await world.call("ban", { user_id, ...args });
	expect(code).toBe(-32602);
	expect(text).toContain(fault);
	expect(world.guild.members.has(user_id)).toBe(true);
});

test("ban looks up the ban first, and bans nobody if that fails", async () => {
	await using world = await startWorld();
	const { id: user_id } = world.simulator.user("zoe");
	world.simulator.faults.drop("GET /guilds/*/bans/*", { when: "before" });
	const { text, isError } = await world.call("ban", { user_id });
	expect(isError).toBe(true);
	expect(text).toContain("nothing was changed");
	expect(world.guild.members.has(user_id)).toBe(true);
});
