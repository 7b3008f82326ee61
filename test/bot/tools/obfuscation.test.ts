// Channels that the bot may not view: what results say of them. Nothing that Discord invents about them passes for true.

import { afterAll, describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { tools } from "../../../src/bot/tools/index.ts";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../support/test-with.ts";
import { memberNamed, roleNamed, startWorld, type TestWorld, userNamed, worldTest } from "../../support/world.ts";
import { type Args, newChannel, type Scene } from "../tool-rows/scene.ts";
import { enter, leave, rows, settle } from "../tool-scene.ts";

const { ManageMessages, SendMessages, ViewChannel } = PermissionFlagsBits;

afterAll(leave);

/** Hides a channel of the guild from the bot; members of Staff see it. */
function hide(
	{ simulator, guild }: Pick<TestWorld, "simulator" | "guild">,
	channel: GuildChannel,
	staffId: string,
): void {
	const allow = String(ViewChannel | SendMessages | ManageMessages);
	simulator.world.channels.edit(channel, {
		permission_overwrites: [
			{ id: guild.id, type: 0, allow: "0", deny: String(ViewChannel) },
			{ id: staffId, type: 0, allow, deny: "0" },
		],
	});
}

/** A world with a #staff that the bot cannot see. */
async function startHiding() {
	const world = await startWorld();
	const { simulator, guild } = world;
	const role = roleNamed(world, "Staff");
	const staff = simulator.world.channels.add(guild, { name: "staff", topic: "secret" });
	hide(world, staff, role.id);
	const zoe = memberNamed(world, "zoe");
	simulator.world.members.edit(guild, zoe, { roles: [role.id] });
	await world.heard();
	const close = () => world[Symbol.asyncDispose]();
	return { world, staff, role, zoe, [Symbol.asyncDispose]: close };
}

const hidingTest = testWith(startHiding);

const unseen = (id: string) => `a channel that the bot cannot see (ID: ${id})`;

/** Calls of tools about the guild, and about #staff. */
const answers: [string, (id: string) => Args, (id: string) => string[]][] = [
	["list_channels", () => ({}), (id) => [`a channel that the bot cannot see | ID: ${id} | text`]],
	["get_channel", (id) => ({ channel_id: id }), (id) => [`${unseen(id)}, text`, "everything else: unknown; allow"]],
	["list_channel_permissions", () => ({}), (id) => [`${unseen(id)}: unknown`, "1 that the bot cannot see, too"]],
	["list_channel_permissions", (id) => ({ channel_ids: [id] }), (id) => [`${unseen(id)}: unknown`]],
	["run_setup_check", () => ({}), (id) => [`1 of 5 channels are hidden from the bot: ID ${id}.`]],
	[
		"check_permissions",
		() => ({ all_channels: true }),
		(id) => [`Unknown in 1 channel(s) that the bot cannot see (IDs: ${id}): `],
	],
	[
		"check_permissions",
		() => ({ permissions: ["VIEW_CHANNEL"] }),
		() => ["Unknown in 1 channel(s) that the bot cannot see."],
	],
	["delete_role", () => ({ dry_run: true }), () => ["(unknown for 1 that the bot cannot see)"]],
];

hidingTest.each(answers)("%s %p says what is unknown", async ({ world, staff, role }, tool, argsOf, parts) => {
	const args = tool === "delete_role" ? { role_id: role.id } : {};
	const text = await world.expectResult(tool, { ...args, ...argsOf(staff.id) });
	for (const part of parts(staff.id)) expect(text).toContain(part);
	expect(text).not.toContain("___hidden___");
});

hidingTest(
	"permissions in a hidden channel are unknown until the bot may view it",
	async ({ world, staff, zoe, role }) => {
		const general = world.guild.channels.values().find(({ name }) => name === "general");
		const asked = (channel_ids: string[], who: Args) => world.call("check_permissions", { ...who, channel_ids });
		const unknown = `Unknown in 1 channel(s) that the bot cannot see (IDs: ${staff.id}): `;
		for (const who of [{ user_ids: [zoe.user.id] }, { role_ids: [role.id, world.guild.id] }, {}]) {
			const { text } = await asked([staff.id], who);
			expect(text).toStartWith(unknown);
			expect(text.split("\n")).toHaveLength(1);
			const both = await asked([staff.id, general?.id ?? ""], who);
			expect(both.text).toContain(unknown);
			expect(both.text).toContain("#general");
		}
		const me = memberNamed(world, "alpha");
		world.simulator.world.members.edit(world.guild, me, { roles: [...me.roles, role.id] });
		await world.heard();
		const seen = await asked([staff.id], { user_ids: [zoe.user.id] });
		expect(seen.text).toContain(`SEND_MESSAGES`);
		expect(seen.text).toContain(`in #staff (ID: ${staff.id})`);
		expect(seen.text).not.toContain("Unknown");
	},
);

worldTest("a channel that is really called ___hidden___ is a channel like others", async (world) => {
	const { id } = world.simulator.world.channels.add(world.guild, { name: "___hidden___" });
	await world.heard();
	const { text } = await world.call("list_channels");
	expect(text).toContain(`#___hidden___ | ID: ${id} | text`);
});

hidingTest(
	"an interaction that names a hidden channel does not make its invented overwrites pass for real",
	async ({ world, staff }) => {
		const { id, token } = world.simulator.bot("alpha");
		world.simulator.sockets.dispatch(id, "INTERACTION_CREATE", {
			id: "1234567890123456789",
			application_id: id,
			token,
			version: 1,
			type: 2,
			guild_id: world.guild.id,
			entitlements: [],
			channel_id: staff.id,
			locale: "en-US",
			app_permissions: "0",
			channel: { id: staff.id, type: 0 },
			authorizing_integration_owners: { 0: world.guild.id },
			member: {
				roles: [],
				joined_at: null,
				deaf: false,
				mute: false,
				flags: 0,
				permissions: "0",
				user: userNamed(world, "zoe"),
			},
			data: {
				id: "1234567890123456788",
				name: "unknown",
				type: 1,
				options: [{ name: "channel", type: 7, value: staff.id }],
				resolved: {
					channels: {
						[staff.id]: {
							id: staff.id,
							name: "staff",
							type: 0,
							flags: 0,
							permissions: "0",
							position: 9,
							topic: "secret",
						},
					},
				},
			},
		});
		await world.heard();
		expect(world.logged.join("\n")).not.toContain("could not parse");
		const { text } = await world.call("list_channel_permissions", { channel_ids: [staff.id] });
		expect(text).toContain(`${unseen(staff.id)}: unknown`);
	},
);

hidingTest(
	"locking all channels leaves out hidden ones, and does not say that @everyone cannot see them",
	async ({ world, staff }) => {
		const { text } = await world.call("lock_channel", { all: true });
		expect(text).toContain(`Left, because the bot cannot see them: <#${staff.id}>`);
		const lines = text.split("\n").filter((line) => line.includes(staff.id));
		expect(lines).toHaveLength(1);
	},
);

hidingTest("a channel is moved beside a hidden one, which keeps its place", async ({ world, staff }) => {
	const { guild, simulator } = world;
	const [first, last] = ["first", "last"].map((name) => simulator.world.channels.add(guild, { name }));
	if (!first || !last) throw new Error("they were added");
	await world.heard();
	const text = await world.expectResult("move_channels", { channel_ids: [last.id], below_channel_id: staff.id });
	expect(text).toContain("a channel that the bot cannot see");
	const order = [staff, last, first].map(({ position }) => position);
	expect(order).toEqual(order.toSorted((a, b) => a - b));
	expect(new Set(order).size).toBe(3);
});

hidingTest("whether a hidden channel follows its category is unknown", async ({ world, staff, role }) => {
	const { guild, simulator } = world;
	const category = simulator.world.channels.add(guild, { name: "Back", type: ChannelType.GuildCategory });
	simulator.world.channels.add(guild, { name: "open", parent_id: category.id });
	simulator.world.channels.edit(staff, { parent_id: category.id });
	await world.heard();
	const { text } = await world.call("set_channel_permissions", {
		channel_ids: [category.id],
		target_ids: [role.id],
		allow: ["SEND_MESSAGES"],
		dry_run: true,
	});
	expect(text).toContain("1 synced channel(s) follow: #open");
	expect(text).toContain(`unknown for 1 that the bot cannot see: ${staff.id}`);
	expect(text).not.toContain("permissions of their own");
});

hidingTest("no channel is created in a hidden category, whose permissions are unknown", async ({ world, role }) => {
	const { guild, simulator } = world;
	const category = simulator.world.channels.add(guild, { name: "Back", type: ChannelType.GuildCategory });
	hide(world, category, role.id);
	await world.heard();
	const text = await world.expectError("create_channel", { name: "new", category_id: category.id });
	expect(text).toContain(`The bot cannot see the category ${category.id}`);
});

/** Arguments that name channels. */
const namesChannels = /(^|_)(channel|category)_ids?$/;
const schemas = new Map(
	tools.map(({ name, listing }) => [name, (listing.inputSchema.properties ?? {}) as Record<string, { type?: string }>]),
);
const kindOf = (key: string, tool: string) =>
	key.startsWith("category")
		? ChannelType.GuildCategory
		: /voice|stage/.test(tool)
			? ChannelType.GuildVoice
			: ChannelType.GuildText;

describe("a call with a hidden channel", () => {
	const cases = rows.flatMap(([tool, row]) =>
		Object.keys(row.ids)
			.filter((key) => namesChannels.test(key))
			.map((key) => [tool, key, row] as const),
	);

	test.each(cases)("of %s in %s says nothing false of it, and changes nothing", async (tool, key, row) => {
		const scene = await enter(tool);
		const { world, guild } = scene;
		const hidden = newChannel(scene, kindOf(key, tool));
		hide(world, hidden, roleNamed(world, "Staff").id);
		const args = argsOf(scene, row);
		await settle(scene);
		const before = structuredClone(hidden);
		const isList = schemas.get(tool)?.[key]?.type === "array";
		const { text } = await world.call(tool, { ...args, [key]: isList ? [hidden.id] : hidden.id });
		expect(text).not.toMatch(/___hidden___|just deleted|does not see|private/);
		expect(text).not.toContain(`#${hidden.name}`);
		expect(guild.channels.get(hidden.id)).toEqual(before);
	});

	test("is tried with most tools about channels", () => {
		expect(cases.length).toBeGreaterThan(50);
	});
});

function argsOf(scene: Scene, row: (typeof rows)[number][1]): Args {
	if ("act" in row) return row.act(scene).args;
	return "ask" in row ? row.ask(scene).args : row.args(scene);
}
