// Live stages, and voice channel statuses.

import { expect } from "bun:test";
import { AuditLogEvent, ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../../src/simulator/world/state/entities.ts";
import { connect, testWith } from "../../support.ts";

const { ManageChannels, SetVoiceChannelStatus } = PermissionFlagsBits;

const { GuildStageVoice, GuildVoice } = ChannelType;

const test = testWith(({ world, guild }) => {
	const add = (name: string, type: GuildChannel["type"]) => world.channels.add(guild, { name, type });
	return { add, stage: add("Stage", GuildStageVoice) };
});

test("discord.js starts, edits and ends a stage, with events and audit log entries", async (given) => {
	const { guild, stage, world, simulator } = given;
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
	expect(await bot.event("STAGE_INSTANCE_UPDATE")).toMatchObject({ id: opened.id, topic: "Bread" });
	await stageInstances.delete(stage.id);
	expect(await bot.event("STAGE_INSTANCE_DELETE")).toMatchObject({ id: opened.id });
	expect(world.stages.of(stage)).toBeUndefined();
	const options = { channel_id: stage.id };
	expect(guild.auditLog.slice(-3)).toMatchObject([
		{ action_type: AuditLogEvent.StageInstanceCreate, target_id: opened.id, options },
		{
			action_type: AuditLogEvent.StageInstanceUpdate,
			changes: [{ key: "topic", old_value: "Soup", new_value: "Bread" }],
			options,
		},
		{ action_type: AuditLogEvent.StageInstanceDelete, options },
	]);
});

test("a stage can be started once, and does not exist after its end", async ({ alpha, stage }) => {
	const one = `/stage-instances/${stage.id}`;
	const body = { channel_id: stage.id, topic: "Soup" };
	for (const method of ["GET", "DELETE"]) expect(await alpha(method, one)).toMatchObject({ status: 404, code: 10067 });
	expect((await alpha("PATCH", one, { topic: "x" })).code).toBe(10067);
	expect((await alpha("POST", "/stage-instances", body)).status).toBe(200);
	expect(await alpha("POST", "/stage-instances", body)).toMatchObject({ status: 400, code: 150006 });
	expect((await alpha("GET", one)).json()).toMatchObject({ channel_id: stage.id, topic: "Soup", privacy_level: 2 });
	expect((await alpha("DELETE", one)).status).toBe(204);
	expect((await alpha("GET", one)).code).toBe(10067);
});

test("a stage needs a topic of 1 to 120 characters and a stage channel", async ({ alpha, add, stage }) => {
	const open = (body: object) => alpha("POST", "/stage-instances", { channel_id: stage.id, topic: "Soup", ...body });
	expect((await open({ topic: "" })).faults).toEqual({ topic: "BASE_TYPE_BAD_LENGTH" });
	expect((await open({ topic: "x".repeat(121) })).code).toBe(50035);
	expect((await open({ privacy_level: 1 })).faults).toEqual({ privacy_level: "BASE_TYPE_CHOICES" });
	const { id } = add("Bar", GuildVoice);
	expect((await open({ channel_id: id })).code).toBe(50024);
	expect((await open({ channel_id: "123456789012345678" })).code).toBe(10003);
	expect((await open({ topic: "x".repeat(120) })).status).toBe(200);
});

test("a bot receives the live stages when it starts; deleting its channel ends a stage", async (given) => {
	const { add, guild, stage, world, simulator } = given;
	const bar = add("Bar", GuildVoice);
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

test("a voice channel status is set and removed, with events and audit log entries", async (given) => {
	const { add, alpha, guild, world, simulator } = given;
	const bar = add("Bar", GuildVoice);
	await using bot = await connect(simulator);
	const put = (status: string | null) =>
		alpha("PUT", `/channels/${bar.id}/voice-status`, { status }, { "x-audit-log-reason": "dinner" });
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

test("a status needs its permission, outside the channel also MANAGE_CHANNELS; stages have none", async (given) => {
	const { add, alpha, deny, stage, world, member } = given;
	const bar = add("Bar", GuildVoice);
	const code = async ({ id }: typeof bar) => (await alpha("PUT", `/channels/${id}/voice-status`, { status: "x" })).code;
	expect(await code(stage)).toBe(50024);
	deny(bar, SetVoiceChannelStatus);
	expect(await code(bar)).toBe(50013);
	deny(bar, ManageChannels);
	expect(await code(bar)).toBe(50013);
	world.voice.join(bar, member("alpha"));
	expect(await code(bar)).toBeUndefined();
});
