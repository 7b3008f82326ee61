// Who is in which voice channel: what bots are told of it, and what those who moderate may do.

import { expect, test } from "bun:test";
import {
	ChannelType,
	GatewayIntentBits as Intent,
	PermissionFlagsBits,
} from "discord.js";
import { until } from "../../../support/until.ts";
import {
	as,
	connect,
	type Simulator,
	startSimulator,
	usualIntents,
} from "../../support.ts";

const { Connect, MoveMembers, MuteMembers } = PermissionFlagsBits;
const voiceIntents = [...usualIntents, Intent.GuildVoiceStates];

/** The Cooks, with mona in the Lounge, and a second voice channel. */
function lounge(simulator: Simulator) {
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const { channel } = simulator.channel("The Cooks/Lounge");
	if (!("position" in channel)) throw new Error("it is in a guild");
	const bar = world.channels.add(guild, {
		name: "Bar",
		type: ChannelType.GuildVoice,
	});
	const mona = guild.members.get(simulator.user("mona_lisa").id);
	if (!mona) throw new Error("mona is a member");
	const alpha = as(simulator, simulator.bot("alpha"));
	const member = `/guilds/${guild.id}/members/${mona.user.id}`;
	world.voice.join(channel, mona, { self_mute: true });
	return {
		world,
		guild,
		lounge: channel,
		bar,
		mona,
		member,
		alpha,
		state: () => guild.voiceStates.get(mona.user.id),
		patch: (body: object, headers?: Record<string, string>) =>
			alpha("PATCH", member, body, headers),
		deny: (where: typeof bar, bits: bigint) =>
			world.channels.setOverwrite(where, {
				id: simulator.bot("alpha").id,
				type: 1,
				allow: "0",
				deny: String(bits),
			}),
	};
}

test("who joins, is moved, muted, leaves or is kicked is told, and in GUILD_CREATE who is there", async () => {
	await using simulator = await startSimulator();
	const { world, guild, lounge: first, bar, mona } = lounge(simulator);
	await using bot = await connect(simulator, "alpha", voiceIntents);
	const { id } = mona.user;
	const known = () => bot.client.guilds.cache.get(guild.id)?.voiceStates.cache;
	expect(known()?.get(id)).toMatchObject({
		channelId: first.id,
		selfMute: true,
		serverMute: false,
	});
	world.voice.join(bar, mona);
	world.members.edit(guild, mona, { deaf: true });
	world.members.remove(guild, mona);
	const told = () =>
		bot.events
			.filter(({ t }) => t === "VOICE_STATE_UPDATE")
			.map(({ d }) => [d.channel_id, d.self_mute, d.deaf]);
	await until("all is told", () => told().length === 3);
	expect(told()).toEqual([
		[bar.id, true, false],
		[bar.id, true, true],
		[null, false, true],
	]);
	expect(known()?.get(id)?.channelId ?? null).toBeNull();
});

test("without the intent a bot is told of nobody in voice", async () => {
	await using simulator = await startSimulator();
	const { world, guild, bar, mona } = lounge(simulator);
	await using bot = await connect(simulator);
	world.voice.join(bar, mona);
	world.guilds.edit(guild, { name: "The Chefs" });
	await bot.event("GUILD_UPDATE");
	expect(await bot.event("GUILD_CREATE")).toMatchObject({ voice_states: [] });
	expect(bot.events.some(({ t }) => t === "VOICE_STATE_UPDATE")).toBe(false);
});

test("a member in voice is moved, muted, deafened and disconnected, with a reason", async () => {
	await using simulator = await startSimulator();
	const { guild, bar, mona, state, patch } = lounge(simulator);
	const reason = { "x-audit-log-reason": "noise" };
	expect((await patch({ channel_id: bar.id }, reason)).status).toBe(200);
	expect(state()?.channel_id).toBe(bar.id);
	expect(guild.auditLog.at(-1)).toMatchObject({
		action_type: 26,
		target_id: null,
		options: { channel_id: bar.id, count: "1" },
		reason: "noise",
	});
	const muted = await patch({ mute: true, deaf: true }, reason);
	expect(muted.json()).toMatchObject({ mute: true, deaf: true });
	expect(guild.auditLog.at(-1)).toMatchObject({
		action_type: 24,
		target_id: mona.user.id,
		changes: [
			{ key: "mute", old_value: false, new_value: true },
			{ key: "deaf", old_value: false, new_value: true },
		],
	});
	await patch({ channel_id: null }, reason);
	expect(state()).toBeUndefined();
	expect(guild.auditLog.at(-1)).toMatchObject({
		action_type: 27,
		options: { count: "1" },
	});
});

test("where a member is can be asked for; who is nowhere has no voice state", async () => {
	await using simulator = await startSimulator();
	const { alpha, guild, lounge: first, mona } = lounge(simulator);
	const path = (id: string) => `/guilds/${guild.id}/voice-states/${id}`;
	expect((await alpha("GET", path(mona.user.id))).json()).toMatchObject({
		channel_id: first.id,
		user_id: mona.user.id,
		self_mute: true,
		member: { user: { username: "mona_lisa" } },
	});
	const zoe = simulator.user("zoe").id;
	expect((await alpha("GET", path(zoe))).code).toBe(10065);
	const stranger = simulator.user("bob_the_baker").id;
	expect((await alpha("GET", path(stranger))).code).toBe(10007);
});

test("who is in no voice channel cannot be moved, muted or disconnected", async () => {
	await using simulator = await startSimulator();
	const { world, guild, bar, mona, patch } = lounge(simulator);
	world.voice.leave(guild, mona);
	for (const body of [
		{ channel_id: bar.id },
		{ channel_id: null },
		{ mute: true },
		{ deaf: false },
	])
		expect(await patch(body)).toMatchObject({ status: 400, code: 40032 });
});

test("it takes the permission in the channel they are in, and to connect to the one they go to", async () => {
	await using simulator = await startSimulator();
	const { world, lounge: first, bar, state, patch, deny } = lounge(simulator);
	const codes = async () => [
		(await patch({ channel_id: bar.id })).code,
		(await patch({ mute: true })).code,
		(await patch({ channel_id: null })).code,
	];
	deny(first, MoveMembers | MuteMembers);
	expect(await codes()).toEqual([50013, 50013, 50013]);
	world.channels.edit(first, { permission_overwrites: [] });
	deny(bar, Connect);
	expect((await patch({ channel_id: bar.id })).code).toBe(50013);
	expect(state()?.channel_id).toBe(first.id);
});

test("nobody is moved to what is no voice channel, or in another guild", async () => {
	await using simulator = await startSimulator();
	const { guild, patch } = lounge(simulator);
	const text = simulator.channel("The Cooks/general").id;
	expect((await patch({ channel_id: text })).code).toBe(50024);
	const elsewhere = simulator.channel("The Bakers/Lounge").id;
	expect((await patch({ channel_id: elsewhere })).code).toBe(10003);
	expect(guild.voiceStates.size).toBe(1);
});

test("a user is in one voice channel of all guilds, and in none once it is deleted", async () => {
	await using simulator = await startSimulator();
	const { world, guild } = lounge(simulator);
	const bakers = simulator.guild("The Bakers");
	const { id } = simulator.user("zoe");
	const join = (name: "The Cooks" | "The Bakers") => {
		const { channel } = simulator.channel(`${name}/Lounge`);
		const member = simulator.guild(name).members.get(id);
		if (!member || !("position" in channel)) throw new Error("both are there");
		world.voice.join(channel, member);
		return channel;
	};
	join("The Cooks");
	const there = join("The Bakers");
	expect(guild.voiceStates.has(id)).toBe(false);
	expect(bakers.voiceStates.get(id)?.channel_id).toBe(there.id);
	world.channels.remove(there);
	expect(bakers.voiceStates.size).toBe(0);
});

test("who comes to a stage listens at first", async () => {
	await using simulator = await startSimulator();
	const { world, guild, mona, state } = lounge(simulator);
	const type = ChannelType.GuildStageVoice;
	const stage = world.channels.add(guild, { name: "Stage", type });
	world.voice.join(stage, mona);
	expect(state()).toMatchObject({ channel_id: stage.id, suppress: true });
});

test("another program has someone join and leave", async () => {
	await using simulator = await startSimulator();
	const { bar, mona, state } = lounge(simulator);
	const post = async (body: object) => {
		const answer = await fetch(`${simulator.url}/simulator/voice`, {
			method: "POST",
			body: JSON.stringify(body),
		});
		return answer.status;
	};
	const user_id = mona.user.id;
	expect(await post({ user_id, channel_id: bar.id })).toBe(200);
	expect(state()?.channel_id).toBe(bar.id);
	expect(await post({ user_id, channel_id: null })).toBe(200);
	expect(state()).toBeUndefined();
	const text = simulator.channel("The Cooks/general").id;
	expect(await post({ user_id, channel_id: text })).toBe(400);
	expect(await post({ user_id: "1", channel_id: bar.id })).toBe(400);
	expect(await post({ user_id })).toBe(400);
});
