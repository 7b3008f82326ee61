// The rows of src/bot/tools/channels.ts.

import { AuditLogEvent, ChannelType } from "discord.js";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";
import {
	categoryId,
	channelId,
	freshName,
	newChannel,
	type Row,
	roleId,
} from "./scene.ts";

export const channelsRows: Record<string, Row> = {
	create_channel: {
		effect: "writes",
		ids: { category_id: categoryId, private_to_role_ids: roleId },
		act({ guild }) {
			const name = freshName();
			return {
				args: { name },
				request: `POST /guilds/${guild.id}/channels`,
				done: () =>
					[...guild.channels.values()].some((one) => one.name === name),
			};
		},
		reason: AuditLogEvent.ChannelCreate,
		needs: {
			permission: "ManageChannels",
			name: "MANAGE_CHANNELS",
			in: "the guild",
		},
		dryRun: "not destructive",
	},
	edit_channel: {
		effect: "writes",
		ids: { channel_id: channelId, category_id: categoryId },
		act(scene) {
			const channel = newChannel(scene);
			return {
				args: { channel_id: channel.id, topic: "changed" },
				request: `PATCH /channels/${channel.id}`,
				done: () => channel.topic === "changed",
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: {
			permission: "ManageChannels",
			name: "MANAGE_CHANNELS",
			in: "the channel",
		},
		dryRun: "not destructive",
	},
	list_channels: {
		effect: "reads",
		ids: { category_id: categoryId },
		args: () => ({}),
		answer: ({ guild }) => [
			`${guild.channels.size} channel(s), from the top:`,
			...[...guild.channels.values()].map(
				({ name, id }) => `#${name} | ID: ${id} | `,
			),
		],
	},
	get_channel: {
		effect: "reads",
		ids: { channel_id: channelId },
		args: ({ guild }) => ({ channel_id: named(guild, "general") }),
		answer: ({ guild }) => [
			`#general (ID: ${named(guild, "general")}), text`,
			`category: #Talk (ID: ${named(guild, "Talk")})`,
			"topic: Everything and nothing",
		],
	},
	delete_channel: {
		effect: "writes",
		ids: { channel_id: channelId },
		act(scene) {
			const { id } = newChannel(scene);
			return {
				args: { channel_id: id },
				request: `DELETE /channels/${id}`,
				done: () => !scene.guild.channels.has(id),
			};
		},
		reason: AuditLogEvent.ChannelDelete,
		needs: {
			permission: "ManageChannels",
			name: "MANAGE_CHANNELS",
			in: "the channel",
		},
		dryRun:
			/^Would delete the text channel #thing-\d+ \(ID: \d+\), with everything in it\.$/m,
	},
	move_channel: {
		effect: "writes",
		ids: { channel_id: channelId, category_id: categoryId },
		act(scene) {
			const category = newChannel(scene, ChannelType.GuildCategory);
			const channel = newChannel(scene);
			return {
				args: { channel_id: channel.id, category_id: category.id },
				request: `PATCH /guilds/${scene.guild.id}/channels`,
				done: () => channel.parent_id === category.id,
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: {
			permission: "ManageChannels",
			name: "MANAGE_CHANNELS",
			in: "the channel",
			also: [{ permission: "ManageRoles", with: { lock_permissions: true } }],
		},
		dryRun: "not destructive",
	},
	move_channels: {
		effect: "writes",
		ids: {
			channel_ids: channelId,
			category_id: categoryId,
			below_channel_id: channelId,
		},
		act(scene) {
			const category = newChannel(scene, ChannelType.GuildCategory);
			const channel = newChannel(scene);
			return {
				args: { channel_ids: [channel.id], category_id: category.id },
				request: `PATCH /guilds/${scene.guild.id}/channels`,
				done: () => channel.parent_id === category.id,
				channel: channel.id,
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: {
			permission: "ManageChannels",
			name: "MANAGE_CHANNELS",
			in: "the channel",
			also: [{ permission: "ManageRoles", with: { lock_permissions: true } }],
		},
		dryRun: "not destructive",
	},
	clone_channel: {
		effect: "writes",
		ids: { channel_id: channelId },
		act(scene) {
			const channel = newChannel(scene);
			const { name } = channel;
			return {
				args: { channel_id: channel.id },
				request: `POST /guilds/${scene.guild.id}/channels`,
				done: () =>
					[...scene.guild.channels.values()].filter((one) => one.name === name)
						.length === 2,
			};
		},
		reason: AuditLogEvent.ChannelCreate,
		needs: {
			permission: "ManageChannels",
			name: "MANAGE_CHANNELS",
			in: "the guild",
		},
		dryRun: "not destructive",
	},
};

function named(guild: Guild, name: string): string | undefined {
	return [...guild.channels.values()].find((one) => one.name === name)?.id;
}
