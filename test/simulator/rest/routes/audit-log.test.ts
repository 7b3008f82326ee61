// The audit log: what each creation leaves there, and its filters.

import { expect } from "bun:test";
import { type APIAuditLog, AuditLogEvent, Routes } from "discord.js";
import { testWith } from "../../support.ts";

const test = testWith();

const pixel =
	"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const creations = (guildId: string, channelId: string) =>
	[
		[AuditLogEvent.ChannelCreate, Routes.guildChannels(guildId), { name: "recipes" }],
		[AuditLogEvent.RoleCreate, Routes.guildRoles(guildId), { name: "Cook" }],
		[AuditLogEvent.EmojiCreate, Routes.guildEmojis(guildId), { name: "soup", image: pixel }],
		[AuditLogEvent.WebhookCreate, Routes.channelWebhooks(channelId), { name: "News" }],
		[
			AuditLogEvent.GuildScheduledEventCreate,
			Routes.guildScheduledEvents(guildId),
			{
				name: "Dinner",
				privacy_level: 2,
				entity_type: 3,
				entity_metadata: { location: "Kitchen" },
				scheduled_start_time: "2999-01-01T18:00:00Z",
				scheduled_end_time: "2999-01-01T20:00:00Z",
			},
		],
		[
			AuditLogEvent.AutoModerationRuleCreate,
			Routes.guildAutoModerationRules(guildId),
			{
				name: "No spam",
				event_type: 1,
				trigger_type: 1,
				trigger_metadata: { keyword_filter: ["spam"] },
				actions: [{ type: 1 }],
			},
		],
	] as const;

test("each creation is found by its author and kind, with its target, name and reason", async (given) => {
	const { guild, channel, alpha, as, user } = given;
	const ada = as("ada");
	const find = async (query: string) => {
		const route = `${Routes.guildAuditLog(guild.id)}?${query}`;
		return (await alpha("GET", route)).json<APIAuditLog>().audit_log_entries;
	};
	const [bot, owner] = [user("alpha").id, user("ada").id];
	for (const [type, route, body] of creations(guild.id, channel.id)) {
		const create = async (by: typeof ada, reason: string) => {
			const headers = { "x-audit-log-reason": encodeURIComponent(reason) };
			return (await by("POST", route, body, headers)).json<{ id: string }>().id;
		};
		const other = await create(ada, "before");
		const made = await create(alpha, "plan 7 · étape 3");
		const mine = await find(`user_id=${bot}&action_type=${type}`);
		expect(mine).toMatchObject([{ action_type: type, target_id: made, user_id: bot, reason: "plan 7 · étape 3" }]);
		expect(mine[0]?.changes).toContainEqual({ key: "name", new_value: body.name } as never);
		const of = async (query: string) => (await find(query)).map(({ target_id }) => target_id);
		expect(await of(`action_type=${type}`)).toEqual([made, other]);
		expect(await of(`action_type=${type}&user_id=${owner}`)).toEqual([other]);
	}
	expect(await find(`user_id=${bot}`)).toHaveLength(6);
	expect(await find("action_type=1")).toEqual([]);
});
