// The rows of src/bot/tools/channels.ts.

import { AuditLogEvent, PermissionFlagsBits } from "discord.js";
import {
	categoryId,
	channelId,
	freshName,
	newChannel,
	newRole,
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
	set_channel_permissions: {
		effect: "writes",
		ids: { channel_id: channelId, target_id: roleId },
		act(scene) {
			const channel = newChannel(scene);
			const role = newRole(scene, scene.guild);
			return {
				args: {
					channel_id: channel.id,
					target_type: "role",
					target_id: role.id,
					deny_names: ["SEND_MESSAGES"],
				},
				request: `PUT /channels/${channel.id}/permissions/${role.id}`,
				done: () =>
					channel.permission_overwrites.some(
						({ id, deny }) =>
							id === role.id &&
							deny === String(PermissionFlagsBits.SendMessages),
					),
			};
		},
		reason: AuditLogEvent.ChannelOverwriteCreate,
		needs: {
			permission: "ManageRoles",
			name: "MANAGE_ROLES",
			in: "the channel",
		},
		dryRun: "not destructive",
	},
};
