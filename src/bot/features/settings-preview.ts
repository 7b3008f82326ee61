// What settings do, as people would see it: the messages are made by what makes the real ones, about the bot itself.

import type { APIEmbed, EmbedBuilder, Guild } from "discord.js";
import { type MenuRow, menuComponents } from "../../discord/role-menu.ts";
import { isPublic } from "../../discord/visible-channels.ts";
import { inList, languageOf, render, said, sayIn } from "../../texts/texts.ts";
import { slashName } from "../commands/command-texts.ts";
import type { EscalationRule } from "../config/escalation.ts";
import { toCase, toRow } from "../moderation/cases/case.ts";
import { entryOf, saidAction } from "../moderation/cases/case-text.ts";
import { hasAppeal, noticeText } from "../moderation/cases/tell.ts";
import { createEmbed } from "../moderation/moderation-log.ts";
import { suggestionOf } from "../moderation/raid/raid.ts";
import { newEntry } from "../moderation/reports/report-entry.ts";
import { reservedRoles, whyNotTakeable } from "../moderation/role-menus/choice.ts";
import { newIncident } from "../moderation/spam/incident.ts";
import { messageOf } from "../moderation/spam/log-entry.ts";
import { duration } from "../results/result.ts";
import type { SettingKey, Values } from "../settings/keys.ts";
import type { ReportRow } from "../store/tables/reports.ts";
import { fixedGreeting } from "./greeting.ts";

/** In the language of the person who sets it, and in the guild's (`there`). */
function exampleOf(guild: Guild, values: Values, locale: string) {
	const there = languageOf(guild.preferredLocale);
	const reason = render(said("settings.preview.reason"), there);
	const { user } = guild.client;
	return { guild, values, locale, say: sayIn(locale), there, reason, user, now: Date.now() };
}

type Example = ReturnType<typeof exampleOf>;

interface Preview {
	lines?: readonly string[];
	/** The channel in which staff read the rest. */
	where?: string | undefined;
	embeds?: readonly (APIEmbed | EmbedBuilder)[];
	components?: readonly MenuRow[];
}

/** Of a step. The one without keys is about role menus. */
export function previewOf(guild: Guild, values: Values, keys: readonly SettingKey[], locale: string) {
	const example = exampleOf(guild, values, locale);
	const { say } = example;
	const [key = ""] = keys.filter((one) => one in previews);
	const { lines = [], embeds = [], components = [], ...more } = (previews[key as SettingKey] ?? roleMenu)(example);
	return {
		lines: [
			...(key === "" || values[key as SettingKey] ? [] : [say("settings.preview.off")]),
			...lines,
			...("where" in more ? [say("settings.preview.staff", { where: channelOf(more.where) })] : []),
		],
		embeds,
		components: components.map((row) => ({
			...row,
			components: row.components.map((one) => ({ ...one, disabled: true })),
		})),
	};
}

const channelOf = (id: string | undefined) => (id === undefined ? "#…" : `<#${id}>`);
const roleOf = (id: string | undefined) => (id === undefined ? "@…" : `<@&${id}>`);
const quoted = (text: string) => text.split("\n").map((line) => `> ${line}`);

const previews: Partial<Record<SettingKey, (example: Example) => Preview>> = {
	"welcome.channel": ({ guild, user, values: { "welcome.channel": id, "welcome.message": message }, say }) => ({
		lines: [say("settings.preview", { where: channelOf(id) }), ...quoted(fixedGreeting(guild, user.id, message))],
	}),
	"join_role.role": ({ values, say }) => ({
		lines: [say("settings.preview.join_role", { role: roleOf(values["join_role.role"]) })],
	}),
	"auto_role.to_role": ({ values, locale, say }) => {
		const { "auto_role.from_role": from, "auto_role.min_age": age, "auto_role.min_messages": count } = values;
		const needed = [age ? duration(age) : [], count ? said("count.messages", { count }) : []].flat();
		const type = values["auto_role.require_all"] ? "conjunction" : "disjunction";
		const list = new Intl.ListFormat(languageOf(locale), { type });
		const after = list.format(needed.map((one) => render(one, languageOf(locale)))) || "…";
		const key = from === undefined ? "settings.preview.auto_role" : "settings.preview.next_role";
		return { lines: [say(key, { after, role: roleOf(values["auto_role.to_role"]), from: roleOf(from) })] };
	},
	"moderation.log_channel": ({ guild, user, now, values, there, reason }) => {
		const { "moderation.log_channel": where, "moderation.tell": tell } = values;
		const told = tell.includes("warn") ? ("yes" as const) : undefined;
		const warning = { action: "warn", moderatorId: guild.ownerId, userId: user.id, reason, told } as const;
		const one = toCase({ guild_id: guild.id, number: 1, ...toRow(warning, now) });
		const channel = guild.channels.cache.get(where ?? "");
		const isOpen = channel !== undefined && isPublic(channel);
		return { where, embeds: [createEmbed(entryOf(one), { at: new Date(now), isOpen, language: there, copies: "" })] };
	},
	"moderation.reports": ({ guild, user, now, values: { "moderation.reports": where }, there, reason }) => {
		const about = { author_id: user.id, author_kind: "person", channel_id: null, message_id: null } as const;
		const row = { ...about, number: 1, created_at: now, state: "open", acts: "[]", post_at: null } as ReportRow;
		const reporters = [{ user_id: guild.ownerId, at: now, reason }];
		const report = { row, reporters, total: 1, records: [], earlier: undefined };
		const { embeds, components } = newEntry(report, undefined, { language: there });
		return { where, embeds, components };
	},
	"moderation.tell": ({ guild, now, values, say, reason }) => {
		const { "moderation.tell": tell, "moderation.appeal": appeal, "moderation.escalate": rules } = values;
		const action = tell.find((one) => one !== "spam");
		const lines = rules.map((rule) => say("settings.preview.rule", partsOf(rule)));
		if (action === undefined) return { lines };
		const endsAt = action === "timeout" || action === "temp_ban" ? now + 86_400_000 : undefined;
		const text = noticeText(guild, { action, reason, endsAt }, hasAppeal(action) ? appeal : undefined);
		return { lines: [say("settings.preview.told", { action: saidAction(action) }), ...quoted(text), ...lines] };
	},
	"spam.on": ({ guild, now, values, say, there }) => {
		const { "spam.times": times, "spam.honeypots": honeypots, "spam.dry": isDry, "moderation.tell": tell } = values;
		const same = (count: number, channels: number) =>
			said("spam.rule.text", {
				times: said("spam.times", { count }),
				channels: said("spam.channels", { count: channels }),
			});
		const count = Math.min(values["spam.channels"], times);
		const rule = same(count, count);
		const rules = inList([...(honeypots.length > 0 ? [said("spam.rule.honeypot")] : []), rule, same(times, 1)]);
		const found = { guildId: guild.id, id: "0", userId: guild.client.user.id, rule, detectedAt: now, isDry };
		const incident = newIncident({ ...found, until: now + values["spam.timeout"] });
		const messages = new Map(Array.from({ length: count }, (_, at) => [String(at), String(at)]));
		const told = tell.includes("spam") ? ("yes" as const) : undefined;
		return {
			lines: [say("settings.preview.spam", { rules, time: duration(values["spam.window"]) })],
			where: values["moderation.log_channel"],
			...messageOf({ ...incident, messages, told, caseNumber: 1 }, sayIn(there)),
		};
	},
	"moderation.raid": ({ values: { "moderation.raid": rate, "moderation.log_channel": where }, there }) => ({
		where,
		...suggestionOf(rate ?? { joins: 20, windowMs: 60_000 }, sayIn(there)),
	}),
	"may.warn": ({ say }) => ({ lines: [say("settings.preview.may")] }),
};

/** Such as "3 × Warning within 30 days: Timeout of 1 day". */
function partsOf({ count: number, actions: [first = "warn"], windowMs, action, durationMs }: EscalationRule) {
	const done = saidAction(action === "ban" && durationMs !== undefined ? "temp_ban" : action);
	const limited = durationMs && said("settings.preview.for", { action: done, time: duration(durationMs) });
	return { number, counted: saidAction(first), time: duration(windowMs), action: limited || done };
}

/** With roles of the guild that a menu can have. */
function roleMenu({ guild, values, locale, say, there }: Example): Preview {
	const reserved = reservedRoles({ of: () => values });
	const roles = [...guild.roles.cache.values()].filter((role) => !whyNotTakeable(guild, role, reserved)).slice(0, 5);
	const entries = roles.map(({ id, name }) => ({ roleId: id, label: name.slice(0, 80), isNamed: true }));
	const shown = entries.length > 0 ? entries : [{ roleId: guild.id, label: "@…", isNamed: false }];
	return {
		lines: [
			say("settings.preview.menu", { command: slashName(["rolemenu"], locale) }),
			...quoted(sayIn(there)("menu.content")),
		],
		components: menuComponents("buttons", shown, { max: undefined, requires: undefined }, sayIn(there)),
	};
}
