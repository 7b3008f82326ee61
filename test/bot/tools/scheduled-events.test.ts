// The tools of scheduled events.

import { expect } from "bun:test";
import {
	ChannelType,
	GuildScheduledEventEntityType as Kind,
	PermissionFlagsBits,
	GuildScheduledEventStatus as Status,
} from "discord.js";
import type { ScheduledEvent } from "../../../src/simulator/world/state/entities.ts";
import { pagesOf } from "../../support/pages.ts";
import { denyBot, memberNamed, type TestWorld, worldTest, writes } from "../../support/world.ts";

const times = { scheduled_start_time: "2099-01-31T12:00:00.000Z", scheduled_end_time: "2099-01-31T13:00:00.000Z" };

function scene(world: TestWorld) {
	const { simulator, guild, call } = world;
	const { world: platform } = simulator;
	const { scheduledEvents } = platform;
	const me = simulator.bot("alpha").id;
	return {
		scheduledEvents,
		voice: platform.channels.add(guild, { name: "Kitchen", type: ChannelType.GuildVoice }),
		stage: platform.channels.add(guild, { name: "Show", type: ChannelType.GuildStageVoice }),
		/** An event of the bot's own, elsewhere. */
		event: (more: Partial<ScheduledEvent> = {}, by = me) =>
			scheduledEvents.add(guild, by, {
				name: "Soup day",
				entity_type: Kind.External,
				entity_metadata: { location: "Outside" },
				...times,
				...more,
			}),
		create: (more: Record<string, unknown>) =>
			call("create_scheduled_event", { name: "Soup day", scheduled_start_time: "2099-01-31T12:00", ...more }),
		edit: (event: ScheduledEvent, more: Record<string, unknown>) =>
			call("edit_scheduled_event", { event_id: event.id, ...more }),
		deny: async (channel_id: string, bits: bigint) => {
			const channel = guild.channels.get(channel_id);
			if (!channel) throw new Error("there is such a channel");
			await denyBot(world, channel, bits);
		},
	};
}

worldTest("an event is scheduled for each kind of place, its times in UTC unless they say otherwise", async (world) => {
	const { create, voice, stage, scheduledEvents } = scene(world);
	await world.heard();
	const outside = await create({
		entity_type: "external",
		location: "Outside | inside",
		scheduled_end_time: "2099-01-31T15:00:00+02:00",
		description: "Hot\nsoup",
	});
	expect(outside.text).toMatch(
		/^Scheduled the event "Soup day" \(ID: (\d+)\), times in UTC, now is \S+Z:\nSoup day \| ID: \1 \| scheduled \| external, at Outside \\\| inside \| starts: 2099-01-31T12:00:00Z \| ends: 2099-01-31T13:00:00Z \| by: @alpha \(ID: \d+\) \| description: Hot\\nsoup$/,
	);
	const spoken = await create({ entity_type: "voice", channel_id: voice.id });
	expect(spoken.text).toContain(`| voice, in #Kitchen (ID: ${voice.id}) |`);
	expect(spoken.text).toContain("| ends: not set |");
	const staged = await create({ entity_type: "stage", channel_id: stage.id });
	expect(staged.isError).toBe(false);
	expect(scheduledEvents.in(world.guild)).toMatchObject([
		{ entity_type: Kind.External, ...times, description: "Hot\nsoup" },
		{ entity_type: Kind.Voice, channel_id: voice.id },
		{ entity_type: Kind.StageInstance, channel_id: stage.id },
	]);
});

worldTest("what does not fit together is refused with Discord's reason", async (world) => {
	const { create, stage, voice } = scene(world);
	await world.heard();
	const cases: [more: Record<string, unknown>, reason: string][] = [
		[{ entity_type: "external", location: "x" }, "scheduled_end_time["],
		[{ entity_type: "voice" }, "channel_id["],
		[{ entity_type: "voice", channel_id: stage.id }, "channel type"],
		[{ entity_type: "voice", channel_id: voice.id, scheduled_start_time: "2020-01-31T12:00:00Z" }, "in the past"],
		[
			{ entity_type: "voice", channel_id: voice.id, scheduled_end_time: "2099-01-31T12:00" },
			"must end after it starts",
		],
	];
	for (const [more, reason] of cases) expect((await create(more)).text).toContain(reason);
	expect(world.simulator.world.scheduledEvents.in(world.guild)).toEqual([]);
});

worldTest("a stage event requires the permissions for stages", async (world) => {
	const { create, stage, deny } = scene(world);
	await deny(stage.id, PermissionFlagsBits.MoveMembers);
	const refused = await create({ entity_type: "stage", channel_id: stage.id });
	expect(refused.text).toContain("lacks MOVE_MEMBERS in #Show");
	expect(writes(world)).toEqual([]);
});

worldTest("an external event is moved into a channel and back", async (world) => {
	const { event, edit, voice } = scene(world);
	const moved = event();
	await world.heard();
	const without = await edit(moved, { channel_id: voice.id });
	expect(without.text).toContain("An external event has no channel");
	const into = await edit(moved, { entity_type: "voice", channel_id: voice.id });
	expect(into.text).toContain(`Changed entity_type, channel_id of "Soup day" (ID: ${moved.id})`);
	expect(moved).toMatchObject({ entity_type: Kind.Voice, channel_id: voice.id, entity_metadata: null, ...times });
	const nowhere = await edit(moved, { entity_type: "external" });
	expect(nowhere.text).toContain("entity_metadata[BASE_TYPE_REQUIRED]");
	const back = await edit(moved, { entity_type: "external", location: "The yard" });
	expect(back.text).toContain("| external, at The yard |");
	expect(moved).toMatchObject({ channel_id: null, entity_metadata: { location: "The yard" } });
});

worldTest("an edit changes only what is given and differs", async (world) => {
	const { event, edit } = scene(world);
	const edited = event({ description: "Hot" });
	await world.heard();
	const same = await edit(edited, { name: "Soup day", scheduled_end_time: "2099-01-31T14:00:00+01:00" });
	expect(same.text).toContain("Nothing would change");
	expect(writes(world)).toEqual([]);
	const one = await edit(edited, { name: "Soup day", description: "" });
	expect(one.text).toStartWith('Changed description of "Soup day"');
	expect(world.simulator.journal.entries()[0]?.body).toEqual({ description: null });
	expect(edited).toMatchObject({ name: "Soup day", ...times });
});

worldTest("an active event can be renamed", async (world) => {
	const { event, edit } = scene(world);
	const begun = event({ scheduled_start_time: "2020-01-31T12:00:00.000Z", status: Status.Active });
	const { isError } = await edit(begun, { name: "x", scheduled_start_time: "2020-01-31T12:00Z" });
	expect(isError).toBe(false);
	expect(begun.name).toBe("x");
});

worldTest("an event is started and ended; an invalid status is refused", async (world) => {
	const { event, edit } = scene(world);
	const held = event();
	await world.heard();
	const tooEarly = await edit(held, { status: "completed" });
	expect(tooEarly.text).toContain("status[");
	expect((await edit(held, { status: "active" })).text).toContain("| active |");
	const tooLate = await edit(held, { status: "canceled" });
	expect(tooLate.text).toContain("status[");
	expect((await edit(held, { status: "completed" })).isError).toBe(false);
	expect(held.status).toBe(Status.Completed);
	const over = await edit(held, { name: "x" });
	expect(over.isError).toBe(true);
	expect(held.name).not.toBe("x");
});

worldTest("without MANAGE_EVENTS the bot edits and deletes only its own events", async (world) => {
	const { event, edit, voice, deny, scheduledEvents } = scene(world);
	const inVoice = { entity_type: Kind.Voice, channel_id: voice.id, entity_metadata: null };
	const own = event(inVoice);
	const others = event(inVoice, world.guild.owner_id);
	await deny(voice.id, PermissionFlagsBits.ManageEvents);
	expect((await edit(own, { name: "x" })).isError).toBe(false);
	for (const refused of [
		await edit(others, { name: "x" }),
		await world.call("delete_scheduled_event", { event_id: others.id }),
	])
		expect(refused.text).toContain("lacks MANAGE_EVENTS in #Kitchen");
	const { CreateEvents, ManageEvents } = PermissionFlagsBits;
	await deny(voice.id, CreateEvents | ManageEvents);
	const last = await world.call("delete_scheduled_event", { event_id: own.id });
	expect(last.text).toContain("lacks CREATE_EVENTS in #Kitchen");
	expect(scheduledEvents.in(world.guild)).toHaveLength(2);
});

worldTest("events are listed earliest first, and an empty list says so", async (world) => {
	const { event } = scene(world);
	const list = () => world.call("list_scheduled_events");
	await world.heard();
	expect((await list()).text).toBe(`The guild ${world.guild.id} has no scheduled events that the bot can see.`);
	event({ name: "late\n| ID: 1" });
	event({ name: "early", scheduled_start_time: "2098-01-31T12:00:00Z" });
	const { text } = await list();
	expect(text.split("\n").map((line) => line.split(" | ID: ")[0])).toEqual([
		expect.stringMatching(/^2 scheduled event\(s\), the earliest first, times in UTC, now is \S+Z:$/),
		"early",
		"late\\n\\| ID\\: 1",
	]);
});

worldTest("interested users are listed page by page, including those who left", async (world) => {
	const { event, scheduledEvents } = scene(world);
	const { simulator, guild } = world;
	const shown = event();
	const nobody = await world.call("get_event_users", { event_id: shown.id });
	expect(nobody.text).toBe(`Nobody is interested in "Soup day" (ID: ${shown.id}).`);
	const people = ["jose.garcia", "mona_lisa", "liwei"].map((name) => {
		const member = memberNamed(world, name);
		scheduledEvents.subscribe(guild, shown, member);
		return member;
	});
	const [jose, , liwei] = people;
	if (liwei) simulator.world.members.remove(guild, liwei);
	const pages = await pagesOf(world.call, "get_event_users", { event_id: shown.id, limit: 2 });
	const lines = pages.flatMap((page) => page.split("\n")).filter((line) => line.includes("(@"));
	expect(lines).toHaveLength(3);
	expect(lines[0]).toBe(`Chef José (@jose.garcia) | ID: ${jose?.user.id}`);
	expect(lines[2]).toEndWith(`| ID: ${liwei?.user.id} | not a member`);
});

worldTest("a full guild is refused, with the tools that make room", async (world) => {
	const { event, create } = scene(world);
	for (let count = 0; count < 100; count += 1) event();
	const { text } = await create({ entity_type: "external", location: "x", scheduled_end_time: "2099-01-31T13:00" });
	expect(text).toContain("(code 30038)");
	expect(text).toContain("delete_scheduled_event makes room");
});
