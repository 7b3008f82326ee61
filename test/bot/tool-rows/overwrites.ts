// The rows of src/bot/tools/overwrites.ts.

import { AuditLogEvent, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import * as person from "./person.ts";
import { channelId, inChannel, newChannel, newRole, type Row, refusedByBot, type Scene } from "./scene.ts";

const denied = String(PermissionFlagsBits.SendMessages);

function denyWriting({ world }: Scene, channel: GuildChannel, id: string) {
	world.simulator.world.channels.setOverwrite(channel, { id, type: 0, allow: "0", deny: denied });
}

export const overwritesRows: Record<string, Row> = {
	set_channel_permissions: {
		ids: {
			channel_ids: channelId,
			target_ids: refusedByBot("There is no role or member", (scene) => newRole(scene, scene.other).id),
		},
		person: person.inChannel(["ManageRoles"], { argument: "channel_ids" }, { also: ["SendMessages"] }),
		act(scene) {
			const channel = newChannel(scene);
			const role = newRole(scene, scene.guild);
			return {
				args: { channel_ids: [channel.id], target_ids: [role.id], deny: ["SEND_MESSAGES"] },
				request: `PUT /channels/${channel.id}/permissions/${role.id}`,
				done: () => channel.permission_overwrites.some(({ id, deny }) => id === role.id && deny === denied),
				channel: channel.id,
			};
		},
		reason: AuditLogEvent.ChannelOverwriteCreate,
		needs: inChannel("ManageRoles"),
		dryRun:
			/^Would change 1 overwrite\(s\) for @thing-\d+ \(ID: \d+\):\n#thing-\d+ \(ID: \d+\): @thing-\d+: SEND_MESSAGES neutral → denied$/m,
		refuses: [
			[{ deny: undefined }, "expected at least one of these without replace"],
			[{ allow: "-1" }, 'allow: Discord has no permission "-1"'],
			[{ allow: "0x400" }, 'allow: Discord has no permission "0x400"'],
			[{ deny: 1024 }, "deny: expected (Array | string)"],
			[{ deny: [1024] }, "deny: expected (Array | string)"],
			[{ allow: String(1n << 47n) }, `allow: Discord has no permission for the bits ${1n << 47n}`],
			[{ deny: "99999999999999999999" }, "deny: Discord has no permission for the bits"],
			[{ allow: ["SEND_MESAGES"] }, 'allow: Discord has no permission "SEND_MESAGES"'],
			[{ deny: ["constructor"] }, "deny: Discord has no permission"],
			[{ allow: ["SPEAK"], neutral: ["SPEAK", "CONNECT"] }, "allow, neutral: SPEAK cannot be in both of these lists"],
			[{ allow: "2099200" }, "allow, deny: SEND_MESSAGES cannot be in both of these lists"],
			[{ allow: "2048", deny: "2048", replace: true }, "allow, deny: SEND_MESSAGES cannot be in both of these lists"],
		],
	},
	list_channel_permissions: {
		ids: { channel_ids: channelId },
		person: person.inChannel(["ManageRoles"], {
			leavesOut({ world, guild }, hidden) {
				const overwrite = { id: guild.id, type: 0, allow: "0", deny: "2048" };
				world.simulator.world.channels.setOverwrite(hidden, { ...overwrite, type: 0 });
				return { args: {}, secrets: [hidden.id] };
			},
		}),
		args({ world, guild }) {
			const { id } = newChannel({ world, guild, other: guild });
			return { channel_ids: [id] };
		},
		answer: () => ["1 channel(s):", "): no overwrites"],
	},
	copy_channel_permissions: {
		ids: { channel_id: channelId, target_channel_ids: channelId },
		person: person.inChannel(
			["ManageChannels", "ManageRoles"],
			{ argument: "target_channel_ids" },
			{ also: ["SendMessages"] },
		),
		act(scene) {
			const from = newChannel(scene);
			const to = newChannel(scene);
			const { id } = newRole(scene, scene.guild);
			denyWriting(scene, from, id);
			return {
				args: { channel_id: from.id, target_channel_ids: [to.id] },
				request: `PATCH /channels/${to.id}`,
				done: () => to.permission_overwrites.some((one) => one.id === id),
				channel: to.id,
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: inChannel("ManageRoles", "ManageChannels"),
		dryRun:
			/^Would give 1 channel\(s\) the permissions of #thing-\d+ \(ID: \d+\):\n#thing-\d+ \(ID: \d+\): @thing-\d+: SEND_MESSAGES neutral → denied$/m,
	},
};
