// The rows of src/bot/tools/scheduled-events.ts.

import { AuditLogEvent, ChannelType, GuildScheduledEventEntityType as Kind } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import * as person from "./person.ts";
import {
	anyId,
	freshName,
	type Hidden,
	type IdCase,
	inChannel,
	inGuild,
	newChannel,
	newMember,
	type Row,
	type Scene,
	voiceChannelId,
} from "./scene.ts";

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** An event scheduled by someone else. */
function newEvent({ world, guild }: Scene) {
	const { scheduledEvents } = world.simulator.world;
	const event = scheduledEvents.add(guild, guild.owner_id, {
		name: freshName(),
		entity_type: Kind.External,
		entity_metadata: { location: "Outside" },
		scheduled_start_time: "2099-01-31T12:00:00.000Z",
		scheduled_end_time: "2099-01-31T13:00:00.000Z",
	});
	const all = `/guilds/${guild.id}/scheduled-events`;
	return { event, scheduledEvents, all, path: `${all}/${event.id}` };
}

/** The path of an event contains its guild. */
const eventId: IdCase = {
	unknown: "There is no scheduled event",
	foreign: {
		id: (scene) => newEvent({ ...scene, guild: scene.other }).event.id,
		refusal: "There is no scheduled event",
		refusedBy: "Discord",
	},
};

function eventIn({ world, guild }: Scene, channel: GuildChannel) {
	return world.simulator.world.scheduledEvents.add(guild, guild.owner_id, {
		name: freshName(),
		entity_type: Kind.Voice,
		channel_id: channel.id,
		scheduled_start_time: "2099-01-31T12:00:00.000Z",
	});
}

const hiddenEvent: Hidden = {
	refusal: "There is no scheduled event",
	args: (scene, hidden) => ({ event_id: eventIn(scene, hidden).id }),
};

export const scheduledEventsRows: Record<string, Row> = {
	list_scheduled_events: {
		ids: {},
		person: person.anyMember({
			type: ChannelType.GuildVoice,
			leavesOut(scene, hidden) {
				const { id, name } = eventIn(scene, hidden);
				return { args: {}, secrets: [id, name, hidden.id, hidden.name] };
			},
		}),
		ask(scene) {
			const { guild, world } = scene;
			const { scheduledEvents } = world.simulator.world;
			for (const one of scheduledEvents.in(guild)) scheduledEvents.remove(one);
			const { event, all } = newEvent(scene);
			return {
				args: {},
				request: `GET ${all}`,
				answer: [
					"1 scheduled event(s), the earliest first",
					`${event.name} | ID: ${event.id} | scheduled | external, at Outside | starts: 2099-01-31T12:00:00Z | ends: 2099-01-31T13:00:00Z | interested: 0 | by: @`,
				],
			};
		},
		needs: "no permission",
	},
	create_scheduled_event: {
		ids: { channel_id: voiceChannelId },
		adds: true,
		person: person.inChannel(["CreateEvents"], { argument: "channel_id" }, person.speaks),
		act(scene) {
			const { guild, world } = scene;
			const name = freshName();
			const { id } = newChannel(scene, ChannelType.GuildVoice);
			return {
				args: { name, entity_type: "voice", channel_id: id, scheduled_start_time: inHours(1) },
				request: `POST /guilds/${guild.id}/scheduled-events`,
				done: () =>
					world.simulator.world.scheduledEvents.in(guild).some((one) => one.name === name && one.channel_id === id),
			};
		},
		reason: AuditLogEvent.GuildScheduledEventCreate,
		needs: inChannel("CreateEvents"),
		refuses: [[{ scheduled_start_time: "tomorrow" }, "expected a duration such as 6h"]],
	},
	edit_scheduled_event: {
		ids: { event_id: eventId, channel_id: voiceChannelId },
		person: person.inGuild(["ManageEvents"], hiddenEvent),
		act(scene) {
			const { event, path } = newEvent(scene);
			return {
				args: { event_id: event.id, name: "changed" },
				request: `PATCH ${path}`,
				done: () => event.name === "changed",
			};
		},
		reason: AuditLogEvent.GuildScheduledEventUpdate,
		needs: inGuild("ManageEvents"),
		effects: (guild) => ({
			write: [{ event_id: guild.event("Dinner"), name: "Supper" }],
			destructive: [["ends the event for good", { event_id: guild.event("Dinner"), status: "canceled" }]],
		}),
		refuses: [[{ name: undefined }]],
	},
	delete_scheduled_event: {
		ids: { event_id: eventId },
		person: person.inGuild(["ManageEvents"], hiddenEvent),
		act(scene) {
			const { event, path, scheduledEvents } = newEvent(scene);
			return {
				args: { event_id: event.id },
				request: `DELETE ${path}`,
				done: () => !scheduledEvents.in(scene.guild).includes(event),
			};
		},
		reason: AuditLogEvent.GuildScheduledEventDelete,
		needs: inGuild("ManageEvents"),
		dryRun: /^Would delete the scheduled event "thing-\d+" \(ID: \d+\), in which 0 user\(s\) are interested\.$/m,
	},
	get_event_users: {
		ids: { event_id: eventId, after: anyId("it is a cursor") },
		person: person.anyMember(hiddenEvent),
		ask(scene) {
			const { event, path, scheduledEvents } = newEvent(scene);
			const member = newMember(scene, scene.guild);
			scheduledEvents.subscribe(scene.guild, event, member);
			const { username, id } = member.user;
			return {
				args: { event_id: event.id },
				request: `GET ${path}/users`,
				answer: [`1 user(s) interested in "${event.name}"`, `${username} (@${username}) | ID: ${id}`],
			};
		},
		needs: "no permission",
	},
};
