// Incident actions: pausing invites and direct messages during a raid.

import { type APIGuild, type RESTPutAPIGuildIncidentActionsResult, Routes } from "discord.js";
import * as v from "valibot";
import { nowIs, time } from "../../discord/describe.ts";
import { oneField } from "../../discord/text.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { guild_id, instant } from "../tool/arguments/arguments.ts";
import { changesOf } from "../tool/arguments/diff.ts";
import { editTool } from "../tool/define.ts";

const maxPauseMs = 24 * 60 * 60 * 1000;

export const setIncidentActions = editTool({
	name: "set_incident_actions",
	toolset: "guild",
	title: "Pause invites and DMs",
	description: "During a raid: pause invites, or direct messages between members, for at most 24 h.",
	lock: "guild_id",
	permissions: ["ManageGuild"],
	input: {
		guild_id,
		invites_disabled_until: v.optional(instant("No invites until", true)),
		dms_disabled_until: v.optional(instant("No DMs until", true)),
	},
	destructive: ({ dms_disabled_until }) =>
		dms_disabled_until ? "pauses direct messages between all members" : undefined,
	async run({ guild_id: _, ...requested }, { guild, discord }) {
		requireNextDay(requested);
		const now = (await discord.rest.get(Routes.guild(guild.id))) as APIGuild;
		const before = incidentsOf(now.incidents_data);
		const name = `${oneField(now.name)} (ID: ${guild.id})`;
		const after = { ...before, ...changesOf(before, requested, name) };
		const set = (await discord.rest.put(Routes.guildIncidentActions(guild.id), {
			body: {
				invites_disabled_until: after.invites_disabled_until || null,
				dms_disabled_until: after.dms_disabled_until || null,
			},
		})) as RESTPutAPIGuildIncidentActionsResult;
		const { invites_disabled_until: invites, dms_disabled_until: messages } = incidentsOf(set);
		return [
			`In ${name}, times in UTC, ${nowIs()}:`,
			`Invites: ${invites ? `paused until ${time(new Date(invites))}` : "open"}`,
			`Direct messages between members: ${messages ? `paused until ${time(new Date(messages))}` : "open"}`,
		];
	},
});

/** Returns until when a guild's invites and direct messages are paused. Pauses that have ended are omitted. */
export function incidentsOf(data: APIGuild["incidents_data"]) {
	const ifActive = (until: string | null | undefined) =>
		until && Date.parse(until) > Date.now() ? new Date(until).toISOString() : "";
	return {
		invites_disabled_until: ifActive(data?.invites_disabled_until),
		dms_disabled_until: ifActive(data?.dms_disabled_until),
	};
}

function requireNextDay(times: Record<string, string | undefined>): void {
	const now = Date.now();
	const issues = Object.entries(times)
		.filter(([, until]) => {
			const ms = until ? Date.parse(until) - now : 1;
			return ms <= 0 || ms > maxPauseMs;
		})
		.map(([field, until]) => `${field}: expected a time in the next 24 h, received ${until}; now it is ${time(now)}`);
	if (issues.length > 0) throw invalidParameters(issues);
}
