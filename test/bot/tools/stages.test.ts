// Live stages, and the status of voice channels.

import { expect } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { testWith } from "../../support/test-with.ts";
import { denyBot, memberNamed, startWorld, writes } from "../../support/world.ts";

async function stage() {
	const world = await startWorld();
	const { simulator, guild } = world;
	const [channel, bar] = ([ChannelType.GuildStageVoice, ChannelType.GuildVoice] as const).map((type, index) =>
		simulator.world.channels.add(guild, { name: `c${index}`, type }),
	);
	if (!channel || !bar) throw new Error("both were made");
	await world.heard();
	const platform = simulator.world;
	return {
		world,
		channel,
		bar,
		platform,
		live: () => platform.stages.of(channel)?.topic,
		call: (tool: string, args: object = {}) => world.call(tool, { channel_id: channel.id, ...args }),
		[Symbol.asyncDispose]: world[Symbol.asyncDispose],
	};
}

const stageTest = testWith(stage);

stageTest("a stage is started, gets another topic, and ends", async ({ call, live, channel, world, platform }) => {
	const name = `#c0 (ID: ${channel.id})`;
	const started = await call("set_stage", { topic: "Soup\nand bread" });
	expect(started.text).toBe(`${name} is live: Soup\\nand bread`);
	expect(live()).toBe("Soup\nand bread");
	const same = await call("set_stage", { topic: "Soup\nand bread" });
	expect(same.text).toContain("Nothing would change");
	const edited = await call("set_stage", { topic: "Bread" });
	expect(edited.text).toBe(`Changed the topic of ${name}.\nBefore: Soup\\nand bread\nNow: Bread`);
	const mona = memberNamed(world, "mona_lisa");
	platform.voice.join(channel, mona);
	await world.heard();
	const ended = await call("set_stage", { end: true });
	expect(ended.text).toBe(`Ended the stage in ${name}, with 1 member(s) in it.\nTopic: Bread`);
	expect(live()).toBeUndefined();
	expect(world.guild.voiceStates.size).toBe(1);
	expect((await call("set_stage", { end: true })).text).toContain(
		"(code 10067). This stage channel is not live; set_stage with a topic starts it.",
	);
});

stageTest("@everyone is notified only on request and if allowed", async ({ call, channel, world }) => {
	const bodies = () =>
		world.simulator.journal
			.entries("POST /stage-instances")
			.map(({ body }) => (body as Record<string, unknown>).send_start_notification);
	await call("set_stage", { topic: "Soup" });
	await call("set_stage", { end: true });
	await call("set_stage", { topic: "Soup", send_start_notification: true });
	await call("set_stage", { end: true });
	expect(bodies()).toEqual([false, true]);
	await denyBot(world, channel, PermissionFlagsBits.MentionEveryone);
	const { text } = await call("set_stage", { topic: "Soup", send_start_notification: true });
	expect(text).toContain("lacks MENTION_EVERYONE");
	expect((await call("set_stage", { topic: "Soup" })).isError).toBe(false);
});

stageTest("set_stage starts a stage, changes its topic and ends it", async ({ call, live, channel, world }) => {
	const name = `#c0 (ID: ${channel.id})`;
	const set = async (args: object) => (await call("set_stage", args)).text;
	const dry = { dry_run: true };
	expect(await set({ topic: "Soup", ...dry })).toEndWith(`Would start the stage in ${name}: Soup`);
	expect(writes(world)).toEqual([]);
	expect(await set({ topic: "Soup" })).toBe(`${name} is live: Soup`);
	expect(await set({ topic: "Bread", ...dry })).toContain(`Would change the topic of ${name}.\nBefore: Soup`);
	expect(await set({ topic: "Bread", send_start_notification: true })).toContain(
		"is already live, so nobody can be notified of its start",
	);
	expect(live()).toBe("Soup");
	expect(await set({ topic: "Bread" })).toStartWith("Changed the topic of");
	expect(await set({ topic: "Bread" })).toContain("Nothing would change");
	for (const args of [{}, { topic: "x", end: true }])
		expect(await set(args)).toContain("topic, end: expected exactly one of the two");
	expect(await set({ end: true })).toStartWith(`Ended the stage in ${name}`);
	expect(await set({ end: true })).toContain("(code 10067)");
	expect(live()).toBeUndefined();
});

stageTest.each(["before", "after"] as const)(
	"whether a stage was started is unknown if the connection drops %s it",
	async ({ call, live, world }, when) => {
		const { faults } = world.simulator;
		faults.drop("POST /stage-instances", { when, times: 1 });
		const { text, isError } = await call("set_stage", { topic: "Soup" });
		expect(isError).toBe(true);
		expect(text).toContain("whether it took effect is unknown");
		expect(live()).toBe(when === "after" ? "Soup" : undefined);
		expect(writes(world)).toHaveLength(1);
	},
);

stageTest("stage tools refuse voice channels, and the status tool refuses stages", async ({ call, bar, world }) => {
	const started = await call("set_stage", { channel_id: bar.id, topic: "x" });
	expect(started.text).toContain("is not a stage channel");
	const status = await call("edit_channel", { status: "x" });
	expect(status.text).toContain("status: only voice channels have a status; a stage channel has a topic");
	expect(writes(world)).toEqual([]);
});

stageTest("a status is shown, and cleared", async ({ call, bar, platform }) => {
	const set = (status: string) => call("edit_channel", { channel_id: bar.id, status });
	expect((await set("Soup\n@everyone")).text).toBe(`Changed #c1 (ID: ${bar.id}):\nstatus: Soup\\n@everyone`);
	expect(platform.voiceStatuses.of(bar)).toBe("Soup\n@everyone");
	expect((await set("x".repeat(501))).text).toContain("0 to 500 characters");
	expect((await set("")).text).toEndWith("status: none");
	expect(platform.voiceStatuses.of(bar)).toBeNull();
});

stageTest("a request to speak is listed", async ({ channel, platform, world }) => {
	const mona = memberNamed(world, "mona_lisa");
	platform.voice.join(channel, mona);
	const state = world.guild.voiceStates.get(mona.user.id);
	if (!state) throw new Error("she is in it");
	state.request_to_speak_timestamp = new Date().toISOString();
	platform.members.edit(world.guild, mona, { deaf: true });
	await world.heard();
	expect((await world.call("list_voice_members")).text).toContain("| deafened | audience | requests to speak");
});
