// The rows of src/bot/tools/moderation.ts.

import { AuditLogEvent } from "discord.js";
import { newMember, type Row } from "./scene.ts";

export const moderationRows: Record<string, Row> = {
	ban: {
		effect: "writes",
		ids: {
			user_id: {
				unknown: "Discord has no user",
				foreign: { anyWillDo: "people who are not members can be banned, too" },
			},
		},
		act(scene) {
			const { guild } = scene;
			const { user } = newMember(scene, guild);
			return {
				args: { user_id: user.id },
				request: `PUT /guilds/${guild.id}/bans/${user.id}`,
				done: () => guild.bans.has(user.id) && !guild.members.has(user.id),
			};
		},
		reason: AuditLogEvent.MemberBanAdd,
		needs: { permission: "BanMembers", name: "BAN_MEMBERS", in: "the guild" },
		dryRun: /^Would ban thing-\d+ \(@thing-\d+, ID: \d+\)\.$/m,
	},
};
