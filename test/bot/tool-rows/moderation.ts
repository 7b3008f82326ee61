// The rows of src/bot/tools/moderation.ts.

import { AuditLogEvent } from "discord.js";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";
import * as person from "./person.ts";
import { anyId, inGuild, memberId, newMember, type Row, type Scene } from "./scene.ts";

export const moderationRows: Record<string, Row> = {
	ban: {
		ids: {
			user_ids: {
				unknown: "Discord has no user",
				foreign: { anyWillDo: "people who are not members can be banned, too" },
			},
		},
		person: person.inGuild(["BanMembers"], person.noChannel, { below: "the member" }),
		act(scene) {
			const { guild } = scene;
			const { user } = newMember(scene, guild);
			return {
				args: { user_ids: [user.id] },
				request: `PUT /guilds/${guild.id}/bans/${user.id}`,
				done: () => guild.bans.has(user.id) && !guild.members.has(user.id),
			};
		},
		reason: AuditLogEvent.MemberBanAdd,
		needs: inGuild("BanMembers", { permission: "ManageGuild", with: { user_ids: ["1".repeat(18), "2".repeat(18)] } }),
		dryRun: /^Would ban @thing-\d+ \(ID: \d+\)\.$/m,
		refuses: [
			[{ delete_messages: "8d" }, 'delete_messages: expected a duration from 1s to 7d or "none", received "8d"'],
			[{ delete_messages: "60" }, "delete_messages: expected a duration"],
		],
	},
	unban: {
		ids: {
			user_ids: {
				unknown: "is not banned from the guild",
				foreign: {
					id: (scene) => banned(scene, scene.other).id,
					refusal: "is not banned from the guild",
					refusedBy: "Discord",
				},
			},
		},
		person: person.inGuild(["BanMembers"]),
		act(scene) {
			const { guild } = scene;
			const { id } = banned(scene, guild);
			return {
				args: { user_ids: [id] },
				request: `DELETE /guilds/${guild.id}/bans/${id}`,
				done: () => !guild.bans.has(id),
			};
		},
		dryRun: /^Would lift the ban of @thing-\d+ \(ID: \d+\)\.$/m,
		reason: AuditLogEvent.MemberBanRemove,
		needs: inGuild("BanMembers"),
	},
	get_bans: {
		ids: { after: anyId("it is a cursor") },
		person: person.inGuild(["BanMembers"]),
		ask(scene) {
			scene.guild.bans.clear();
			const { username, id } = banned(scene, scene.guild);
			return {
				args: {},
				request: `GET /guilds/${scene.guild.id}/bans`,
				answer: ["1 ban(s), by user id:", `@${username} | ID: ${id} | no reason given`],
			};
		},
		needs: inGuild("BanMembers"),
	},
	kick: {
		ids: { user_ids: memberId },
		person: person.inGuild(["KickMembers"], person.noChannel, { below: "the member" }),
		act(scene) {
			const { guild } = scene;
			const { user } = newMember(scene, guild);
			return {
				args: { user_ids: [user.id] },
				request: `DELETE /guilds/${guild.id}/members/${user.id}`,
				done: () => !guild.members.has(user.id),
			};
		},
		reason: AuditLogEvent.MemberKick,
		needs: inGuild("KickMembers"),
		dryRun: /^Would kick @thing-\d+ \(ID: \d+\), who has 0 role\(s\)\.$/m,
	},
};

function banned(scene: Scene, guild: Guild) {
	const { user } = newMember(scene, guild);
	scene.world.simulator.world.bans.add(guild, user);
	return user;
}
