// Voice states: their events, and what moderators can change.

import { expect } from "bun:test";
import { ChannelType, GatewayIntentBits as Intent, PermissionFlagsBits } from "discord.js";
import { until } from "../../../support/until.ts";
import { connect, testWith, usualIntents } from "../../support.ts";

const { Connect, MoveMembers, MuteMembers } = PermissionFlagsBits;
const voiceIntents = [...usualIntents, Intent.GuildVoiceStates];

/** The Cooks, with mona in the Lounge, and a second voice channel. */
/** The Cooks, with mona in the Lounge, and a second voice channel. */
const test = testWith(({ world, guild, channelNamed, member: find, alpha }) => {
	const lounge = channelNamed("Lounge");
	const mona = find("mona_lisa");
	const member = `/guilds/${guild.id}/members/${mona.user.id}`;
	world.voice.join(lounge, mona, { self_mute: true });
	return {
		lounge,
		bar: world.channels.add(guild, { name: "Bar", type: ChannelType.GuildVoice }),
		mona,
		state: () => guild.voiceStates.get(mona.user.id),
		patch: (body: object, headers?: Record<string, string>) => alpha("PATCH", member, body, headers),
	};
});

test("voice states are in GUILD_CREATE, and their changes are events", async (given) => {
	const { world, guild, lounge: first, bar, mona, simulator } = given;
	await using bot = await connect(simulator, "alpha", voiceIntents);
	const { id } = mona.user;
	const known = () => bot.client.guilds.cache.get(guild.id)?.voiceStates.cache;
	expect(known()?.get(id)).toMatchObject({ channelId: first.id, selfMute: true, serverMute: false, streaming: false });
	world.voice.join(bar, mona);
	world.members.edit(guild, mona, { deaf: true });
	world.members.remove(guild, mona);
	const updates = () =>
		bot.events.filter(({ t }) => t === "VOICE_STATE_UPDATE").map(({ d }) => [d.channel_id, d.self_mute, d.deaf]);
	await until("three updates", () => updates().length === 3);
	expect(updates()).toEqual([
		[bar.id, true, false],
		[bar.id, true, true],
		[null, false, true],
	]);
	expect(known()?.get(id)?.channelId ?? null).toBeNull();
});

test("without the intent a bot receives no voice states", async ({ world, guild, bar, mona, simulator }) => {
	await using bot = await connect(simulator);
	world.voice.join(bar, mona);
	world.guilds.edit(guild, { name: "The Chefs" });
	await bot.event("GUILD_UPDATE");
	expect(await bot.event("GUILD_CREATE")).toMatchObject({ voice_states: [] });
	expect(bot.events.some(({ t }) => t === "VOICE_STATE_UPDATE")).toBe(false);
});

test("a member in voice is moved, muted, deafened and disconnected, with a reason", async (given) => {
	const { guild, bar, mona, state, patch } = given;
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
	expect(guild.auditLog.at(-1)).toMatchObject({ action_type: 27, options: { count: "1" } });
});

test("a voice state can be fetched, and gets 10065 if the member is not connected", async (given) => {
	const { alpha, guild, lounge: first, mona, simulator } = given;
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

test("a member who is not connected cannot be moved, muted or disconnected", async (given) => {
	const { world, guild, bar, mona, patch } = given;
	world.voice.leave(guild, mona);
	for (const body of [{ channel_id: bar.id }, { channel_id: null }, { mute: true }, { deaf: false }])
		expect(await patch(body)).toMatchObject({ status: 400, code: 40032 });
});

test("moving needs MOVE_MEMBERS in the present channel and CONNECT in the target", async (given) => {
	const { world, lounge: first, bar, state, patch, deny } = given;
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

test("the target of a move must be a voice channel of the guild", async ({ guild, patch, simulator }) => {
	const text = simulator.channel("The Cooks/general").id;
	expect((await patch({ channel_id: text })).code).toBe(50024);
	const elsewhere = simulator.channel("The Bakers/Lounge").id;
	expect((await patch({ channel_id: elsewhere })).code).toBe(10003);
	expect(guild.voiceStates.size).toBe(1);
});

test("a user is in one voice channel at a time, and leaves it when it is deleted", async (given) => {
	const { world, guild, simulator } = given;
	const bakers = simulator.guild("The Bakers");
	const { id } = simulator.user("zoe");
	const join = (name: "The Cooks" | "The Bakers") => {
		const { channel } = simulator.channel(`${name}/Lounge`);
		const member = simulator.guild(name).members.get(id);
		if (!member || !("position" in channel)) throw new Error("expected a member and a guild channel");
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

test("members who join a stage are suppressed", async ({ world, guild, mona, state }) => {
	const type = ChannelType.GuildStageVoice;
	const stage = world.channels.add(guild, { name: "Stage", type });
	world.voice.join(stage, mona);
	expect(state()).toMatchObject({ channel_id: stage.id, suppress: true });
});

test("the control API makes a person join and leave", async ({ bar, mona, state, simulator }) => {
	const post = async (body: object) => {
		const answer = await fetch(`${simulator.url}/simulator/voice`, { method: "POST", body: JSON.stringify(body) });
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
