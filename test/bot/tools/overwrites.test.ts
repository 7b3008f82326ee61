// The tools of channel permissions.

import { describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel, GuildChannelType } from "../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import {
	channelNamed,
	denyBot,
	memberNamed,
	roleNamed,
	roleOverwrite,
	startWorld,
	type TestWorld,
	worldTest,
	writes,
} from "../../support/world.ts";

const { Connect, ManageRoles, PrioritySpeaker, SendMessages, Speak, ViewChannel } = PermissionFlagsBits;

describe("set_channel_permissions", () => {
	/** Sets permissions of Regular in general. Returns the resulting overwrite. */
	function setter(world: TestWorld, target = roleNamed(world, "Regular").id) {
		const channel = channelNamed(world, "general");
		return async (args: object) => {
			const outcome = await world.call("set_channel_permissions", {
				channel_ids: [channel.id],
				target_ids: [target],
				...args,
			});
			const overwrite = channel.permission_overwrites.find(({ id }) => id === target);
			return { ...outcome, allow: BigInt(overwrite?.allow ?? -1), deny: BigInt(overwrite?.deny ?? -1) };
		};
	}

	worldTest("keeps what is not given, or replaces it on request, and says what changes by name", async (world) => {
		const set = setter(world);
		const first = await set({ allow: [String(ViewChannel), "SPEAK"], deny: ["send_messages "] });
		expect(first).toMatchObject({ allow: ViewChannel | Speak, deny: SendMessages });
		const merged = await set({ allow: ["SEND_MESSAGES"] });
		expect(merged).toMatchObject({ allow: ViewChannel | Speak | SendMessages, deny: 0n });
		const lines = ({ text }: { text: string }) => text.split("\n");
		const regular = roleNamed(world, "Regular").id;
		const general = `#general (ID: ${channelNamed(world, "general").id})`;
		expect(lines(merged)).toEqual([
			`Changed 1 overwrite(s) for @Regular (ID: ${regular}):`,
			`${general}: @Regular: SEND_MESSAGES denied → allowed`,
		]);
		const replace = { deny: String(Connect), replace: true };
		const dry = await set({ ...replace, dry_run: true });
		const replaced = await set(replace);
		expect(replaced).toMatchObject({ allow: 0n, deny: Connect });
		const change = `${general}: @Regular: VIEW_CHANNEL, SEND_MESSAGES, SPEAK allowed → neutral, CONNECT neutral → denied`;
		expect(lines(dry)).toEqual([
			"Dry run: nothing was done.",
			`Would change 1 overwrite(s) for @Regular (ID: ${regular}):`,
			change,
		]);
		expect(lines(replaced)[1]).toBe(change);
		const empty = { replace: true };
		const removed = await set(empty);
		expect(removed).toMatchObject({ allow: -1n, deny: -1n });
		expect(lines(removed)[1]).toBe(`${general}: @Regular: CONNECT denied → neutral; overwrite removed`);
	});

	worldTest("sets the overwrite of a member, and refuses non-members", async (world) => {
		const zoe = world.simulator.user("zoe").id;
		const set = setter(world, zoe);
		const { text, deny } = await set({ deny: ["SEND_MESSAGES"] });
		expect(deny).toBe(SendMessages);
		expect(text).toStartWith(`Changed 1 overwrite(s) for Zoë 🍞 (@zoe, ID: ${zoe}):\n#general (ID: `);
		expect(text).toEndWith("Zoë 🍞 (@zoe): SEND_MESSAGES neutral → denied");
		await expect(world.simulator.user("zoe").say("The Cooks/general", "x")).rejects.toThrow();
		const before = writes(world).length;
		const bob = setter(world, world.simulator.user("bob_the_baker").id);
		expect((await bob({ deny: "1" })).text).toContain("There is no role or member");
		expect(writes(world)).toHaveLength(before);
	});

	worldTest("refuses what would change nothing", async (world) => {
		const set = setter(world);
		for (const args of [{ allow: "0" }, { deny: [], allow: [], replace: true }])
			expect((await set(args)).text).toMatch(/^Nothing would change for @Regular \(ID: \d+\)/);
		await set({ allow: ["SPEAK"], deny: ["CONNECT"] });
		const before = writes(world).length;
		for (const same of [{ allow: ["SPEAK"] }, { allow: ["SPEAK"], deny: ["CONNECT"], replace: true }])
			expect((await set(same)).text).toStartWith("Nothing would change");
		expect(writes(world)).toHaveLength(before);
	});

	worldTest("refuses bits that the bot lacks before Discord sees them, also when removing them", async (world) => {
		const set = setter(world);
		const regular = roleNamed(world, "Regular").id;
		for (const args of [{ allow: ["PRIORITY_SPEAKER"] }, { deny: ["PRIORITY_SPEAKER"] }]) {
			const { text } = await set(args);
			expect(text).toContain("it lacks PRIORITY_SPEAKER");
			expect(text).toContain("The owner, or anyone with MANAGE_ROLES");
		}
		world.simulator.world.channels.setOverwrite(
			channelNamed(world, "general"),
			roleOverwrite(regular, { allow: PrioritySpeaker }),
		);
		const replace = { deny: ["SPEAK"], replace: true };
		expect((await set(replace)).text).toContain("it lacks PRIORITY_SPEAKER");
		const { text } = await set({ allow: String(ManageRoles) });
		expect(text).toContain("Only an administrator can allow or deny MANAGE_ROLES");
		expect(writes(world)).toEqual([]);
		// What the bot lacks and leaves as it is does not matter.
		const merged = await set({ deny: ["SPEAK"] });
		expect(merged).toMatchObject({ allow: PrioritySpeaker, deny: Speak });
	});

	worldTest(
		"with MANAGE_ROLES in the channel the bot sets any permission; those that it has in the category, it sets too",
		async (world) => {
			const { world: platform } = world.simulator;
			const me = { id: world.simulator.bot("alpha").id, type: 1, deny: "0" } as const;
			const set = setter(world);
			platform.channels.setOverwrite(channelNamed(world, "Talk"), { ...me, allow: String(PrioritySpeaker) });
			await world.heard();
			expect((await set({ allow: ["PRIORITY_SPEAKER"] })).allow).toBe(PrioritySpeaker);
			expect((await set({ allow: ["VIEW_GUILD_INSIGHTS"] })).isError).toBe(true);
			platform.channels.setOverwrite(channelNamed(world, "general"), { ...me, allow: String(ManageRoles) });
			await world.heard();
			expect((await set({ allow: ["VIEW_GUILD_INSIGHTS"] })).isError).toBe(false);
		},
	);

	worldTest("concurrent merges do not undo one another", async (world) => {
		const set = setter(world);
		const names = ["SPEAK", "CONNECT", "SEND_MESSAGES", "VIEW_CHANNEL", "ADD_REACTIONS", "EMBED_LINKS"];
		const outcomes = await Promise.all(names.map((name) => set({ allow: [name] })));
		for (const { isError } of outcomes) expect(isError).toBe(false);
		const overwrite = channelNamed(world, "general").permission_overwrites[0];
		const bits = BigInt(overwrite?.allow ?? 0);
		expect(bits.toString(2).replaceAll("0", "")).toHaveLength(names.length);
	});

	worldTest("consecutive merges do not undo one another", async (world) => {
		const set = setter(world);
		// Nobody tells the bot of its own changes meanwhile, nor of what somebody else does.
		world.simulator.sockets.holdEvents(true);
		for (const name of ["SPEAK", "CONNECT", "VIEW_CHANNEL"]) await set({ deny: [name] });
		const { allow, deny } = await set({ allow: ["SPEAK"] });
		expect({ allow, deny }).toEqual({ allow: Speak, deny: Connect | ViewChannel });
	});

	worldTest("denying something to @everyone in a private channel leaves it private", async (world) => {
		const staff = channelNamed(world, "staff");
		await world.call("set_channel_permissions", {
			channel_ids: [staff.id],
			target_ids: [world.guild.id],
			deny: ["SPEAK"],
		});
		const everyone = staff.permission_overwrites.find(({ id }) => id === world.guild.id);
		expect(BigInt(everyone?.deny ?? 0)).toBe(ViewChannel | Speak);
	});
});

describe("set_channel_permissions for several channels and targets", () => {
	/** Channels one and two, Box with the synced channels in and out, and a call for Regular and Zoë. */
	async function several() {
		const world = await startWorld();
		const { channels } = world.simulator.world;
		const add = (name: string, more: object = {}) => channels.add(world.guild, { name, ...more });
		const [one, two] = [add("one"), add("two")];
		const box = add("Box", { type: ChannelType.GuildCategory });
		const within = { parent_id: box.id };
		const [inside, alone] = [add("in", within), add("alone", within)];
		const regular = roleNamed(world, "Regular").id;
		const zoe = world.simulator.user("zoe").id;
		channels.setOverwrite(alone, { id: regular, type: 0, allow: String(Speak), deny: "0" });
		await world.heard();
		const nameOf = ({ name, id }: GuildChannel) => `#${name} (ID: ${id})`;
		return {
			world,
			one,
			two,
			box,
			inside,
			alone,
			regular,
			zoe,
			nameOf,
			names: `@Regular (ID: ${regular}), Zoë 🍞 (@zoe, ID: ${zoe})`,
			set: (places: readonly GuildChannel[], args: object) =>
				world.call("set_channel_permissions", {
					channel_ids: places.map(({ id }) => id),
					target_ids: [regular, zoe],
					...args,
				}),
			[Symbol.asyncDispose]: world[Symbol.asyncDispose],
		};
	}

	const severalTest = testWith(several);

	severalTest(
		"changes each overwrite with one request, and skips those that are so already",
		async ({ world, one, two, regular, zoe, names, nameOf, set }) => {
			const deny = { deny: ["SEND_MESSAGES", String(Speak)] };
			await set([one], { ...deny, target_ids: [zoe] });
			const { text } = await set([one, two], deny);
			expect(text.split("\n")).toEqual([
				`Changed 3 overwrite(s) for ${names} (1 unchanged):`,
				`${nameOf(one)}: @Regular: SEND_MESSAGES, SPEAK neutral → denied`,
				`${nameOf(two)}: @Regular: SEND_MESSAGES, SPEAK neutral → denied`,
				`${nameOf(two)}: Zoë 🍞 (@zoe): SEND_MESSAGES, SPEAK neutral → denied`,
			]);
			const mixed = await set([one], { allow: "SPEAK", neutral: ["CONNECT"], deny: null });
			expect(mixed.text).toContain("@Regular: SPEAK denied → allowed");
			const cleared = await set([one, two], { neutral: ["SPEAK", "SEND_MESSAGES"] });
			expect(cleared.text).toContain(
				"@Regular: SPEAK allowed → neutral, SEND_MESSAGES denied → neutral; overwrite removed",
			);
			for (const { permission_overwrites } of [one, two]) expect(permission_overwrites).toEqual([]);
			expect(writes(world)).toHaveLength(1 + 3 + 2 + 4);
			expect(writes(world).at(-1)).toBe(`DELETE /channels/${two.id}/permissions/${zoe}`);
			expect(regular).not.toBe(zoe);
		},
	);

	severalTest(
		"says which channels follow their category, and sends no requests for them",
		async ({ world, box, inside, alone, regular, names, nameOf, set }) => {
			const hide = { deny: ["SEND_MESSAGES"] };
			const lines = [
				`overwrite(s) for ${names}:`,
				`${nameOf(box)}: @Regular: SEND_MESSAGES neutral → denied`,
				`${nameOf(box)}: Zoë 🍞 (@zoe): SEND_MESSAGES neutral → denied`,
				`${nameOf(box)}: 1 synced channel(s) follow: #in; 1 not synced, with permissions of their own, stay: #alone`,
			];
			const places = [box, inside];
			const dry = await set(places, { ...hide, dry_run: true });
			expect(dry.text).toBe(`Dry run: nothing was done.\nWould change 2 ${lines.join("\n")}`);
			const done = await set(places, hide);
			expect(done.text).toBe(`Changed 2 ${lines.join("\n")}`);
			expect(inside.permission_overwrites).toEqual(box.permission_overwrites);
			expect(alone.permission_overwrites.map(({ id }) => id)).toEqual([regular]);
			expect(writes(world)).toHaveLength(2);
			const both = await set([box, alone], { deny: ["SPEAK"] });
			expect(both.text).toEndWith("1 synced channel(s) follow: #in");
		},
	);

	severalTest("checks everything before the first request", async ({ world, one, two, alone, regular, set }) => {
		world.simulator.world.channels.setOverwrite(alone, roleOverwrite(regular, { allow: PrioritySpeaker }));
		await denyBot(world, two, ManageRoles);
		const refused = async (places: GuildChannel[], args: object) => (await set(places, args)).text;
		expect(await refused([one, alone], { replace: true })).toContain("it lacks PRIORITY_SPEAKER");
		expect(await refused([one, two], { deny: ["SPEAK"] })).toContain(`lacks MANAGE_ROLES in #two (ID: ${two.id})`);
		const strangers = { target_ids: [regular, one.id], deny: ["SPEAK"] };
		expect(await refused([one], strangers)).toContain(`There is no role or member ${one.id} in the guild`);
		expect(writes(world)).toEqual([]);
	});

	severalTest(
		"reports which are done if Discord refuses one, and the same call does the rest",
		async ({ world, box, one, regular, set, nameOf }) => {
			world.simulator.faults.refuse(`PUT /channels/${box.id}/permissions/${regular}`, 50013, { times: 1 });
			const only = { target_ids: [regular], deny: ["SPEAK"] };
			const { text, isError } = await set([one, box], only);
			expect(isError).toBe(false);
			expect(text).toStartWith("Changed 1 of 2 overwrite(s) for @Regular");
			expect(text).toContain(`1 refused by Discord:\n${nameOf(box)}: @Regular: SPEAK neutral → denied | `);
			expect(text).not.toContain("follow");
			const again = await set([one, box], only);
			expect(again.text).toContain("Changed 1 overwrite(s) for @Regular");
			expect(again.text).toContain("(1 unchanged)");
		},
	);
});

describe("what the bot needs to undo a change", () => {
	type Target = "@everyone" | "alpha" | "the bot";
	/** A new channel, and its overwrites for roles and the bot: `has` sets them, `set` calls the tool. */
	async function start(type: GuildChannelType = ChannelType.GuildText) {
		const world = await startWorld();
		const { channels } = world.simulator.world;
		const channel = channels.add(world.guild, { name: "place", type });
		const ids: Record<Target, string> = {
			"@everyone": world.guild.id,
			alpha: roleNamed(world, "alpha").id,
			"the bot": world.simulator.bot("alpha").id,
		};
		const kindOf = (target: Target) => (target === "the bot" ? "member" : "role");
		const has = (target: Target, allow: bigint, deny: bigint, at = channel) =>
			channels.setOverwrite(at, {
				id: ids[target],
				type: kindOf(target) === "role" ? 0 : 1,
				allow: String(allow),
				deny: String(deny),
			});
		const call = async (tool: string, args: Record<string, unknown>) => {
			await world.heard();
			return world.call(tool, args);
		};
		return {
			world,
			channel,
			ids,
			has,
			call,
			set: (target: Target, args: Record<string, unknown>) =>
				call("set_channel_permissions", { channel_ids: [channel.id], target_ids: [ids[target]], ...args }),
			[Symbol.asyncDispose]: world[Symbol.asyncDispose],
		};
	}

	const undoTest = testWith(start);
	const { GuildCategory, GuildText, GuildVoice } = ChannelType;

	test.each([
		["@everyone", "VIEW_CHANNEL", GuildText],
		["alpha", "VIEW_CHANNEL", GuildText],
		["the bot", "VIEW_CHANNEL", GuildText],
		["@everyone", "CONNECT", GuildVoice],
	] as const)("is not denied: %s, %s", async (target, name, type) => {
		await using scene = await start(type);
		const { channel, ids, set, world } = scene;
		const deny = { deny: [name] };
		const refused = await set(target, deny);
		const place = `#place (ID: ${channel.id})`;
		// No role can allow what an overwrite denies to the member.
		const advice =
			target === "the bot"
				? "An administrator can make the change in Discord."
				: `First allow ${name} in ${place} to @alpha (ID: ${ids["the bot"]}), or let an administrator make the change in Discord.`;
		expect(refused.text).toBe(
			`This change would take ${name} in ${place} from the bot, and the bot could not undo it. ${advice} Nothing was done.`,
		);
		expect(writes(world)).toEqual([]);
		if (target === "the bot") return;
		await set("the bot", { allow: [name] });
		expect((await set(target, deny)).isError).toBe(false);
	});

	undoTest("is an overwrite with MANAGE_ROLES too, but nothing for an administrator", async ({ has, set, world }) => {
		has("alpha", ManageRoles, 0n);
		const clear = { allow: ["SPEAK"], replace: true };
		expect((await set("alpha", clear)).text).toStartWith(
			"This change would take the overwrite with MANAGE_ROLES in #place",
		);
		expect((await set("@everyone", { deny: "2048" })).isError).toBe(false);
		world.simulator.world.roles.edit(world.guild, roleNamed(world, "alpha"), {
			permissions: String(PermissionFlagsBits.Administrator),
		});
		expect((await set("alpha", clear)).isError).toBe(false);
	});

	undoTest("may come from a permission that only the channel gives", async ({ has, set, world }) => {
		const own = roleNamed(world, "alpha");
		const permissions = String(BigInt(own.permissions) & ~ManageRoles);
		world.simulator.world.roles.edit(world.guild, own, { permissions });
		has("the bot", ManageRoles, 0n);
		expect((await set("the bot", { replace: true })).text).toStartWith("This change would take MANAGE_ROLES in #place");
	});

	test("can be kept as the refusal says: what the bot's overwrite allows is allowed to its role first", async () => {
		await using scene = await start();
		const { has, set, ids, channel } = scene;
		has("@everyone", 0n, ViewChannel);
		has("the bot", ViewChannel, 0n);
		const remove = { replace: true };
		expect((await set("the bot", remove)).text).toContain(
			`First allow VIEW_CHANNEL in #place (ID: ${channel.id}) to @alpha (ID: ${ids.alpha}), or let`,
		);
		await set("alpha", { allow: ["VIEW_CHANNEL"] });
		expect((await set("the bot", remove)).text).toContain("overwrite removed");
	});

	test("is not removed, nor lost to the permissions of a category or another channel", async () => {
		await using scene = await start(GuildVoice);
		const { world, channel, has, call, ids } = scene;
		const { channels } = world.simulator.world;
		const [box, source] = [
			channels.add(world.guild, { name: "Box", type: GuildCategory }),
			channels.add(world.guild, { name: "source" }),
		];
		for (const one of [channel, box, source]) has("@everyone", 0n, Connect, one);
		has("the bot", Connect, 0n);
		const refused = async (tool: string, args: Record<string, unknown>) => {
			const { text } = await call(tool, args);
			expect(text).toContain("This change would take CONNECT in #place");
			return text;
		};
		await refused("set_channel_permissions", {
			channel_ids: [channel.id],
			target_ids: [ids["the bot"]],
			replace: true,
		});
		const copied = await refused("copy_channel_permissions", {
			channel_id: source.id,
			target_channel_ids: [channel.id],
		});
		expect(copied).toContain("First allow CONNECT in #source");
		const lock = { category_id: box.id, lock_permissions: true };
		expect(await refused("move_channels", { ...lock, channel_ids: [channel.id] })).toContain(
			"First allow CONNECT in #Box",
		);
		channels.edit(channel, { parent_id: box.id });
		await refused("copy_channel_permissions", { target_channel_ids: [channel.id] });
		expect(writes(world)).toEqual([]);
	});
});

/** Sets overwrites for @everyone, Regular and zoe in a channel. */
function overwritten(world: TestWorld, channel: GuildChannel) {
	const zoe = world.simulator.user("zoe").id;
	const regular = roleNamed(world, "Regular").id;
	const { world: platform } = world.simulator;
	const set = (id: string, type: 0 | 1, allow: bigint, deny: bigint) =>
		platform.channels.setOverwrite(channel, { id, type, allow: String(allow), deny: String(deny) });
	set(zoe, 1, Speak, 0n);
	set(world.guild.id, 0, 0n, Connect);
	set(regular, 0, SendMessages | ViewChannel, Speak);
	return { zoe, regular };
}

describe("list_channel_permissions", () => {
	worldTest("lists roles from the top, then members, by name, and says when they are the category's", async (world) => {
		const general = channelNamed(world, "general");
		const { zoe, regular } = overwritten(world, general);
		await world.heard();
		const list = async () =>
			(await world.call("list_channel_permissions", { channel_ids: [general.id] })).text.split("\n");
		const overwrites =
			"@Regular allows VIEW_CHANNEL, SEND_MESSAGES; denies SPEAK | @everyone denies CONNECT | Zoë 🍞 (@zoe) allows SPEAK";
		const ids = `Ids: @Regular (ID: ${regular}), @everyone (ID: ${world.guild.id}), Zoë 🍞 (@zoe, ID: ${zoe})`;
		expect(await list()).toEqual(["1 channel(s):", `#general (ID: ${general.id}): ${overwrites}`, ids]);
		overwritten(world, channelNamed(world, "Talk"));
		await world.heard();
		expect(await list()).toEqual([
			"1 channel(s):",
			`#general (ID: ${general.id}): as its category #Talk | ${overwrites}`,
			ids,
		]);
	});

	worldTest("tells the bot, its own role and other roles apart", async (world) => {
		const { guild, simulator } = world;
		const bot = simulator.bot("alpha");
		const own = simulator.world.roles.add(guild, { name: "Alpha", bot_id: bot.id });
		const general = channelNamed(world, "general");
		const set = (id: string, type: 0 | 1) =>
			simulator.world.channels.setOverwrite(general, { id, type, allow: String(Speak), deny: "0" });
		set(own.id, 0);
		set(bot.id, 1);
		await world.heard();
		const { text } = await world.call("list_channel_permissions", { channel_ids: [general.id] });
		expect(text).toMatch(/: the bot's role @Alpha allows SPEAK \| the bot (?:\S+ \()?@alpha\)? allows SPEAK\n/);
	});

	worldTest("shows all channels that have overwrites, each set of overwrites once", async (world) => {
		const { guild, simulator } = world;
		const { channels } = simulator.world;
		const list = async () => (await world.call("list_channel_permissions")).text.split("\n");
		const [talk, general, staff] = ["Talk", "general", "staff"].map((name) => channelNamed(world, name));
		if (!talk || !general || !staff) throw new Error("the seed has them");
		channels.setOverwrite(talk, { id: guild.id, type: 0, allow: "0", deny: String(Speak) });
		const twin = channels.add(guild, {
			name: "twin",
			permission_overwrites: structuredClone(staff.permission_overwrites),
		});
		await world.heard();
		const lines = await list();
		expect(lines[0]).toStartWith(`${lines.length - 2} of ${guild.channels.size} channel(s) have overwrites`);
		expect(lines).toContain(`#Talk (category, ID: ${talk.id}): @everyone denies SPEAK`);
		expect(lines).toContain(`#general (ID: ${general.id}): as its category #Talk`);
		const hidden = lines.filter((line) => line.includes("private, ID"));
		expect(hidden).toHaveLength(2);
		expect(hidden.join("\n")).toMatch(/@everyone denies VIEW_CHANNEL.*\n.*: the same as #(staff|twin) \(ID: \d+\)$/);
		channels.remove(twin);
	});

	worldTest("shows channels without overwrites in private categories, and which of them are public", async (world) => {
		const { guild, simulator } = world;
		const { channels } = simulator.world;
		const hideFromEveryone = { id: guild.id, type: 0 as const, allow: "0", deny: String(ViewChannel) };
		const vault = channels.add(guild, {
			name: "Vault",
			type: ChannelType.GuildCategory,
			permission_overwrites: [hideFromEveryone],
		});
		const [open, closed] = ["open", "closed"].map((name) =>
			channels.add(guild, {
				name,
				parent_id: vault.id,
				permission_overwrites: name === "open" ? [] : [hideFromEveryone],
			}),
		);
		await world.heard();
		const { text } = await world.call("list_channel_permissions");
		const lines = text.split("\n");
		expect(lines[0]).toMatch(
			/^\d+ of \d+ channel\(s\) have overwrites, from the top; 1 without overwrites in private categories, too; 1 that the bot cannot see, too:$/,
		);
		expect(lines).toContain(`#open (public, unlike its category, ID: ${open?.id}): no overwrites`);
		expect(lines).toContain(`a channel that the bot cannot see (ID: ${closed?.id}): unknown`);
		const list = await world.call("list_channels", { category_id: vault.id });
		expect(list.text.split("\n").slice(1)).toEqual([
			`#Vault | ID: ${vault.id} | category | private`,
			`#open | ID: ${open?.id} | text | public, unlike its category`,
			`a channel that the bot cannot see | ID: ${closed?.id} | text`,
		]);
	});

	worldTest("a guild of 50 channels takes a few KB", async (world) => {
		const { guild, simulator } = world;
		const { channels } = simulator.world;
		const overwrites = (deny: bigint) =>
			["@everyone", "Regular", "Staff"].map((name, index) => ({
				id: roleNamed(world, name).id,
				type: 0 as const,
				allow: index === 0 ? "0" : String(ViewChannel),
				deny: index === 0 ? String(deny) : "0",
			}));
		for (let box = 0; box < 5; box++) {
			const permission_overwrites = overwrites(ViewChannel | BigInt(box));
			const parent = channels.add(guild, {
				name: `Area ${box}`,
				type: ChannelType.GuildCategory,
				permission_overwrites,
			});
			for (let count = 0; count < 9; count++)
				channels.add(guild, {
					name: `channel-${box}-${count}`,
					parent_id: parent.id,
					permission_overwrites: overwrites(count < 6 ? ViewChannel | BigInt(box) : SendMessages),
				});
		}
		await world.heard();
		const { text } = await world.call("list_channel_permissions");
		expect(text.split("\n").length).toBeGreaterThan(50);
		expect(text.length).toBeLessThan(5_500);
	});

	worldTest("names someone who has left", async (world) => {
		const general = channelNamed(world, "general");
		const { zoe } = overwritten(world, general);
		const member = memberNamed(world, "zoe");
		world.simulator.world.members.remove(world.guild, member);
		await world.heard();
		const { text } = await world.call("list_channel_permissions", { channel_ids: [general.id] });
		expect(text).toContain(` | non-member ${zoe} allows SPEAK\n`);
	});
});

describe("set_channel_permissions with replace alone", () => {
	worldTest("removes those of a role, a member and someone who has left, and no others", async (world) => {
		const general = channelNamed(world, "general");
		const { zoe, regular } = overwritten(world, general);
		const remove = (target_id: string) =>
			world.call("set_channel_permissions", { channel_ids: [general.id], target_ids: [target_id], replace: true });
		const { text } = await remove(regular);
		expect(text.split("\n")).toEqual([
			`Changed 1 overwrite(s) for @Regular (ID: ${regular}):`,
			`#general (ID: ${general.id}): @Regular: VIEW_CHANNEL, SEND_MESSAGES allowed → neutral, SPEAK denied → neutral; overwrite removed`,
		]);
		const member = memberNamed(world, "zoe");
		world.simulator.world.members.remove(world.guild, member);
		await world.heard();
		expect((await remove(zoe)).isError).toBe(false);
		expect(general.permission_overwrites.map(({ id }) => id)).toEqual([world.guild.id]);
		expect((await remove(zoe)).text).toContain("There is no role or member");
	});

	worldTest("requires the permissions that it would remove", async (world) => {
		const general = channelNamed(world, "general");
		world.simulator.world.channels.setOverwrite(general, roleOverwrite(world.guild.id, { deny: PrioritySpeaker }));
		const { text } = await world.call("set_channel_permissions", {
			channel_ids: [general.id],
			target_ids: [world.guild.id],
			replace: true,
		});
		expect(text).toContain("it lacks PRIORITY_SPEAKER");
		expect(writes(world)).toEqual([]);
	});
});

describe("copy_channel_permissions without channel_id", () => {
	const sync = (world: TestWorld, channel: GuildChannel) =>
		world.call("copy_channel_permissions", { target_channel_ids: [channel.id] });

	worldTest("copies the category's overwrites, and lists the changed ones", async (world) => {
		const talk = channelNamed(world, "Talk");
		const staff = channelNamed(world, "staff");
		overwritten(world, talk);
		const lines = (await sync(world, staff)).text.split("\n");
		expect(lines[0]).toBe("Gave 1 channel(s) the permissions of their category:");
		expect(lines[1]).toStartWith(`#staff (ID: ${staff.id}): `);
		expect(lines[1]).toContain(" | @Regular: VIEW_CHANNEL, SEND_MESSAGES neutral → allowed, SPEAK neutral → denied | ");
		expect(lines[1]).toContain("@Staff: VIEW_CHANNEL allowed → neutral | ");
		expect(staff.permission_overwrites).toEqual(talk.permission_overwrites);
		expect((await sync(world, staff)).text).toStartWith("Nothing would change: ");
	});

	worldTest("builds on the category's current state, however late its event is", async (world) => {
		const talk = channelNamed(world, "Talk");
		const general = channelNamed(world, "general");
		overwritten(world, general);
		await world.heard();
		world.simulator.sockets.holdEvents(true);
		const { id } = world.guild;
		world.simulator.world.channels.setOverwrite(talk, { id, type: 0, allow: "0", deny: String(Connect) });
		expect((await sync(world, general)).isError).toBe(false);
		expect(general.permission_overwrites).toEqual(talk.permission_overwrites);
	});

	worldTest("a channel in no category, and permissions that the bot lacks, are refused", async (world) => {
		const talk = channelNamed(world, "Talk");
		expect((await sync(world, talk)).text).toContain("is in no category");
		world.simulator.world.channels.setOverwrite(talk, roleOverwrite(world.guild.id, { deny: PrioritySpeaker }));
		expect((await sync(world, channelNamed(world, "staff"))).text).toContain("it lacks PRIORITY_SPEAKER");
		expect(writes(world)).toEqual([]);
	});
});

describe("copy_channel_permissions", () => {
	async function copier() {
		const world = await startWorld();
		const { guild, simulator } = world;
		const [from, same, other, more] = ["from", "same", "other", "more"].map((name) =>
			simulator.world.channels.add(guild, { name }),
		) as [GuildChannel, GuildChannel, GuildChannel, GuildChannel];
		const say = (channel: GuildChannel, id: string, deny: bigint) =>
			simulator.world.channels.setOverwrite(channel, { id, type: 0, allow: "0", deny: String(deny) });
		const regular = roleNamed(world, "Regular").id;
		say(from, guild.id, SendMessages);
		say(same, guild.id, SendMessages);
		say(other, regular, Speak);
		await world.heard();
		return {
			world,
			from,
			same,
			other,
			more,
			say,
			regular,
			copy: (args: object = {}) =>
				world.call("copy_channel_permissions", {
					channel_id: from.id,
					target_channel_ids: [same.id, other.id, more.id],
					...args,
				}),
			[Symbol.asyncDispose]: world[Symbol.asyncDispose],
		};
	}

	const copierTest = testWith(copier);

	copierTest("locks all of its channels against other edits", async ({ world, from, more, regular, copy }) => {
		const patch = `PATCH /channels/${more.id}`;
		const fault = world.simulator.faults.stall(patch, { times: 1 });
		const copied = copy({ target_channel_ids: [more.id] });
		await until("the copy is on its way", () => fault.hits === 1);
		const set = world.call("set_channel_permissions", {
			channel_ids: [more.id],
			target_ids: [regular],
			deny: ["SPEAK"],
		});
		// What would not wait would be done by then.
		for (let calls = 0; calls < 5; calls++) await world.call("list_channel_permissions", { channel_ids: [from.id] });
		fault.release();
		expect((await copied).isError).toBe(false);
		expect((await set).text).toContain("SPEAK neutral → denied");
		expect(more.permission_overwrites).toHaveLength(2);
		expect(writes(world)).toEqual([patch, `PUT /channels/${more.id}/permissions/${regular}`]);
	});

	copierTest(
		"lists the changes in a dry run, and skips channels that already have them",
		async ({ world, from, same, other, more, copy }) => {
			const dry = await copy({ dry_run: true });
			expect(dry.text.split("\n")).toEqual([
				"Dry run: nothing was done.",
				`Would give 2 channel(s) the permissions of #from (ID: ${from.id}) (1 unchanged):`,
				`#other (ID: ${other.id}): @Regular: SPEAK denied → neutral | @everyone: SEND_MESSAGES neutral → denied`,
				`#more (ID: ${more.id}): @everyone: SEND_MESSAGES neutral → denied`,
			]);
			expect(writes(world)).toEqual([]);
			const done = await copy();
			expect(done.text).toStartWith(
				`Gave 2 channel(s) the permissions of #from (ID: ${from.id}) (1 unchanged):\n#other (ID: ${other.id}): @Regular: `,
			);
			for (const channel of [same, other, more])
				expect(channel.permission_overwrites).toEqual(from.permission_overwrites);
			expect(writes(world)).toEqual([`PATCH /channels/${other.id}`, `PATCH /channels/${more.id}`]);
			const again = await copy();
			expect(again.text).toContain("Nothing would change: all 3 target channel(s) already have");
		},
	);

	copierTest(
		"permissions that the bot lacks are refused before any write",
		async ({ world, other, say, regular, copy }) => {
			say(other, regular, PrioritySpeaker);
			const { text } = await copy();
			expect(text).toContain("lacks PRIORITY_SPEAKER");
			expect(writes(world)).toEqual([]);
		},
	);

	copierTest("reports which channels are done if Discord refuses one", async ({ world, other, more, copy }) => {
		world.simulator.faults.refuse(`PATCH /channels/${more.id}`, 50013);
		const { text } = await copy();
		expect(text).toStartWith("Gave 1 of 2 channel(s) the permissions");
		expect(text).toContain(`#other (ID: ${other.id}): @Regular: SPEAK`);
		expect(text).toContain(`1 refused by Discord:\n#more (ID: ${more.id})`);
	});

	copierTest("requires the permission in each target channel", async ({ world, other, copy }) => {
		await denyBot(world, other, ManageRoles);
		expect((await copy()).text).toContain(`lacks MANAGE_ROLES in #other (ID: ${other.id})`);
		expect(writes(world)).toEqual([]);
	});
});
