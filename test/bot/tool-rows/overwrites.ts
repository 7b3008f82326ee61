// The rows of src/bot/tools/overwrites.ts.

import { AuditLogEvent, ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import {
	channelId,
	inChannel,
	newChannel,
	newRole,
	type Row,
	refusedByBot,
	roleId,
	type Scene,
} from "./scene.ts";

const denied = String(PermissionFlagsBits.SendMessages);

function denyWriting({ world }: Scene, channel: GuildChannel, id: string) {
	const overwrite = { id, type: 0, allow: "0", deny: denied } as const;
	world.simulator.world.channels.setOverwrite(channel, overwrite);
}

export const overwritesRows: Record<string, Row> = {
	set_channel_permissions: {
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
						({ id, deny }) => id === role.id && deny === denied,
					),
			};
		},
		reason: AuditLogEvent.ChannelOverwriteCreate,
		needs: inChannel("ManageRoles"),
		dryRun:
			/^Would set the permissions of @thing-\d+ \(ID: \d+\) in #thing-\d+ \(ID: \d+\)\.\nNewly allowed: none\nNewly denied: SEND_MESSAGES$/m,
	},
	list_channel_permissions: {
		ids: { channel_id: channelId },
		args({ world, guild }) {
			const { id } = newChannel({ world, guild, other: guild });
			return { channel_id: id };
		},
		answer: () => ["has no overwrites: the permissions of the roles apply."],
	},
	remove_channel_permissions: {
		ids: {
			channel_id: channelId,
			target_id: refusedByBot(
				"has no overwrite for",
				(scene) => newRole(scene, scene.other).id,
			),
		},
		act(scene) {
			const channel = newChannel(scene);
			const { id } = newRole(scene, scene.guild);
			denyWriting(scene, channel, id);
			return {
				args: { channel_id: channel.id, target_id: id },
				request: `DELETE /channels/${channel.id}/permissions/${id}`,
				done: () => !channel.permission_overwrites.some((one) => one.id === id),
			};
		},
		reason: AuditLogEvent.ChannelOverwriteDelete,
		needs: inChannel("ManageRoles"),
		dryRun:
			/^Would remove the overwrite for role @thing-\d+ \(ID: \d+\) in #thing-\d+ \(ID: \d+\)\.\nAllowed: none\nDenied: SEND_MESSAGES$/m,
	},
	copy_channel_permissions: {
		ids: { channel_id: channelId, target_channel_ids: channelId },
		act(scene) {
			const from = newChannel(scene);
			const to = newChannel(scene);
			const { id } = newRole(scene, scene.guild);
			denyWriting(scene, from, id);
			return {
				args: {
					channel_id: from.id,
					target_channel_ids: [to.id],
					dry_run: false,
				},
				request: `PATCH /channels/${to.id}`,
				done: () => to.permission_overwrites.some((one) => one.id === id),
				channel: to.id,
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: inChannel("ManageRoles", "ManageChannels"),
		dryRun:
			/^Would give 1 of 1 channel\(s\) the permissions of #thing-\d+ \(ID: \d+\):\n#thing-\d+ \(ID: \d+\): changes for 1 role\(s\) and member\(s\)\n- role @thing-\d+ \| ID: \d+ \| before: none \| after: allow none, deny SEND_MESSAGES$/m,
	},
	sync_channel_permissions: {
		ids: { channel_id: channelId },
		act(scene) {
			const { world } = scene.world.simulator;
			const category = newChannel(scene, ChannelType.GuildCategory);
			const { id } = newRole(scene, scene.guild);
			denyWriting(scene, category, id);
			const channel = newChannel(scene);
			world.channels.edit(channel, { parent_id: category.id });
			return {
				args: { channel_id: channel.id },
				request: `PATCH /channels/${channel.id}`,
				done: () => channel.permission_overwrites.some((one) => one.id === id),
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: inChannel("ManageRoles", "ManageChannels"),
		dryRun:
			/^Would give #thing-\d+ \(ID: \d+\) the permissions of #thing-\d+ \(ID: \d+\); changes for 1 role\(s\) and member\(s\):\nrole @thing-\d+ \| ID: \d+ \| before: none \| after: allow none, deny \S+$/m,
	},
};
