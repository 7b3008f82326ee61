// The rows of src/bot/tools/guilds.ts.

import { AuditLogEvent } from "discord.js";
import { channelId, freshName, inGuild, type Row, voiceChannelId } from "./scene.ts";

export const guildsRows: Record<string, Row> = {
	list_guilds: {
		ids: {},
		args: () => ({}),
		answer: ({ guild, other }) => ["2 guild(s):", `${guild.name} | ID: ${guild.id}`, `${other.name} | ID: ${other.id}`],
	},
	edit_guild: {
		ids: {
			afk_channel_id: voiceChannelId,
			system_channel_id: channelId,
			rules_channel_id: channelId,
			public_updates_channel_id: channelId,
			safety_alerts_channel_id: channelId,
		},
		act({ guild }) {
			const name = freshName();
			return { args: { name }, request: `PATCH /guilds/${guild.id}`, done: () => guild.name === name };
		},
		reason: AuditLogEvent.GuildUpdate,
		needs: inGuild("ManageGuild"),
	},
	get_guild_info: {
		ids: {},
		ask: ({ guild }) => ({
			args: {},
			request: `GET /guilds/${guild.id}`,
			answer: [
				`${guild.name} (ID: ${guild.id})`,
				`members: ${guild.members.size}, `,
				`about ${guild.members.size} online`,
				`channels: ${guild.channels.size} (`,
				`roles: ${guild.roles.size}`,
			],
		}),
		needs: "no permission",
	},
};
