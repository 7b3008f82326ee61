// The rows of src/bot/tools/moderation.ts.

import { AuditLogEvent } from "discord.js";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";
import { anyId, memberId, newMember, type Row, type Scene } from "./scene.ts";

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
	unban: {
		effect: "writes",
		ids: {
			user_id: {
				unknown: "is not banned from the guild",
				foreign: {
					id: (scene) => banned(scene, scene.other).id,
					refusal: "is not banned from the guild",
					refusedBy: "Discord",
				},
			},
		},
		act(scene) {
			const { guild } = scene;
			const { id } = banned(scene, guild);
			return {
				args: { user_id: id },
				request: `DELETE /guilds/${guild.id}/bans/${id}`,
				done: () => !guild.bans.has(id),
			};
		},
		reason: AuditLogEvent.MemberBanRemove,
		needs: { permission: "BanMembers", name: "BAN_MEMBERS", in: "the guild" },
		dryRun: "not destructive",
	},
	get_bans: {
		effect: "asks",
		ids: { after: anyId("it is a place in the order of ids, and no thing") },
		ask(scene) {
			scene.guild.bans.clear();
			const { username, id } = banned(scene, scene.guild);
			return {
				args: {},
				request: `GET /guilds/${scene.guild.id}/bans`,
				answer: [
					"1 ban(s), by user id:",
					`@${username} | ID: ${id} | no reason given`,
				],
			};
		},
		needs: { permission: "BanMembers", name: "BAN_MEMBERS", in: "the guild" },
	},
	kick: {
		effect: "writes",
		ids: { user_id: memberId },
		act(scene) {
			const { guild } = scene;
			const { user } = newMember(scene, guild);
			return {
				args: { user_id: user.id },
				request: `DELETE /guilds/${guild.id}/members/${user.id}`,
				done: () => !guild.members.has(user.id),
			};
		},
		reason: AuditLogEvent.MemberKick,
		needs: { permission: "KickMembers", name: "KICK_MEMBERS", in: "the guild" },
		dryRun:
			/^Would kick thing-\d+ \(@thing-\d+, ID: \d+\), who has 0 role\(s\)\.$/m,
	},
};

function banned(scene: Scene, guild: Guild) {
	const { user } = newMember(scene, guild);
	scene.world.simulator.world.bans.add(guild, user);
	return user;
}
