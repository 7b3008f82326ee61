// move_channels.

import { expect } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel, GuildChannelType } from "../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../support/test-with.ts";
import { denyBot, memberOverwrite, roleNamed, startWorld, writes } from "../../support/world.ts";

/** Channels a to e in no category, f and g in Box, and their order in the simulator. */
async function row() {
	const world = await startWorld();
	const { guild, simulator } = world;
	const ids = new Map<string, string>();
	const add = (name: string, type: GuildChannelType = ChannelType.GuildText, parent_id: string | null = null) => {
		const channel = simulator.world.channels.add(guild, { name, type, parent_id });
		ids.set(name, channel.id);
		return channel;
	};
	const box = add("Box", ChannelType.GuildCategory);
	for (const name of "abcde") add(name);
	for (const name of "fg") add(name, ChannelType.GuildText, box.id);
	await world.heard();
	const idOf = (name: string) => ids.get(name) ?? name;
	const order = (parent: string | null, type = ChannelType.GuildText) =>
		[...guild.channels.values()]
			.filter((one) => one.type === type && one.parent_id === parent)
			.sort((a, b) => a.position - b.position || Number(a.id) - Number(b.id))
			.map(({ name }) => name)
			.join("");
	return {
		world,
		box,
		add,
		idOf,
		top: () => order(null),
		inBox: (type?: ChannelType) => order(box.id, type as GuildChannelType),
		move: (names: string | readonly string[], args: object) =>
			world.call("move_channels", { channel_ids: [...names].map(idOf), ...args }),
		[Symbol.asyncDispose]: world[Symbol.asyncDispose],
	};
}

const rowTest = testWith(row);

rowTest.each([
	["ec", { position: 0 }, "ecabd"],
	["ba", { position: 2 }, "cdbae"],
	["da", { position: 499 }, "bceda"],
	["ea", { below_channel_id: "b" }, "beacd"],
	["ab", { below_channel_id: "e" }, "cdeab"],
])("moving %s with %j gives the order %s, with one request", async (scene, names, args, expected) => {
	const { below_channel_id } = args as { below_channel_id?: string };
	const { text } = await scene.move(names, {
		...args,
		...(below_channel_id && { below_channel_id: scene.idOf(below_channel_id) }),
	});
	expect(scene.top()).toBe(expected);
	expect(writes(scene.world)).toHaveLength(1);
	const order = [...expected].map((name) => (names.includes(name) ? `#${name} (ID: ${scene.idOf(name)})` : `#${name}`));
	expect(text.split("\n")).toEqual(["Moved 2 channel(s).", `In no category, from the top: ${order.join(", ")}`]);
});

rowTest("each move into a category is a request of its own, in order", async (scene) => {
	const { move, box, world } = scene;
	const { text } = await move("cfa", { category_id: box.id });
	expect(scene.inBox()).toBe("gcfa");
	expect(scene.top()).toBe("bde");
	const named = [..."cfa"].map((name) => `#${name} (ID: ${scene.idOf(name)})`);
	expect(text.split("\n")).toEqual([
		"Moved 3 channel(s), 2 of them from elsewhere.",
		`In #Box (ID: ${box.id}), from the top: #g, ${named.join(", ")}`,
	]);
	const bodies = world.simulator.journal.entries().map(({ body }) => body);
	const parents = bodies.map((body) => (body as { parent_id?: string }[]).filter((one) => "parent_id" in one).length);
	expect(parents).toEqual([1, 1]);
	await move("gc", { category_id: "", position: 0 });
	expect(scene.top()).toBe("gcbde");
});

rowTest("each kind is ordered separately, and several kinds can move to a category together", async (scene) => {
	const { add, box, world } = scene;
	add("v", ChannelType.GuildVoice, box.id);
	add("w", ChannelType.GuildVoice);
	await world.heard();
	const { text } = await scene.move("wa", { category_id: box.id, position: 0 });
	const [, voice = "", texts = ""] = text.split("\n");
	expect(voice).toEndWith(`: #w (ID: ${scene.idOf("w")}), #v`);
	expect(texts).toEndWith(`: #a (ID: ${scene.idOf("a")}), #f, #g`);
	expect(scene.inBox()).toBe("afg");
	expect(scene.inBox(ChannelType.GuildVoice)).toBe("wv");
});

rowTest("below_channel_id in another category moves them to that category", async (scene) => {
	const { text } = await scene.move("ba", { below_channel_id: scene.idOf("f") });
	expect(scene.inBox()).toBe("fbag");
	expect(text).toContain(`In #Box (ID: ${scene.box.id}), from the top: #f, #b`);
});

rowTest("a call that changes nothing is refused, also when repeated", async (scene) => {
	const { move, world } = scene;
	const same = await move("de", { position: 3 });
	expect(same.text).toContain(
		"Nothing would change: the channels are already in this order. In no category, from the top: #a, #b, #c, #d (ID: ",
	);
	expect(writes(world)).toEqual([]);
	await move("ab", { category_id: scene.box.id });
	const again = await move("ab", { category_id: scene.box.id });
	expect(again.text).toContain(
		`Nothing would change: the channels are already in this order. In #Box (ID: ${scene.box.id}), from the top: #f, #g, #a`,
	);
	expect(writes(world)).toHaveLength(2);
});

rowTest("a partial move reports its progress, and the same call completes it", async (scene) => {
	const { move, world, idOf, box } = scene;
	const { faults } = world.simulator;
	const route = `PATCH /guilds/${world.guild.id}/channels`;
	let moved = 0;
	world.simulator.world.state.subscribe(({ type }) => {
		if (type !== "CHANNEL_UPDATE") return;
		moved += 1;
		if (moved === 1) faults.drop(route, { when: "after", times: 1 });
	});
	const { text } = await move("abc", { category_id: box.id });
	expect(text).toStartWith(
		`Did 1 of 3 steps to move 3 channel(s); the last step sets their order. Changed:\n#a (ID: ${idOf("a")})\n1 of unknown outcome:\n#b (ID: ${idOf("b")}) | Discord API error: `,
	);
	expect(text).toEndWith(
		"1 not started: check the outcome of the previous one first. To continue, call again with the same arguments.",
	);
	expect(scene.top()).toBe("cde");
	expect((await move("abc", { category_id: box.id })).isError).toBe(false);
	expect(scene.inBox()).toBe("fgabc");
});

rowTest("they take over the permissions of a new category, if the bot may give them", async (scene) => {
	const { box, move, world } = scene;
	const { PrioritySpeaker, SendMessages } = PermissionFlagsBits;
	const everyone = { id: world.guild.id, type: 0, allow: "0" } as const;
	const platform = world.simulator.world;
	platform.channels.setOverwrite(box, { ...everyone, deny: String(PrioritySpeaker) });
	await world.heard();
	const args = { category_id: box.id, lock_permissions: true };
	expect((await move("ab", args)).text).toContain("lacks PRIORITY_SPEAKER");
	expect(writes(world)).toEqual([]);
	platform.channels.setOverwrite(box, { ...everyone, deny: String(SendMessages) });
	await world.heard();
	const { text } = await move("ab", args);
	expect(text).toContain(
		`2 of them from elsewhere.\n#a (ID: ${scene.idOf("a")}), #b (ID: ${scene.idOf("b")}): gets the access of its category\n`,
	);
	for (const name of "ab")
		expect(world.guild.channels.get(scene.idOf(name))?.permission_overwrites).toEqual([
			{ ...everyone, deny: String(SendMessages) },
		]);
});

rowTest(
	"move_channels needs MANAGE_CHANNELS in guild or category for a position, and for a new category there and on the channel",
	async (scene) => {
		const { world, box, add, idOf } = scene;
		const { simulator, guild } = world;
		const { ManageChannels, ViewChannel } = PermissionFlagsBits;
		const pen = add("Pen", ChannelType.GuildCategory);
		const [a, f] = ["a", "f"].map((name) => guild.channels.get(idOf(name)));
		if (!a || !f) throw new Error("the row has them");
		const move = async ({ id }: GuildChannel, args: object) => {
			await world.heard();
			return (await world.call("move_channels", { channel_ids: [id], ...args })).text;
		};
		await denyBot(world, f, ViewChannel);
		expect(await move(f, { position: 1 })).not.toContain("lacks");
		expect(scene.inBox()).toBe("gf");
		expect(await move(f, { category_id: "" })).toContain(
			`lacks VIEW_CHANNEL in a channel that the bot cannot see (ID: ${f.id})`,
		);
		await denyBot(world, pen, ManageChannels);
		expect(await move(a, { category_id: pen.id })).toContain(`lacks MANAGE_CHANNELS in #Pen (ID: ${pen.id})`);
		const own = roleNamed(world, "alpha");
		const permissions = String(BigInt(own.permissions) & ~ManageChannels);
		simulator.world.roles.edit(guild, own, { permissions });
		expect(await move(f, { position: 0 })).toContain(`lacks MANAGE_CHANNELS in #Box (ID: ${box.id})`);
		for (const channel of [box, a])
			simulator.world.channels.setOverwrite(
				channel,
				memberOverwrite(simulator.bot("alpha").id, { allow: ManageChannels }),
			);
		expect(await move(f, { position: 0 })).not.toContain("lacks");
		expect(await move(a, { position: 1 })).toContain(`lacks MANAGE_CHANNELS in the guild ${guild.id} as a whole`);
		expect(await move(a, { category_id: box.id, position: 0 })).not.toContain("lacks");
		expect(scene.inBox()).toBe("afg");
		const sent = simulator.journal.entries();
		expect(sent).toHaveLength(3);
		for (const { reason } of sent) expect(reason).toBeUndefined();
	},
);

rowTest.each([
	["ab", {}, "category_id, position, below_channel_id: expected at least one"],
	["ab", { position: 0, below_channel_id: "c" }, "position, below_channel_id: expected at most one of these"],
	["ab", { below_channel_id: "b" }, "that is not among channel_ids"],
	["af", { position: 0 }, "category_id: is required, because the channels are"],
	[
		"ab",
		{ category_id: "Box", below_channel_id: "c" },
		"below_channel_id: expected a channel in the category that category_id names",
	],
	["ab", { below_channel_id: "Box" }, "expected channels of one kind"],
	[["Box"], { category_id: "Box" }, "category_id: a category cannot be inside another category"],
	["ab", { position: 0, lock_permissions: true }, "lock_permissions: only works if the channels move"],
	["fg", { category_id: "Box", lock_permissions: true }, "lock_permissions:"],
])("%j with %j is refused", async (scene, names, args, expected) => {
	const given = Object.entries(args).map(([key, value]) => [
		key,
		typeof value === "string" ? scene.idOf(value) : value,
	]);
	const { text, code } = await scene.world.call("move_channels", {
		channel_ids: [...names].map(scene.idOf),
		...Object.fromEntries(given),
	});
	expect(code).toBe(-32602);
	expect(text).toContain(expected);
	expect(writes(scene.world)).toEqual([]);
});

rowTest("categories are moved among themselves, and a channel that gets its own category stays", async (scene) => {
	const { world, add, box, move } = scene;
	add("Pen", ChannelType.GuildCategory);
	await world.heard();
	const { text } = await move(["Pen"], { position: 0 });
	expect(text).toContain(`Categories, from the top: #Pen (ID: ${scene.idOf("Pen")}), #`);
	const before = writes(world).length;
	const same = await move("f", { category_id: box.id });
	expect(same.text).toStartWith("Nothing would change: the channels are already in this order. In #Box");
	expect(scene.inBox()).toBe("fg");
	expect(writes(world)).toHaveLength(before);
});

rowTest("a category has room for 50", async (scene) => {
	const { add, box, world } = scene;
	for (let count = 0; count < 47; count += 1) add(`x${count}`, ChannelType.GuildText, box.id);
	await world.heard();
	const { text } = await scene.move("ab", { category_id: box.id });
	expect(text).toContain("Did 1 of 2 steps");
	expect(text).toContain("Maximum number of channels in category reached (50)");
});
