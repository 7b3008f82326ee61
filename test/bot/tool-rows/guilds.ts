// The rows of src/bot/tools/guilds.ts.

import { AuditLogEvent } from "discord.js";
import * as person from "./person.ts";
import { channelId, freshName, inGuild, type Row, voiceChannelId } from "./scene.ts";

export const guildsRows: Record<string, Row> = {
	list_guilds: {
		ids: {},
		person: person.anyMember(),
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
		person: person.inGuild(["ManageGuild"], { argument: "system_channel_id" }),
		act({ guild }) {
			const name = freshName();
			return { args: { name }, request: `PATCH /guilds/${guild.id}`, done: () => guild.name === name };
		},
		reason: AuditLogEvent.GuildUpdate,
		needs: inGuild("ManageGuild"),
		effects: () => ({
			write: [{ afk_timeout: "15m" }],
			destructive: [["raises what members need", { verification_level: "VERY_HIGH" }]],
		}),
		refuses: [
			[{ name: undefined }, "expected at least one of these"],
			[{ afk_timeout: "100s" }, "afk_timeout: expected one of 1m, 5m"],
		],
	},
	get_guild_info: {
		ids: {},
		person: person.anyMember({
			leavesOut({ world, guild }, hidden) {
				const { guilds } = world.simulator.world;
				guilds.edit(guild, { system_channel_id: hidden.id });
				return { args: {}, secrets: [hidden.id] };
			},
		}),
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
