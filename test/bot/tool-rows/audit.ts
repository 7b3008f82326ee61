// The rows of src/bot/tools/tool-calls.ts and audit-log.ts.

import * as person from "./person.ts";
import { anyId, freshName, inGuild, type Row } from "./scene.ts";

export const auditRows: Record<string, Row> = {
	list_recent_tool_calls: {
		ids: {},
		person: person.botManager,
		args: () => ({ before: "2000-01-01T00:00:00Z" }),
		answer: () => ["No recorded tool call matches."],
	},
	get_audit_log: {
		ids: { user_ids: anyId("who did nothing is not found"), target_ids: anyId("nothing was done to it") },
		person: person.inGuild(["ViewAuditLog"], {
			leavesOut({ world, guild }, hidden) {
				const { channels } = world.simulator.world;
				channels.edit(hidden, { topic: "for few" }, { actor: guild.owner_id });
				return { args: {}, secrets: [hidden.id, hidden.name, "for few"] };
			},
		}),
		ask({ world, guild }) {
			const { simulator } = world;
			const ada = simulator.user("ada").id;
			const name = freshName();
			guild.auditLog.length = 0;
			const role = simulator.world.roles.add(guild, { name }, { actor: ada, reason: "spring" });
			return {
				args: {},
				request: `GET /guilds/${guild.id}/audit-logs`,
				answer: [
					"1 audit log entries in 1 line(s), newest first",
					`. By: @ada (ID: ${ada}) 1\n`,
					`| created role @${name} (ID: ${role.id})`,
					`| reason: spring`,
				],
			};
		},
		needs: inGuild("ViewAuditLog"),
		refuses: [[{ action_type: "MEMBER_BAN_AD" }, 'unknown action "MEMBER_BAN_AD"; did you mean MEMBER_BAN_ADD?']],
	},
};
