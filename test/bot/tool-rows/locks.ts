// The rows of src/bot/tools/locks.ts.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { AuditLogEvent, PermissionFlagsBits } from "discord.js";
import {
	botUser,
	channelId,
	inChannel,
	newChannel,
	type Row,
	type Scene,
} from "./scene.ts";

const { AddReactions, SendMessages } = PermissionFlagsBits;

const needs = inChannel("ManageRoles");

/** A new channel, its overwrite for @everyone, and the request that changes it. */
function oneChannel(scene: Scene) {
	const channel = newChannel(scene);
	const everyone = scene.guild.id;
	return {
		...{ channel, everyone, args: { channel_ids: [channel.id] } },
		request: `PUT /channels/${channel.id}/permissions/${everyone}`,
		denied: () =>
			BigInt(
				channel.permission_overwrites.find(({ id }) => id === everyone)?.deny ??
					0,
			),
	};
}

/** A stored lock that denies writing. */
function note({ world, guild }: Scene, channel: string): void {
	using database = new Database(join(world.dataDirectory, "store.sqlite"));
	database.run("PRAGMA busy_timeout = 5000");
	database.run(
		"INSERT INTO channel_locks (channel_id, target_id, target_type, locked_at, allows, denies, allowed, existed) VALUES (?, ?, 0, 0, '0', ?, '0', 1)",
		[channel, guild.id, String(SendMessages)],
	);
}

export const locksRows: Record<string, Row> = {
	lock_channel: {
		ids: { channel_ids: channelId },
		act(scene) {
			const { channel, args, request, denied } = oneChannel(scene);
			// What the bot would keep by itself, it needs no request for.
			scene.world.simulator.world.channels.setOverwrite(channel, {
				...{ id: botUser(scene.world).id, type: 1, deny: "0" },
				allow: String((1n << 53n) - 1n),
			});
			return {
				...{ args, request, channel: channel.id },
				done: () => (denied() & SendMessages) !== 0n,
			};
		},
		reason: AuditLogEvent.ChannelOverwriteCreate,
		needs,
	},
	unlock_channel: {
		ids: { channel_ids: channelId },
		act(scene) {
			const { channel, everyone, args, request, denied } = oneChannel(scene);
			scene.world.simulator.world.channels.setOverwrite(channel, {
				...{ id: everyone, type: 0, allow: "0" },
				deny: String(SendMessages | AddReactions),
			});
			note(scene, channel.id);
			return {
				...{ args, request, channel: channel.id },
				done: () => denied() === AddReactions,
			};
		},
		reason: AuditLogEvent.ChannelOverwriteUpdate,
		needs,
	},
};
