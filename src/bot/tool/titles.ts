// The titles of tools and the reasons why a call counts as destructive, as people read them.

import { withTitles } from "../../discord/permissions.ts";
import { inlineText } from "../../discord/text.ts";
import { inList, type Said, said, type Text, type TextKey, type Value } from "../../texts/texts.ts";

/** `title`: the English one. */
export function toolTitle(name: string, title: unknown = name): Said {
	return { key: `tool.${name}` as TextKey, values: {}, english: String(title) };
}

const role = String.raw`@.* \(ID: (?<role>\d+)\)`;
const bits = "(?<permissions>[A-Z_, ]+)";
const there = String.raw` in .* \(ID: (?<where>\d+)\)`;

/** For the texts that `Needs.destructive` returns: each names the parameters of its message. */
const reasons: readonly [start: string, TextKey][] = [
	[`gives a role ${bits}$`, "destructive.new_role"],
	[`gives ${role} ${bits}$`, "destructive.role"],
	[`takes ${bits} from ${role}$`, "destructive.takes"],
	[`places a role above ${role}$`, "destructive.above"],
	[`changes which roles rank below ${role}$`, "destructive.order"],
	["silences @everyone in all", "destructive.silences_all"],
	["silences @everyone in several", "destructive.silences"],
	[`allows ${bits} in the channel$`, "destructive.channel"],
	["replaces the channel's (?<names>.+)$", "destructive.replaces"],
	["replaces the permissions of the channels by", "destructive.synchronises"],
	["raises what members need", "destructive.verification"],
	[`gives ${bits} to those who join by it$`, "destructive.invite"],
	[`gives ${bits}${there} to those who join by it$`, "destructive.invite.there"],
	[`gives ${bits} to those who use it$`, "destructive.menu"],
	[`gives ${bits}${there} to those who use it$`, "destructive.menu.there"],
	["gives access to channels that the bot does not see", "destructive.unseen"],
	["replaces what a message says$", "destructive.message"],
	['may set off the rule "(?<rule>.+)"$', "destructive.rule"],
	["blocks messages or members by words", "destructive.words"],
	[String.raw`blocks messages with (?<count>\d+) mentions$`, "destructive.mentions"],
	["pauses direct messages between all members$", "destructive.direct_messages"],
	["ends the event for good$", "destructive.event"],
	["carries out the plan$", "destructive.plan"],
	["changes who decides about the bot, or sees what it does \\((?<keys>.+)\\)$", "destructive.power"],
	["lets the bot punish members on its own \\((?<keys>.+)\\)$", "destructive.punishes"],
	["lets the bot give members (?<names>.+)$", "destructive.settings"],
	[String.raw`adds (?<names>.+) to (?<setting>may\.\w+)$`, "destructive.grants"],
];
const forms = reasons.map(([start, key]) => ({ key, form: new RegExp(`^${start}`) }));

/** `why`: what follows "it". */
export function saidDestructive(why: string): Said {
	return said("destructive", { why: inList(why.split(/; (?=lets |adds )/).map(saidReason)) });
}

function saidReason(why: string): Text {
	const known = forms.find(({ form }) => form.test(why));
	if (!known) return inlineText(why, 300);
	const { key, form } = known;
	const groups = Object.entries(form.exec(why)?.groups ?? {});
	const values = groups.map(([name, text]): [string, Value] => [name, parameterOf(name, text)]);
	return withTitles({ key, values: Object.fromEntries(values) });
}

function parameterOf(name: string, text: string): Value {
	if (name === "role") return `<@&${text}>`;
	if (name === "where") return `<#${text}>`;
	if (name === "permissions") return text;
	if (name === "setting") return { key: `setting.${text}.label` as TextKey, values: {} };
	return name === "count" ? Number(text) : inlineText(text, 300);
}
