// Which entries of the audit log become cases.

import { expect, test } from "bun:test";
import { type APIAuditLogEntry, AuditLogEvent, type Guild } from "discord.js";
import { caseOfEntry } from "../../../../src/bot/moderation/cases/by-hand.ts";

const [bot, person] = ["100000000000000001", "100000000000000002"];
const guild = {
	id: "1",
	client: { user: { id: "9" }, users: { cache: new Map([[bot, { bot: true }]]) } },
} as unknown as Guild;
const end = "2100-01-01T00:00:00.000Z";
const timeout = [{ key: "communication_disabled_until", new_value: end }];

test.each([
	["a timeout by a bot", "MemberUpdate", timeout, bot, undefined],
	["a timeout by a person", "MemberUpdate", timeout, person, "timeout"],
	["a kick by a bot", "MemberKick", [], bot, "kick"],
	["a ban by a person", "MemberBanAdd", [], person, "ban"],
] as const)(
	"near spam that this bot has found, only timeouts by bots are no cases: %s",
	async (_, action, changes, user_id, expected) => {
		const found = await caseOfEntry(async () => [{ id: "1" }] as never, guild, {
			id: "900000000000000000",
			action_type: AuditLogEvent[action],
			user_id,
			target_id: "3",
			changes: [...changes],
		} as APIAuditLogEntry);
		expect(found?.action).toBe(expected as never);
	},
);
