// The rows of src/bot/tools/locks.ts.

import { AuditLogEvent, PermissionFlagsBits } from "discord.js";
import { memberOverwrite, roleOverwrite } from "../../support/world.ts";
import * as person from "./person.ts";
import { botUser, channelId, inChannel, newChannel, type Row, type Scene } from "./scene.ts";

const { SendMessages } = PermissionFlagsBits;

const needs = inChannel("ManageRoles");

/** A new channel, its overwrite for @everyone, and the request that changes it. */
function oneChannel(scene: Scene) {
	const channel = newChannel(scene);
	const everyone = scene.guild.id;
	return {
		channel,
		everyone,
		args: { channel_ids: [channel.id] },
		request: `PUT /channels/${channel.id}/permissions/${everyone}`,
		denied: () => BigInt(channel.permission_overwrites.find(({ id }) => id === everyone)?.deny ?? 0),
	};
}

/** What locking denies to @everyone, which only those can deny who have it. */
const lockable = [
	"SendMessages",
	"SendMessagesInThreads",
	"AddReactions",
	"CreatePublicThreads",
	"CreatePrivateThreads",
] as const;

export const locksRows: Record<string, Row> = {
	lock_channel: {
		ids: { channel_ids: channelId },
		person: person.inChannel(["ManageRoles"], { argument: "channel_ids" }, { also: lockable }),
		act(scene) {
			const { channel, args, request, denied } = oneChannel(scene);
			// Otherwise nobody could write there, and there would be nothing to lock.
			scene.world.simulator.world.channels.setOverwrite(
				channel,
				roleOverwrite(scene.guild.id, { allow: SendMessages }),
			);
			// What the bot would keep by itself, it needs no request for.
			scene.world.simulator.world.channels.setOverwrite(
				channel,
				memberOverwrite(botUser(scene.world).id, { allow: (1n << 53n) - 1n }),
			);
			return { args, request, channel: channel.id, done: () => (denied() & SendMessages) !== 0n };
		},
		dryRun: /^Would lock 1 channel\(s\): members could no longer .*SEND_MESSAGES,.*\n#thing-\d+ \(ID: \d+\)$/m,
		reason: AuditLogEvent.ChannelOverwriteUpdate,
		needs,
		effects: (guild) => ({
			write: [{ channel_ids: [guild.channel("general")] }, { all: true, unlock: true }],
			destructive: [
				["silences @everyone in all channels", { all: true }],
				["in several channels", { channel_ids: [guild.channel("Talk")] }],
				["in several channels", { channel_ids: [guild.channel("general"), guild.channel("Lounge")] }],
			],
		}),
	},
};
