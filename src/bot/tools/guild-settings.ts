// Editing a guild's settings; incident actions: pausing invites and direct messages during a raid.

import { type APIGuild, type Guild, Locale, type RESTPutAPIGuildIncidentActionsResult, Routes } from "discord.js";
import * as v from "valibot";
import { nowIs, time } from "../../discord/describe.ts";
import { channelOrNone } from "../../discord/find.ts";
import { oneField } from "../../discord/text.ts";
import { isHidden } from "../../discord/visible-channels.ts";
import { afkTimeouts, levels, noticeFlags } from "../../guild-document/names/setting-names.ts";
import { durationText } from "../../lib/times.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { listedAs } from "../../mcp/json-schema.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import {
	changesOf,
	choice,
	durationOf,
	flag,
	guild_id,
	instant,
	reason,
	snowflakeOrEmpty,
	text,
} from "../tool/arguments/arguments.ts";
import { nameOfId } from "../tool/arguments/names.ts";
import { editTool } from "../tool/define.ts";

const communitySettings = [
	"rules_channel_id",
	"public_updates_channel_id",
	"safety_alerts_channel_id",
	"preferred_locale",
] as const;

const level = (field: keyof typeof levels, description: string) =>
	v.optional(choice<string>(levels[field], description));
const channel = (what: string) => v.optional({ ...snowflakeOrEmpty(`${what}; "" for none.`), find: channelOrNone });
const communityChannel = v.optional({ ...snowflakeOrEmpty("Communities."), find: channelOrNone });

export const editGuild = editTool({
	name: "edit_guild",
	toolset: "guild",
	title: "Edit a guild",
	description: "Change settings of a guild.",
	lock: "guild_id",
	permissions: ["ManageGuild"],
	input: {
		guild_id,
		name: v.optional(text(2, 100, "New name.")),
		description: v.optional(text(0, 300, "Shown in discovery.")),
		verification_level: level("verification_level", "Needed to write."),
		default_message_notifications: level("default_message_notifications", "Members' default."),
		afk_channel_id: channel("Voice channel"),
		afk_timeout: v.optional(durationOf(afkTimeouts, `One of ${afkTimeouts.join(", ")}.`)),
		system_channel_id: channel("For joins and boosts"),
		rules_channel_id: communityChannel,
		public_updates_channel_id: communityChannel,
		safety_alerts_channel_id: communityChannel,
		preferred_locale: v.optional(
			v.pipe(choice(Object.values(Locale), "Communities."), listedAs({ type: "string", description: "Communities." })),
		),
		premium_progress_bar_enabled: flag("Show boosts."),
		reason,
	},
	destructive({ verification_level: level }, { guild }) {
		const names: readonly (string | undefined)[] = levels.verification_level;
		const isRaised = names.indexOf(level) > guild.verificationLevel;
		return isRaised ? "raises what members need before they can write" : undefined;
	},
	async run(args, { guild }) {
		const route = Routes.guild(guild.id);
		const current = (await guild.client.rest.get(route)) as APIGuild;
		const before = settingsOf(current);
		const fields = Object.keys(before) as (keyof Settings)[];
		const changes = changesOf(before, args, `the guild ${guild.id}`);
		requireCommunity(current, changes);
		const edited = (await guild.client.rest.patch(route, { body: toBody(changes) })) as APIGuild;
		const after = settingsOf(edited);
		const changed = fields.filter((field) => before[field] !== after[field]);
		return [
			`Changed ${changed.length} setting(s) of the guild ${oneField(edited.name)} (ID: ${guild.id}):`,
			...changed.map((field) => {
				const format = (settings: Settings) => formatSetting(guild, field, settings[field]);
				return `${field}: ${format(before)} → ${format(after)}`;
			}),
		];
	},
});

type Settings = ReturnType<typeof settingsOf>;

function settingsOf(guild: APIGuild) {
	const nameOf = (field: keyof typeof levels) => levels[field][guild[field]] ?? String(guild[field]);
	return {
		name: guild.name,
		description: guild.description ?? "",
		verification_level: nameOf("verification_level"),
		default_message_notifications: nameOf("default_message_notifications"),
		explicit_content_filter: nameOf("explicit_content_filter"),
		afk_channel_id: guild.afk_channel_id ?? "",
		afk_timeout: guild.afk_timeout as number,
		system_channel_id: guild.system_channel_id ?? "",
		system_channel_flags: [...noticeFlags]
			.flatMap(([name, bit]) => ((guild.system_channel_flags & bit) !== 0 ? [name] : []))
			.join(", "),
		rules_channel_id: guild.rules_channel_id ?? "",
		public_updates_channel_id: guild.public_updates_channel_id ?? "",
		safety_alerts_channel_id: guild.safety_alerts_channel_id ?? "",
		preferred_locale: guild.preferred_locale as string,
		premium_progress_bar_enabled: guild.premium_progress_bar_enabled,
	};
}

/** With the names in documents; without name, description, empty settings and channels hidden from the person. */
export function settingTexts(guild: Guild, current: APIGuild): string[] {
	const { name: _, description: __, ...settings } = settingsOf(current);
	const fields = Object.keys(settings) as (keyof typeof settings)[];
	return fields
		.filter((field) => settings[field] !== "" && settings[field] != null)
		.filter((field) => !isHidden(guild, String(settings[field])))
		.map((field) => `${field}: ${formatSetting(guild, field, settings[field])}`);
}

function toBody(changes: Partial<Settings>): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(changes).map(([field, value]) => {
			if (field in levels) {
				const names: readonly string[] = levels[field as keyof typeof levels];
				return [field, names.indexOf(String(value))];
			}
			return [field, value === "" ? null : value];
		}),
	);
}

function requireCommunity({ id, features }: APIGuild, changes: Partial<Settings>): void {
	if (features.some((feature) => feature === "COMMUNITY")) return;
	const refused = communitySettings.filter((field) => field in changes);
	if (refused.length === 0) return;
	throw new ToolError(
		`Only communities have the setting ${refused.join(", ")}, and the guild ${id} is not a community. An administrator can enable Community in Discord's server settings. Nothing was done.`,
	);
}

function formatSetting(guild: Guild, field: keyof Settings, value: string | number | boolean): string {
	if (value === "") return "none";
	if (field.endsWith("_channel_id")) return nameOfId(guild, String(value));
	if (typeof value === "number") return durationText(value);
	const isText = field === "name" || field === "description";
	return isText ? `"${oneField(String(value))}"` : String(value);
}

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
