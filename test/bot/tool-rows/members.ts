// The rows of src/bot/tools/members.ts.

import { AuditLogEvent } from "discord.js";
import * as person from "./person.ts";
import { anyId, inGuild, memberId, newMember, type Row } from "./scene.ts";

export const membersRows: Record<string, Row> = {
	list_members: {
		ids: { after: anyId("it is a cursor") },
		person: person.anyMember(),
		args: () => ({ limit: 1000 }),
		answer: ({ guild }) => [
			`${guild.members.size} of ${guild.members.size} members:`,
			...[...guild.members.keys()].map((id) => `| ID: ${id} |`),
		],
	},
	lookup_user_by_name: {
		ids: {},
		person: person.anyMember(),
		args: () => ({ query: "mona" }),
		answer: ({ world }) => ["1 match(es):", `MONA LISA (@mona_lisa) | ID: ${world.simulator.user("mona_lisa").id}`],
		refuses: [[{ query: "\u0301\u0308" }, "query: "]],
	},
	get_member: {
		ids: { user_ids: memberId },
		person: person.anyMember(),
		args: ({ guild, world }) => ({
			// In both guilds.
			user_ids: [world.simulator.user("zoe").id],
			guild_id: guild.id,
		}),
		answer: ({ guild, world }) => {
			const { id } = world.simulator.user("zoe");
			const [roleId = ""] = guild.members.get(id)?.roles ?? [];
			return [
				`Zoë 🍞 (@zoe, ID: ${id})`,
				`1 role(s), the highest first:\n@${guild.roles.get(roleId)?.name} (ID: ${roleId})`,
			];
		},
	},
	set_nickname: {
		ids: { user_ids: memberId },
		person: person.inGuild(["ManageNicknames"], person.noChannel, { below: "the member" }),
		act(scene) {
			const { guild } = scene;
			const member = newMember(scene, guild);
			return {
				args: { user_ids: [member.user.id], nickname: "Chef" },
				request: `PATCH /guilds/${guild.id}/members/${member.user.id}`,
				done: () => member.nick === "Chef",
			};
		},
		dryRun: /^Would give @thing-\d+ \(ID: \d+\) the nickname "Chef", instead of no nickname\.$/m,
		reason: AuditLogEvent.MemberUpdate,
		needs: inGuild("ManageNicknames"),
	},
};
