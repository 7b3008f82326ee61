// A guild's audit log, newest first.
// https://discord.com/developers/docs/resources/audit-log#get-guild-audit-log; target_id is only in the OpenAPI document:
// https://github.com/discord/discord-api-spec

import { compareIds } from "../../../guild-document/names/ids.ts";
import { serializeWebhook } from "../../world/guilds/webhooks.ts";
import { thread } from "../../world/state/serialize.ts";
import { timeOf } from "../../world/state/snowflake.ts";
import { integer, snowflake } from "../fields/fields.ts";
import { route } from "../route.ts";

const keptMs = 45 * 24 * 60 * 60_000;

export const auditLogRoutes = [
	route("GET /guilds/:guild_id/audit-logs", {
		needs: "ViewAuditLog",
		query: {
			user_id: snowflake,
			target_id: snowflake,
			action_type: integer(1, 1000),
			before: snowflake,
			after: snowflake,
			limit: integer(1, 100),
		},
		run: (call) => {
			const { user_id, target_id, action_type, before, after, limit = 50 } = call.query;
			const oldest = Date.now() - keptMs;
			const { guild, actor } = call;
			const fitting = guild.auditLog
				.filter(({ id }) => timeOf(id) >= oldest)
				.filter((entry) => !user_id || entry.user_id === user_id)
				.filter((entry) => !target_id || entry.target_id === target_id)
				.filter((entry) => !action_type || entry.action_type === action_type)
				.filter(({ id }) => !before || compareIds(id, before) < 0)
				.filter(({ id }) => !after || compareIds(id, after) > 0);
			// With `after` the log is read oldest first.
			const entries = after ? fitting.slice(0, limit) : fitting.slice(-limit).reverse();
			const { users, webhooks, scheduledEvents, autoModeration } = call.world;
			const mentioned = new Set(entries.flatMap(({ user_id, target_id }) => [user_id, target_id]));
			const isMentioned = ({ id }: { id: string }) => mentioned.has(id);
			return {
				audit_log_entries: entries,
				users: [...mentioned].flatMap((id) => users.get(id ?? "") ?? []),
				webhooks: webhooks
					.list({ guild_id: guild.id })
					.filter(isMentioned)
					.map((one) => serializeWebhook(one, actor)),
				threads: [...guild.threads.values()].filter(isMentioned).map((one) => thread(one, actor.user.id)),
				auto_moderation_rules: autoModeration.in(guild).filter(isMentioned),
				guild_scheduled_events: scheduledEvents
					.in(guild)
					.filter(isMentioned)
					.map((one) => scheduledEvents.serialize(one)),
				application_commands: [],
				integrations: [],
			};
		},
	}),
];
