// Scheduled events: who may make, change and see them, what Discord refuses, and who is told.

import { expect, test } from "bun:test";
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
import {
	connect,
	cooksOf,
	type Simulator,
	startSimulator,
} from "../../support.ts";

const hourMs = 3_600_000;
const inHours = (hours: number) =>
	new Date(Date.now() + hours * hourMs).toISOString();

function cooks(simulator: Simulator) {
	const cooks = cooksOf(simulator);
	const { world, guild } = cooks;
	const path = `/guilds/${guild.id}/scheduled-events`;
	const channel = (name: string, type: GuildChannel["type"]) =>
		world.channels.add(guild, { name, type });
	const voice = channel("Kitchen", ChannelType.GuildVoice);
	const stage = channel("Show", ChannelType.GuildStageVoice);
	const { id: bot } = simulator.bot("alpha");
	return {
		...cooks,
		path,
		voice,
		stage,
		bot,
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
			if (where)
				return world.channels.setOverwrite(where, {
					id: bot,
					type: 1,
					allow: "0",
					deny: String(bits),
				});
			const [role] = [...guild.roles.values()].filter(
				({ tags }) => tags?.bot_id === bot,
			);
			if (!role) throw new Error("the bot has a role of its own");
			const permissions = String(BigInt(role.permissions) & ~bits);
			world.roles.edit(guild, role, { permissions });
		},
	};
}

const external = (more: object = {}) => ({
	name: "Soup day",
	privacy_level: 2,
	entity_type: 3,
	entity_metadata: { location: "Outside" },
	scheduled_start_time: inHours(1),
	scheduled_end_time: inHours(2),
	...more,
});

test("discord.js makes, edits and deletes an event, and all of it is told and logged", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator, "alpha", [
		...[Intent.Guilds, Intent.GuildScheduledEvents],
	]);
	const { guild, voice, bot: me } = cooks(simulator);
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
	const edited = await scheduledEvents.edit(made, {
		status: GuildScheduledEventStatus.Active,
	});
	expect(edited.isActive()).toBe(true);
	await bot.event("GUILD_SCHEDULED_EVENT_UPDATE", ({ status }) => status === 2);
	expect((await scheduledEvents.fetch({ cache: false })).size).toBe(1);
	await scheduledEvents.delete(made);
	await bot.event("GUILD_SCHEDULED_EVENT_DELETE", ({ id }) => id === made.id);
	const gone = scheduledEvents.fetch({
		guildScheduledEvent: made.id,
		force: true,
	});
	await expect(gone).rejects.toMatchObject({ code: 10070 });
	expect(guild.auditLog.slice(-3)).toMatchObject([
		{
			action_type: AuditLogEvent.GuildScheduledEventCreate,
			target_id: made.id,
			reason: "hungry",
		},
		{
			action_type: AuditLogEvent.GuildScheduledEventUpdate,
			changes: [{ key: "status", old_value: 1, new_value: 2 }],
		},
		{ action_type: AuditLogEvent.GuildScheduledEventDelete },
	]);
});

test("who is interested is told, counted, and listed in the order of ids, a page at a time", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator, "alpha", [
		...[Intent.Guilds, Intent.GuildScheduledEvents],
	]);
	const { world, guild, alpha, path, event } = cooks(simulator);
	const found = event();
	const { id } = found;
	const people = [...guild.members.values()].slice(0, 3);
	for (const member of people.toReversed())
		world.scheduledEvents.subscribe(guild, found, member);
	const [one = "", two = "", three = ""] = people
		.map(({ user }) => user.id)
		.sort();
	await bot.event(
		"GUILD_SCHEDULED_EVENT_USER_ADD",
		({ user_id }) => user_id === one,
	);
	const users = async (query: string) =>
		(await alpha("GET", `${path}/${id}/users?${query}`))
			.json<{ user: { id: string }; member?: object }[]>()
			.map(({ user, member }) => [user.id, member !== undefined]);
	expect(await users("")).toEqual([one, two, three].map((id) => [id, false]));
	expect(await users("with_member=true&limit=1")).toEqual([[one, true]]);
	expect(await users(`limit=1&after=${one}`)).toEqual([[two, false]]);
	expect(await users(`limit=1&before=${three}`)).toEqual([[two, false]]);
	expect((await alpha("GET", `${path}/${id}/users?limit=101`)).status).toBe(
		400,
	);
	const [first] = people;
	if (first) world.scheduledEvents.unsubscribe(guild, found, first);
	await bot.event("GUILD_SCHEDULED_EVENT_USER_REMOVE");
	const counted = await alpha("GET", `${path}/${id}?with_user_count=true`);
	expect(counted.json()).toMatchObject({ user_count: 2 });
	expect((await alpha("GET", path)).json<object[]>()[0]).not.toHaveProperty(
		"user_count",
	);
});

test("a bot that joins is told of the events there are", async () => {
	await using simulator = await startSimulator();
	const { event } = cooks(simulator);
	const { id } = event();
	await using bot = await connect(simulator);
	const { guild_scheduled_events } = await bot.event("GUILD_CREATE");
	expect(guild_scheduled_events).toMatchObject([{ id, name: "Soup day" }]);
});

test("an event needs a place that fits its kind, and an external one an end", async () => {
	await using simulator = await startSimulator();
	const { alpha, path, voice, stage } = cooks(simulator);
	const faults = async (more: object) =>
		(await alpha("POST", path, external(more))).faults;
	expect(await faults({ entity_metadata: undefined })).toHaveProperty(
		"entity_metadata",
	);
	expect(await faults({ scheduled_end_time: null })).toHaveProperty(
		"scheduled_end_time",
	);
	expect(await faults({ channel_id: voice.id })).toHaveProperty("channel_id");
	expect(await faults({ entity_type: 2 })).toHaveProperty("channel_id");
	expect(await faults({ name: "" })).toHaveProperty("name");
	expect(await faults({ privacy_level: 1 })).toHaveProperty("privacy_level");
	const wrong = external({ entity_type: 1, channel_id: voice.id });
	expect((await alpha("POST", path, wrong)).code).toBe(50024);
	const right = external({ entity_type: 1, channel_id: stage.id });
	expect((await alpha("POST", path, right)).json()).toMatchObject({
		channel_id: stage.id,
		entity_metadata: null,
		status: 1,
	});
	const recurring = external({ recurrence_rule: { frequency: 1 } });
	expect((await alpha("POST", path, recurring)).status).toBe(501);
});

test("an event is neither in the past nor over before it begins", async () => {
	await using simulator = await startSimulator();
	const { alpha, path } = cooks(simulator);
	const post = (more: object) => alpha("POST", path, external(more));
	const past = await post({ scheduled_start_time: inHours(-1) });
	expect(past.faults).toEqual({
		scheduled_start_time: "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST",
	});
	const backwards = await post({ scheduled_start_time: inHours(3) });
	expect(backwards.faults).toHaveProperty("scheduled_end_time");
	const invalid = await post({ scheduled_start_time: "tomorrow" });
	expect(invalid.faults).toHaveProperty("scheduled_start_time");
});

test("an event begins and then ends, or is canceled, and is not touched after that", async () => {
	await using simulator = await startSimulator();
	const { alpha, path, event } = cooks(simulator);
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
	expect((await alpha("PATCH", `${path}/${dropped}`, { name: "x" })).code).toBe(
		180000,
	);
});

test("one's own events take CREATE_EVENTS, those of others MANAGE_EVENTS, and each kind what goes with it", async () => {
	const { CreateEvents, ManageEvents, MoveMembers, Connect } =
		PermissionFlagsBits;
	await using simulator = await startSimulator();
	const { alpha, path, stage, voice, event, forbid } = cooks(simulator);
	const post = (more: object) => alpha("POST", path, external(more));
	const own = (await post({})).json<{ id: string }>().id;
	const others = event().id;
	const onStage = { entity_type: 1, channel_id: stage.id };
	const inVoice = { entity_type: 2, channel_id: voice.id };
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

test("a guild has at most 100 events that are not over", async () => {
	await using simulator = await startSimulator();
	const { alpha, path, event, world, guild } = cooks(simulator);
	const events = Array.from({ length: 100 }, event);
	expect((await alpha("POST", path, external())).code).toBe(30038);
	const [first] = events;
	if (first) world.scheduledEvents.edit(guild, first, { status: 4 });
	expect((await alpha("POST", path, external())).status).toBe(200);
});

test("an event of another guild is none of this one", async () => {
	await using simulator = await startSimulator();
	const { alpha, path, world } = cooks(simulator);
	const { id } = world.scheduledEvents.add(
		simulator.guild("The Bakers"),
		simulator.user("zoe").id,
		{
			name: "Bread day",
			entity_type: GuildScheduledEventEntityType.External,
			scheduled_start_time: inHours(1),
		},
	);
	expect((await alpha("GET", `${path}/${id}`)).code).toBe(10070);
	expect((await alpha("DELETE", `${path}/${id}`)).code).toBe(10070);
});
