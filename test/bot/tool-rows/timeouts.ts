// The rows of the timeouts in src/bot/tools/moderation.ts.

import { AuditLogEvent } from "discord.js";
import * as person from "./person.ts";
import { inGuild, memberId, newMember, type Row } from "./scene.ts";

const moderate = inGuild("ModerateMembers");

export const timeoutsRows: Record<string, Row> = {
	timeout: {
		ids: { user_ids: memberId },
		person: person.inGuild(["ModerateMembers"], person.noChannel, { below: "the member" }),
		act(scene) {
			const { guild } = scene;
			const member = newMember(scene, guild);
			return {
				args: { user_ids: [member.user.id], duration: "10m" },
				request: `PATCH /guilds/${guild.id}/members/${member.user.id}`,
				done: () => member.communication_disabled_until !== null,
			};
		},
		reason: AuditLogEvent.MemberUpdate,
		needs: moderate,
		dryRun: /^Would time out @thing-\d+ \(ID: \d+\) until \S+Z; now is \S+Z\.$/m,
		refuses: [
			...["0", "0s", "-1", "-5m", "29d", "5w", "40321", "2419201s", "9999999999w", "99999999999999999999"],
			...["1.5h", "1y", "soon", "", "2020-01-01", "2099-01-01T00:00:00Z"],
		].map((duration) => [{ duration }, "duration: expected a duration of at most 28 days"]),
	},
	remove_timeout: {
		ids: { user_ids: memberId },
		person: person.inGuild(["ModerateMembers"], person.noChannel, { below: "the member" }),
		act(scene) {
			const { guild } = scene;
			const member = newMember(scene, guild);
			member.communication_disabled_until = new Date(Date.now() + 600_000).toISOString();
			return {
				args: { user_ids: [member.user.id] },
				request: `PATCH /guilds/${guild.id}/members/${member.user.id}`,
				done: () => member.communication_disabled_until === null,
			};
		},
		dryRun: /^Would end the timeout of @thing-\d+ \(ID: \d+\), which would last until \S+Z\.$/m,
		reason: AuditLogEvent.MemberUpdate,
		needs: moderate,
	},
};
