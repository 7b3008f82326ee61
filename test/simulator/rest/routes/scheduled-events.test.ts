// Scheduled events: permissions, invalid values and events.

import { expect } from "bun:test";
import {
	AuditLogEvent,
	ChannelType,
	GuildScheduledEventEntityType,
	GuildScheduledEventPrivacyLevel,
	GuildScheduledEventStatus,
	GatewayIntentBits as Intent,
	PermissionFlagsBits,
} from "discord.js";
import type { GuildChannel } from "../../../../src/simulator/world/state/entities.ts";
import { connect, testWith } from "../../support.ts";

const hourMs = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();

const test = testWith(({ world, guild, user, role, deny }) => {
	const channel = (name: string, type: GuildChannel["type"]) => world.channels.add(guild, { name, type });
	return {
		path: `/guilds/${guild.id}/scheduled-events`,
		voice: channel("Kitchen", ChannelType.GuildVoice),
		stage: channel("Show", ChannelType.GuildStageVoice),
		bot: user("alpha").id,
		event: () =>
			world.scheduledEvents.add(guild, guild.owner_id, {
				name: "Soup day",
				entity_type: GuildScheduledEventEntityType.External,
				entity_metadata: { location: "Outside" },
				scheduled_start_time: inHours(1),
				scheduled_end_time: inHours(2),
			}),
		/** Takes a permission from the bot, in a channel or everywhere. */
		forbid: (bits: bigint, where?: GuildChannel) => {
			if (where) return deny(where, bits);
			const own = role("alpha");
			const permissions = String(BigInt(own.permissions) & ~bits);
			world.roles.edit(guild, own, { permissions });
		},
	};
});

const external = (more: object = {}) => ({
	name: "Soup day",
	privacy_level: 2,
	entity_type: 3,
	entity_metadata: { location: "Outside" },
	scheduled_start_time: inHours(1),
	scheduled_end_time: inHours(2),
	...more,
});

test("discord.js creates, edits and deletes a scheduled event, with events and audit log entries", async (given) => {
	const { guild, voice, bot: me, simulator } = given;
	await using bot = await connect(simulator, "alpha", [...[Intent.Guilds, Intent.GuildScheduledEvents]]);
	const { scheduledEvents } = await bot.client.guilds.fetch(guild.id);
	const made = await scheduledEvents.create({
		name: "Tasting",
		privacyLevel: GuildScheduledEventPrivacyLevel.GuildOnly,
		entityType: GuildScheduledEventEntityType.Voice,
		channel: voice.id,
		scheduledStartTime: inHours(1),
		reason: "hungry",
	});
	expect(made).toMatchObject({ name: "Tasting", creatorId: me });
	await bot.event("GUILD_SCHEDULED_EVENT_CREATE", ({ id }) => id === made.id);
	const edited = await scheduledEvents.edit(made, { status: GuildScheduledEventStatus.Active });
	expect(edited.isActive()).toBe(true);
	await bot.event("GUILD_SCHEDULED_EVENT_UPDATE", ({ status }) => status === 2);
	expect((await scheduledEvents.fetch({ cache: false })).size).toBe(1);
	await scheduledEvents.delete(made);
	await bot.event("GUILD_SCHEDULED_EVENT_DELETE", ({ id }) => id === made.id);
	const gone = scheduledEvents.fetch({ guildScheduledEvent: made.id, force: true });
	await expect(gone).rejects.toMatchObject({ code: 10070 });
	expect(guild.auditLog.slice(-3)).toMatchObject([
		{ action_type: AuditLogEvent.GuildScheduledEventCreate, target_id: made.id, reason: "hungry" },
		{ action_type: AuditLogEvent.GuildScheduledEventUpdate, changes: [{ key: "status", old_value: 1, new_value: 2 }] },
		{ action_type: AuditLogEvent.GuildScheduledEventDelete },
	]);
});

test("interested users are counted and listed in pages, ordered by id, with events", async (given) => {
	const { world, guild, alpha, path, event, simulator } = given;
	await using bot = await connect(simulator, "alpha", [...[Intent.Guilds, Intent.GuildScheduledEvents]]);
	const found = event();
	const { id } = found;
	const people = [...guild.members.values()].slice(0, 3);
	for (const member of people.toReversed()) world.scheduledEvents.subscribe(guild, found, member);
	const [one = "", two = "", three = ""] = people.map(({ user }) => user.id).sort();
	await bot.event("GUILD_SCHEDULED_EVENT_USER_ADD", ({ user_id }) => user_id === one);
	const users = async (query: string) =>
		(await alpha("GET", `${path}/${id}/users?${query}`))
			.json<{ user: { id: string }; member?: object }[]>()
			.map(({ user, member }) => [user.id, member !== undefined]);
	expect(await users("")).toEqual([one, two, three].map((id) => [id, false]));
	expect(await users("with_member=true&limit=1")).toEqual([[one, true]]);
	expect(await users(`limit=1&after=${one}`)).toEqual([[two, false]]);
	expect(await users(`limit=1&before=${three}`)).toEqual([[two, false]]);
	expect((await alpha("GET", `${path}/${id}/users?limit=101`)).status).toBe(400);
	const [first] = people;
	if (first) world.scheduledEvents.unsubscribe(guild, found, first);
	await bot.event("GUILD_SCHEDULED_EVENT_USER_REMOVE");
	const counted = await alpha("GET", `${path}/${id}?with_user_count=true`);
	expect(counted.json()).toMatchObject({ user_count: 2 });
	expect((await alpha("GET", path)).json<object[]>()[0]).not.toHaveProperty("user_count");
});

test("a bot receives the scheduled events when it starts", async ({ event, simulator }) => {
	const { id } = event();
	await using bot = await connect(simulator);
	const { guild_scheduled_events } = await bot.event("GUILD_CREATE");
	expect(guild_scheduled_events).toMatchObject([{ id, name: "Soup day" }]);
});

test("a scheduled event needs a place of its type, and an external one an end", async (given) => {
	const { alpha, path, voice, stage } = given;
	const faults = async (more: object) => (await alpha("POST", path, external(more))).faults;
	expect(await faults({ entity_metadata: undefined })).toHaveProperty("entity_metadata");
	expect(await faults({ scheduled_end_time: null })).toHaveProperty("scheduled_end_time");
	expect(await faults({ channel_id: voice.id })).toHaveProperty("channel_id");
	expect(await faults({ entity_type: 2 })).toHaveProperty("channel_id");
	expect(await faults({ name: "" })).toHaveProperty("name");
	expect(await faults({ privacy_level: 1 })).toHaveProperty("privacy_level");
	const wrong = external({ entity_type: 1, channel_id: voice.id });
	expect((await alpha("POST", path, wrong)).code).toBe(50024);
	const right = external({ entity_type: 1, channel_id: stage.id, entity_metadata: {} });
	expect((await alpha("POST", path, right)).json()).toMatchObject({
		channel_id: stage.id,
		entity_metadata: null,
		status: 1,
	});
	const recurring = external({ recurrence_rule: { frequency: 1 } });
	expect((await alpha("POST", path, recurring)).status).toBe(501);
});

test("a scheduled event in the past or with its end before its start is refused", async ({ alpha, path }) => {
	const post = (more: object) => alpha("POST", path, external(more));
	const past = await post({ scheduled_start_time: inHours(-1) });
	expect(past.faults).toEqual({ scheduled_start_time: "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST" });
	const backwards = await post({ scheduled_start_time: inHours(3) });
	expect(backwards.faults).toHaveProperty("scheduled_end_time");
	const invalid = await post({ scheduled_start_time: "tomorrow" });
	expect(invalid.faults).toHaveProperty("scheduled_start_time");
});

test("a scheduled event is completed or canceled, and then cannot be edited", async ({ alpha, path, event }) => {
	const set = async (id: string, status: number) => {
		const { faults, code } = await alpha("PATCH", `${path}/${id}`, { status });
		return code === 50035 ? Object.keys(faults) : (code ?? "done");
	};
	const held = event().id;
	expect(await set(held, 3)).toEqual(["status"]);
	expect(await set(held, 2)).toBe("done");
	expect(await set(held, 4)).toEqual(["status"]);
	expect(await set(held, 3)).toBe("done");
	expect(await set(held, 2)).toBe(180000);
	const dropped = event().id;
	expect(await set(dropped, 4)).toBe("done");
	expect((await alpha("PATCH", `${path}/${dropped}`, { name: "x" })).code).toBe(180000);
});

test("own events need CREATE_EVENTS, others' MANAGE_EVENTS, and each type its own permissions", async (given) => {
	const { CreateEvents, ManageEvents, MoveMembers, Connect } = PermissionFlagsBits;
	const { alpha, path, stage, voice, event, forbid } = given;
	const post = (more: object) => alpha("POST", path, external(more));
	const own = (await post({})).json<{ id: string }>().id;
	const others = event().id;
	const entity_metadata = null;
	const onStage = { entity_type: 1, channel_id: stage.id, entity_metadata };
	const inVoice = { entity_type: 2, channel_id: voice.id, entity_metadata };
	const spoken = (await post(inVoice)).json<{ id: string }>().id;
	forbid(MoveMembers, stage);
	expect((await post(onStage)).code).toBe(50013);
	forbid(Connect, voice);
	expect((await post(inVoice)).code).toBe(50013);
	forbid(PermissionFlagsBits.ViewChannel, voice);
	expect((await alpha("GET", `${path}/${spoken}`)).code).toBe(50001);
	expect((await alpha("GET", path)).json<object[]>()).toHaveLength(2);
	forbid(ManageEvents);
	const rename = (id: string) => alpha("PATCH", `${path}/${id}`, { name: "x" });
	expect((await rename(own)).status).toBe(200);
	expect((await rename(others)).code).toBe(50013);
	expect((await alpha("DELETE", `${path}/${others}`)).code).toBe(50013);
	forbid(CreateEvents);
	expect((await post({})).code).toBe(50013);
	expect((await rename(own)).code).toBe(50013);
});

test("an event of another guild gets 10070", async ({ alpha, path, world, simulator }) => {
	const { id } = world.scheduledEvents.add(simulator.guild("The Bakers"), simulator.user("zoe").id, {
		name: "Bread day",
		entity_type: GuildScheduledEventEntityType.External,
		entity_metadata: { location: "Outside" },
		scheduled_start_time: inHours(1),
	});
	expect((await alpha("GET", `${path}/${id}`)).code).toBe(10070);
	expect((await alpha("DELETE", `${path}/${id}`)).code).toBe(10070);
});
