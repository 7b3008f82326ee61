// Stages that are live, and what voice channels say under their name.

import { expect, test } from "bun:test";
import { AuditLogEvent, ChannelType, PermissionFlagsBits } from "discord.js";
import { as, connect, type Simulator, startSimulator } from "../../support.ts";

const { ManageChannels, MoveMembers, MuteMembers, SetVoiceChannelStatus } =
	PermissionFlagsBits;

function cooks(simulator: Simulator) {
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const add = (name: string, type: ChannelType) =>
		world.channels.add(guild, {
			name,
			type: type as ChannelType.GuildStageVoice,
		});
	const stage = add("Stage", ChannelType.GuildStageVoice);
	const bot = simulator.bot("alpha");
	return {
		world,
		guild,
		stage,
		add,
		alpha: as(simulator, bot),
		deny: (channel: typeof stage, bits: bigint) =>
			world.channels.setOverwrite(channel, {
				id: bot.id,
				type: 1,
				allow: "0",
				deny: String(bits),
			}),
	};
}

test("discord.js opens a stage, changes its topic and closes it, and all of it is told and logged", async () => {
	await using simulator = await startSimulator();
	const { guild, stage, world } = cooks(simulator);
	await using bot = await connect(simulator);
	const { stageInstances } = await bot.client.guilds.fetch(guild.id);
	const opened = await stageInstances.create(stage.id, { topic: "Soup" });
	expect(opened).toMatchObject({ topic: "Soup", privacyLevel: 2 });
	expect(await bot.event("STAGE_INSTANCE_CREATE")).toMatchObject({
		guild_id: guild.id,
		channel_id: stage.id,
		topic: "Soup",
	});
	await stageInstances.edit(stage.id, { topic: "Bread" });
	expect(world.stages.of(stage)?.topic).toBe("Bread");
	expect(await bot.event("STAGE_INSTANCE_UPDATE")).toMatchObject({
		id: opened.id,
		topic: "Bread",
	});
	await stageInstances.delete(stage.id);
	expect(await bot.event("STAGE_INSTANCE_DELETE")).toMatchObject({
		id: opened.id,
	});
	expect(world.stages.of(stage)).toBeUndefined();
	const options = { channel_id: stage.id };
	expect(guild.auditLog.slice(-3)).toMatchObject([
		{
			action_type: AuditLogEvent.StageInstanceCreate,
			target_id: opened.id,
			options,
		},
		{
			action_type: AuditLogEvent.StageInstanceUpdate,
			changes: [{ key: "topic", old_value: "Soup", new_value: "Bread" }],
			options,
		},
		{ action_type: AuditLogEvent.StageInstanceDelete, options },
	]);
});

test("a stage is open once, and what is closed is not there", async () => {
	await using simulator = await startSimulator();
	const { alpha, stage } = cooks(simulator);
	const one = `/stage-instances/${stage.id}`;
	const body = { channel_id: stage.id, topic: "Soup" };
	for (const method of ["GET", "DELETE"])
		expect(await alpha(method, one)).toMatchObject({
			status: 404,
			code: 10067,
		});
	expect((await alpha("PATCH", one, { topic: "x" })).code).toBe(10067);
	expect((await alpha("POST", "/stage-instances", body)).status).toBe(200);
	expect(await alpha("POST", "/stage-instances", body)).toMatchObject({
		status: 400,
		code: 150006,
	});
	expect((await alpha("GET", one)).json()).toMatchObject({
		channel_id: stage.id,
		topic: "Soup",
		privacy_level: 2,
	});
	expect((await alpha("DELETE", one)).status).toBe(204);
	expect((await alpha("GET", one)).code).toBe(10067);
});

test("a stage has a topic of 1 to 120 characters, and is in a stage channel", async () => {
	await using simulator = await startSimulator();
	const { alpha, add, stage } = cooks(simulator);
	const open = (body: object) =>
		alpha("POST", "/stage-instances", {
			channel_id: stage.id,
			topic: "Soup",
			...body,
		});
	expect((await open({ topic: "" })).faults).toEqual({
		topic: "BASE_TYPE_BAD_LENGTH",
	});
	expect((await open({ topic: "x".repeat(121) })).code).toBe(50035);
	expect((await open({ privacy_level: 1 })).faults).toEqual({
		privacy_level: "BASE_TYPE_CHOICES",
	});
	const { id } = add("Bar", ChannelType.GuildVoice);
	expect((await open({ channel_id: id })).code).toBe(50024);
	expect((await open({ channel_id: "123456789012345678" })).code).toBe(10003);
	expect((await open({ topic: "x".repeat(120) })).status).toBe(200);
});

test.each([
	["ManageChannels", ManageChannels],
	["MoveMembers", MoveMembers],
	["MuteMembers", MuteMembers],
])("without %s one does not moderate a stage", async (_, bit) => {
	await using simulator = await startSimulator();
	const { alpha, deny, stage, world } = cooks(simulator);
	deny(stage, bit);
	const body = { channel_id: stage.id, topic: "Soup" };
	expect((await alpha("POST", "/stage-instances", body)).code).toBe(50013);
	world.stages.start(stage, { topic: "Soup" });
	const one = `/stage-instances/${stage.id}`;
	expect((await alpha("PATCH", one, { topic: "x" })).code).toBe(50013);
	expect((await alpha("DELETE", one)).code).toBe(50013);
	expect((await alpha("GET", one)).status).toBe(200);
});

test("a bot finds the live stages of its guild at its start; a stage goes with its channel", async () => {
	await using simulator = await startSimulator();
	const { add, guild, stage, world } = cooks(simulator);
	const bar = add("Bar", ChannelType.GuildVoice);
	const { id } = world.stages.start(stage, { topic: "Soup" });
	await using bot = await connect(simulator);
	const known = bot.client.guilds.cache.get(guild.id)?.stageInstances.cache;
	expect(known?.get(id)?.topic).toBe("Soup");
	world.channels.remove(bar);
	expect(world.stages.in(guild)).toHaveLength(1);
	world.channels.remove(stage);
	expect(await bot.event("STAGE_INSTANCE_DELETE")).toMatchObject({ id });
	expect(world.stages.in(guild)).toEqual([]);
	expect(world.stages.in(simulator.guild("The Bakers"))).toEqual([]);
});

test("a voice channel gets a status and loses it, which is told and logged", async () => {
	await using simulator = await startSimulator();
	const { add, alpha, guild, world } = cooks(simulator);
	const bar = add("Bar", ChannelType.GuildVoice);
	await using bot = await connect(simulator);
	const put = (status: string | null) =>
		alpha(
			"PUT",
			`/channels/${bar.id}/voice-status`,
			{ status },
			{ "x-audit-log-reason": "dinner" },
		);
	expect((await put("x".repeat(501))).code).toBe(50035);
	expect((await put("Soup at 8")).status).toBe(204);
	expect(world.voiceStatuses.of(bar)).toBe("Soup at 8");
	expect(await bot.event("VOICE_CHANNEL_STATUS_UPDATE")).toEqual({
		id: bar.id,
		guild_id: guild.id,
		status: "Soup at 8",
	});
	for (const empty of ["", null]) {
		world.voiceStatuses.set(bar, "Soup");
		expect((await put(empty)).status).toBe(204);
		expect(world.voiceStatuses.of(bar)).toBeNull();
	}
	const { VoiceChannelStatusCreate, VoiceChannelStatusDelete } = AuditLogEvent;
	expect(guild.auditLog.slice(-3)).toMatchObject([
		{
			action_type: VoiceChannelStatusCreate,
			target_id: bar.id,
			options: { channel_id: bar.id, status: "Soup at 8" },
			reason: "dinner",
		},
		{ action_type: VoiceChannelStatusDelete, target_id: bar.id },
		{ action_type: VoiceChannelStatusDelete, options: { channel_id: bar.id } },
	]);
});

test("a status takes its permission, and to manage the channel unless one is in it; stages have none", async () => {
	await using simulator = await startSimulator();
	const { add, alpha, deny, guild, stage, world } = cooks(simulator);
	const bar = add("Bar", ChannelType.GuildVoice);
	const code = async ({ id }: typeof bar) =>
		(await alpha("PUT", `/channels/${id}/voice-status`, { status: "x" })).code;
	expect(await code(stage)).toBe(50024);
	deny(bar, SetVoiceChannelStatus);
	expect(await code(bar)).toBe(50013);
	deny(bar, ManageChannels);
	expect(await code(bar)).toBe(50013);
	const me = guild.members.get(simulator.bot("alpha").id);
	if (!me) throw new Error("alpha is a member");
	world.voice.join(bar, me);
	expect(await code(bar)).toBeUndefined();
});
