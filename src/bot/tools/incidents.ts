// What a guild that is raided switches off for a while.

import {
	type APIGuild,
	type RESTPutAPIGuildIncidentActionsResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters } from "../../mcp/tool.ts";
import { time } from "../discord/describe.ts";
import { oneField } from "../discord/text.ts";
import { guild_id, instantOrNone } from "../tool/arguments.ts";
import { tool } from "../tool/define.ts";
import { changesOf } from "../tool/diff.ts";

const longestMs = 24 * 60 * 60 * 1000;

/** Until when; empty for what is not switched off. */
interface Incidents {
	invites_disabled_until: string;
	dms_disabled_until: string;
}

export const setIncidentActions = tool({
	name: "set_incident_actions",
	toolset: "guild",
	title: "Pause invites and private messages",
	description:
		"During a raid: let nobody join by invite, or members write to each other privately, for at most 24 h.",
	effect: "write",
	idempotent: true,
	lock: "guild_id",
	permissions: ["ManageGuild"],
	input: v.strictObject({
		guild_id,
		invites_disabled_until: v.optional(instantOrNone("No invites until")),
		dms_disabled_until: v.optional(instantOrNone("No messages until")),
	}),
	async run(
		{ invites_disabled_until, dms_disabled_until },
		{ guild, discord },
	) {
		const asked = { invites_disabled_until, dms_disabled_until };
		requireSoon(asked);
		const now = (await discord.rest.get(Routes.guild(guild.id))) as APIGuild;
		const before = incidentsOf(now.incidents_data);
		const name = `${oneField(now.name)} (ID: ${guild.id})`;
		const after = { ...before, ...changesOf(before, asked, name) };
		const set = (await discord.rest.put(Routes.guildIncidentActions(guild.id), {
			body: {
				invites_disabled_until: after.invites_disabled_until || null,
				dms_disabled_until: after.dms_disabled_until || null,
			},
		})) as RESTPutAPIGuildIncidentActionsResult;
		const { invites_disabled_until: invites, dms_disabled_until: messages } =
			incidentsOf(set);
		return [
			`In ${name}, times in UTC:`,
			`Invites: ${invites ? `paused until ${time(new Date(invites))}` : "open"}`,
			`Private messages between members: ${messages ? `paused until ${time(new Date(messages))}` : "open"}`,
		];
	},
});

/** What is switched off still. */
function incidentsOf(data: APIGuild["incidents_data"]): Incidents {
	const still = (until: string | null | undefined) =>
		until && Date.parse(until) > Date.now()
			? new Date(until).toISOString()
			: "";
	return {
		invites_disabled_until: still(data?.invites_disabled_until),
		dms_disabled_until: still(data?.dms_disabled_until),
	};
}

/** Throws an RpcError for times that are over, and for those that are too far away. */
function requireSoon(
	asked: {
		[Field in keyof Incidents]: string | undefined;
	},
): void {
	const now = Date.now();
	const faults = Object.entries(asked).flatMap(([field, until]) => {
		const ms = until ? Date.parse(until) - now : 1;
		return ms > 0 && ms <= longestMs
			? []
			: [
					`${field}: expected a time in the next 24 h, received ${until}; it is ${time(now)} now`,
				];
	});
	if (faults.length > 0) throw invalidParameters(faults);
}
