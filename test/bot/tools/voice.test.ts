// The voice tools.

import { describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../support/test-with.ts";
import {
	channelNamed,
	denyBot,
	makeCommunity,
	memberNamed,
	startWorld,
	worldTest,
	writes,
} from "../../support/world.ts";

const { Connect, DeafenMembers, MoveMembers, MuteMembers } = PermissionFlagsBits;

/** A world with zoe in the Lounge, and another voice channel. */
async function startVoice() {
	const world = await startWorld();
	const { simulator, guild } = world;
	const join = (username: string, channel: GuildChannel, given = {}) => {
		const member = memberNamed(world, username);
		simulator.world.voice.join(channel, member, given);
		return member;
	};
	const lounge = channelNamed(world, "Lounge");
	const bar = simulator.world.channels.add(guild, { name: "Bar", type: ChannelType.GuildVoice });
	const zoe = join("zoe", lounge);
	await world.heard();
	const user_id = zoe.user.id;
	return {
		...world,
		world,
		lounge,
		bar,
		zoe,
		join,
		who: `Zoë 🍞 (@zoe, ID: ${user_id})`,
		where: () => guild.voiceStates.get(user_id)?.channel_id,
		run: (tool: string, args = {}) => world.call(tool, { user_ids: [user_id], ...args }),
		deny: (channel: GuildChannel, bits: bigint) => denyBot(world, channel, bits),
		writes: () => writes(world),
		[Symbol.asyncDispose]: world[Symbol.asyncDispose],
	};
}

const voiceTest = testWith(startVoice);

worldTest("voice and stage channels are made with what is given, in their category", async (world) => {
	const talk = channelNamed(world, "Talk");
	const voice = await world.call("create_channel", {
		name: "Loud",
		category_id: talk.id,
		user_limit: 99,
		channel_type: "voice",
	});
	const loud = channelNamed(world, "Loud");
	expect(voice.text).toStartWith(
		`Created the voice channel #Loud (ID: ${loud.id}) in #Talk (ID: ${talk.id}), below #Lounge (ID: `,
	);
	expect(voice.text).toContain("\nuser limit: 99\n");
	expect(loud).toMatchObject({ type: ChannelType.GuildVoice, parent_id: talk.id, user_limit: 99 });
	await makeCommunity(world);
	const stage = await world.call("create_channel", { name: "Show", channel_type: "stage" });
	expect(stage.text).toStartWith("Created the stage channel #Show (ID: ");
	expect(channelNamed(world, "Show").type).toBe(ChannelType.GuildStageVoice);
	const crowded = await world.call("create_channel", { name: "Crowded", user_limit: 100, channel_type: "voice" });
	expect(crowded.text).toContain("user_limit[NUMBER_TYPE_MAX]");
});

worldTest("bitrates end at the limit of the guild's boost level, on stages at 64,000", async (world) => {
	const { channels, guilds } = world.simulator.world;
	const stage = channels.add(world.guild, { name: "Show", type: ChannelType.GuildStageVoice });
	const lounge = channelNamed(world, "Lounge");
	await world.heard();
	const edit = async ({ id }: { id: string }, bitrate: number) =>
		(await world.call("edit_channel", { channel_id: id, bitrate })).text;
	expect(await edit(lounge, 128_000)).toContain("less than or equal to 96000");
	expect(await edit(stage, 64_001)).toContain("less than or equal to 64000");
	guilds.edit(world.guild, { premium_tier: 1 });
	await world.heard();
	expect(await edit(lounge, 128_000)).toEndWith("bitrate: 64000 → 128000 bit/s");
});

describe("edit_channel with a voice channel", () => {
	test.each([
		["name", "Hall", { name: "Hall" }, "name: Lounge → Hall"],
		["bitrate", 8000, { bitrate: 8000 }, "bitrate: 64000 → 8000 bit/s"],
		["user_limit", 99, { user_limit: 99 }, "user limit: none → 99"],
		["category_id", "", { parent_id: null }, "category: #Talk → none"],
	])("changes %s to %j and nothing else", async (...row) => {
		const [field, value, expected, said] = row;
		await using world = await startWorld();
		const lounge = channelNamed(world, "Lounge");
		const before = structuredClone(lounge);
		const { text } = await world.call("edit_channel", { channel_id: lounge.id, [field]: value });
		expect(text.replace(/ \(ID: \d+\) →/, " →")).toBe(`Changed #${lounge.name} (ID: ${lounge.id}):\n${said}`);
		expect(lounge).toEqual({ ...before, ...expected });
	});

	worldTest("a stage has a higher user limit than a voice channel, and text channels are refused", async (world) => {
		const stage = world.simulator.world.channels.add(world.guild, { name: "Stage", type: ChannelType.GuildStageVoice });
		await world.heard();
		const limit = (channel: GuildChannel) => world.call("edit_channel", { channel_id: channel.id, user_limit: 100 });
		expect((await limit(stage)).isError).toBe(false);
		expect((await limit(channelNamed(world, "Lounge"))).text).toContain("less than or equal to 99");
		const general = channelNamed(world, "general");
		const { text } = await world.call("edit_channel", { channel_id: general.id, user_limit: 100 });
		expect(text).toContain("user_limit: text channels do not have this setting");
	});
});

voiceTest("list_voice_members lists members by channel, with their voice state", async (scene) => {
	const { simulator, guild, bar, lounge, join, zoe } = scene;
	simulator.world.members.edit(guild, zoe, { mute: true, deaf: true });
	join("mona_lisa", lounge, { self_mute: true, self_deaf: true });
	join("liwei", bar, { self_video: true });
	await scene.heard();
	const id = (username: string) => simulator.user(username).id;
	const list = async (args = {}) => (await scene.call("list_voice_members", args)).text.split("\n");
	const inLounge = [
		`MONA LISA (@mona_lisa) | ID: ${id("mona_lisa")} | in: #Lounge (ID: ${lounge.id}) | self-muted | self-deafened`,
		`Zoë 🍞 (@zoe) | ID: ${id("zoe")} | in: #Lounge (ID: ${lounge.id}) | muted | deafened`,
	];
	expect(await list()).toEqual([
		"3 member(s) in voice, by channel:",
		`李伟 (@liwei) | ID: ${id("liwei")} | in: #Bar (ID: ${bar.id}) | camera on`,
		...inLounge,
	]);
	expect(await list({ channel_ids: lounge.id })).toEqual(["2 member(s) in voice, by channel:", ...inLounge]);
	for (const member of guild.members.values()) simulator.world.voice.leave(guild, member);
	await scene.heard();
	expect(await list()).toEqual(["Nobody is in a voice channel."]);
	expect(await list({ channel_ids: [bar.id, lounge.id] })).toEqual([
		`Nobody is in #Bar (ID: ${bar.id}), #Lounge (ID: ${lounge.id}).`,
	]);
});

voiceTest("a bot that connects later knows who is in voice", async (scene) => {
	scene.simulator.sockets.disconnect({ resumable: false });
	await scene.heard();
	const { text } = await scene.call("list_voice_members");
	expect(text).toContain(`| in: #Lounge (ID: ${scene.lounge.id})`);
});

describe("moving a member in voice", () => {
	voiceTest("moves a member, names both channels, and refuses a move without a change", async (scene) => {
		const { bar, lounge, who, where, run } = scene;
		const move = () => run("edit_voice_members", { channel_id: bar.id });
		expect((await move()).text).toEndWith(`\n${who}: from #Lounge (ID: ${lounge.id}) to #Bar (ID: ${bar.id})`);
		expect(where()).toBe(bar.id);
		expect((await move()).text).toBe(`Nothing would change: ${who} is already so. Nothing was done.`);
		expect(scene.writes()).toHaveLength(1);
	});

	voiceTest(
		"builds on the current voice state, however late the events are",
		async ({ bar, lounge, where, run, simulator }) => {
			simulator.sockets.holdEvents(true);
			for (const { id } of [bar, lounge, bar])
				expect((await run("edit_voice_members", { channel_id: id })).isError).toBe(false);
			expect(where()).toBe(bar.id);
		},
	);

	voiceTest("requires MOVE_MEMBERS in both channels, and CONNECT in the target", async (scene) => {
		const { bar, lounge, run, deny } = scene;
		const move = async () => (await run("edit_voice_members", { channel_id: bar.id })).text;
		await deny(lounge, MoveMembers);
		expect(await move()).toStartWith("The bot lacks MOVE_MEMBERS in #Lounge");
		await deny(lounge, 0n);
		await deny(bar, Connect);
		expect(await move()).toContain("CONNECT in #Bar");
		expect(scene.writes()).toEqual([]);
	});

	voiceTest("accepts only voice channels as a target", async (scene) => {
		const { id } = channelNamed(scene.world, "general");
		const { text } = await scene.run("edit_voice_members", { channel_id: id });
		expect(text).toContain("is not a voice or stage channel");
		expect(scene.writes()).toEqual([]);
	});
});

voiceTest(
	"a member is disconnected from voice, and the dry run names the channel",
	async ({ who, lounge, where, run }) => {
		const dry = await run("edit_voice_members", { dry_run: true, channel_id: "" });
		expect(dry.text).toContain(`\n${who}: disconnected from #Lounge (ID: ${lounge.id})`);
		expect(where()).toBe(lounge.id);
		const { text } = await run("edit_voice_members", { channel_id: "" });
		expect(text).toBe(`Changed 1 of 1 member(s) in voice:\n${who}: disconnected from #Lounge (ID: ${lounge.id})`);
		expect(where()).toBeUndefined();
	},
);

describe("muting and deafening", () => {
	test.each([
		[{ mute: true }, "muted", { mute: true, deaf: false }],
		[{ deafen: true }, "deafened", { mute: false, deaf: true }],
		[{ mute: true, deafen: true }, "muted, deafened", { mute: true, deaf: true }],
	])("%j makes someone %s", async (args, said, expected) => {
		await using scene = await startVoice();
		const { text } = await scene.run("edit_voice_members", args);
		expect(text).toEndWith(`\n${scene.who}: ${said}`);
		expect(scene.zoe).toMatchObject(expected);
	});

	voiceTest("undoes it, and sends only changes", async (scene) => {
		const { guild, simulator, zoe, run } = scene;
		simulator.world.members.edit(guild, zoe, { mute: true });
		const { text } = await run("edit_voice_members", { mute: false, deafen: false });
		expect(text).toEndWith(`\n${scene.who}: no longer muted`);
		expect(simulator.journal.entries()).toMatchObject([{ body: { mute: false } }]);
		const same = await run("edit_voice_members", { mute: false });
		expect(same.text).toStartWith("Nothing would change: ");
	});

	voiceTest("requires only the permission for the given change", async ({ lounge, run, deny }) => {
		await deny(lounge, MuteMembers);
		expect((await run("edit_voice_members", { mute: true })).text).toStartWith("The bot lacks MUTE_MEMBERS in #Lounge");
		expect((await run("edit_voice_members", { deafen: true })).isError).toBe(false);
		await deny(lounge, DeafenMembers);
		expect((await run("edit_voice_members", { deafen: false })).text).toStartWith(
			"The bot lacks DEAFEN_MEMBERS in #Lounge",
		);
	});
});

test.each([[{ channel_id: "" }], [{ mute: true }]])("%j of a member who is not in voice is refused", async (args) => {
	await using scene = await startVoice();
	const { simulator, writes } = scene;
	const text = await scene.expectError("edit_voice_members", { user_ids: [simulator.user("liwei").id], ...args });
	expect(text).toEndWith("is not in a voice channel. Use list_voice_members to find members who are.");
	expect(writes()).toEqual([]);
});

voiceTest("edit_voice_members moves and mutes several members, after all checks", async (scene) => {
	const { bar, lounge, guild, who, zoe } = scene;
	const liwei = scene.join("liwei", bar).user.id;
	await scene.heard();
	const user_ids = [zoe.user.id, liwei];
	const edit = (args: Record<string, unknown>) => scene.call("edit_voice_members", { user_ids, ...args });
	await scene.deny(lounge, MuteMembers);
	expect((await edit({ mute: true })).text).toStartWith("The bot lacks MUTE_MEMBERS in #Lounge");
	expect(scene.writes()).toEqual([]);
	await scene.deny(lounge, 0n);
	const dry = await edit({ channel_id: bar.id, dry_run: true });
	expect(dry.text.split("\n").slice(1)).toEqual([
		"Would change 1 member(s) in voice:",
		`${who}: from #Lounge (ID: ${lounge.id}) to #Bar (ID: ${bar.id})`,
		"1 already so.",
	]);
	const both = await edit({ channel_id: bar.id, mute: true });
	expect(both.text.split("\n")).toEqual([
		"Changed 2 of 2 member(s) in voice:",
		`${who}: from #Lounge (ID: ${lounge.id}) to #Bar (ID: ${bar.id}), muted`,
		expect.stringMatching(/: muted$/),
	]);
	const gone = await edit({ channel_id: "" });
	expect(gone.text).toContain(`${who}: disconnected from #Bar`);
	expect(guild.voiceStates.size).toBe(0);
});

voiceTest("Discord's refusal for a member who just left voice is explained", async (scene) => {
	scene.simulator.faults.refuse("PATCH /guilds/*/members/*", 40032);
	const { text } = await scene.run("edit_voice_members", { channel_id: "" });
	expect(text).toContain("(code 40032). This person is in no voice channel");
});

voiceTest(
	"edit_voice_members names the members that it did not start with, since those disconnected are not in voice any more",
	async (it) => {
		const users = ["zoe", "ada", "liwei"].map((name) => it.join(name, it.lounge).user.id);
		await it.world.heard();
		it.simulator.faults.rateLimit(`PATCH /guilds/${it.guild.id}/members/${users[1]}`, {
			retryAfterMs: 60_000,
			times: 1,
		});
		const { text } = await it.world.call("edit_voice_members", { user_ids: users, channel_id: "" });
		expect(text).toStartWith("Changed 1 of 3 member(s) in voice:");
		expect(text).toEndWith(` To continue, call again with user_ids ${users[1]}, ${users[2]}.`);
	},
);
