// The titles of tools and the reasons why a call counts as destructive, as people read them.

import { titleOf, withTitles } from "../../discord/permissions.ts";
import { inlineText } from "../../discord/text.ts";
import { inList, type Said, said, type Text, type TextKey, textsOf } from "../../texts/texts.ts";

const english = textsOf("en");

/** `listed`: the English title, for a tool without a message. */
export function toolTitle(name: string, listed: unknown = name): Text {
	const key = `tool.${name}` as TextKey;
	return Object.hasOwn(english, key) ? ({ key, values: {} } satisfies Said) : String(listed);
}

const role = String.raw`@.* \(ID: (\d+)\)`;
const bits = "([A-Z_, ]+)";
const where = String.raw`(?: in .* \(ID: (\d+)\))?`;

/** For the texts that `Needs.destructive` returns. */
const reasons: readonly [RegExp, (...matched: string[]) => Said][] = [
	[new RegExp(`^gives a role ${bits}$`), (permissions) => said("destructive.new_role", { permissions })],
	[
		new RegExp(`^gives ${role} ${bits}$`),
		(id, permissions) => said("destructive.role", { role: `<@&${id}>`, permissions }),
	],
	[
		new RegExp(`^takes ${bits} from ${role}$`),
		(permissions, id) => said("destructive.takes", { role: `<@&${id}>`, permissions }),
	],
	[new RegExp(`^places a role above ${role}$`), (id) => said("destructive.above", { role: `<@&${id}>` })],
	[new RegExp(`^changes which roles rank below ${role}$`), (id) => said("destructive.order", { role: `<@&${id}>` })],
	[/^silences @everyone in all channels$/, () => said("destructive.silences_all")],
	[/^silences @everyone in several channels$/, () => said("destructive.silences")],
	[new RegExp(`^allows ${bits} in the channel$`), (permissions) => said("destructive.channel", { permissions })],
	[/^replaces the channel's (.+)$/, (names) => said("destructive.replaces", { names })],
	[/^replaces the permissions of the channels by/, () => said("destructive.synchronises")],
	[/^raises what members need/, () => said("destructive.verification")],
	[
		new RegExp(`^gives ${bits}${where} to those who join by it$`),
		(permissions, id) => given("destructive.invite", permissions, id),
	],
	[
		new RegExp(`^gives ${bits}${where} to those who use it$`),
		(permissions, id) => given("destructive.menu", permissions, id),
	],
	[/^gives access to channels that the bot does not see/, () => said("destructive.unseen")],
	[/^replaces what a message says$/, () => said("destructive.message")],
	[/^may set off the rule "(.+)"$/, (rule) => said("destructive.rule", { rule: inlineText(rule, 200) })],
	[/^blocks messages or members by words/, () => said("destructive.words")],
	[/^blocks messages with (\d+) mentions$/, (count) => said("destructive.mentions", { count: Number(count) })],
	[/^pauses direct messages between all members$/, () => said("destructive.direct_messages")],
	[/^carries out the plan$/, () => said("destructive.plan")],
	[/^ends the event for good$/, () => said("destructive.event")],
];

function given(key: "destructive.invite" | "destructive.menu", bitNames: string, channelId: string | undefined): Said {
	const permissions = inList(bitNames.split(", ").map(titleOf));
	return said(key, {
		permissions: channelId ? said("destructive.there", { permissions, where: `<#${channelId}>` }) : permissions,
	});
}

/** `why`: what follows "it". */
export function saidDestructive(why: string): Said {
	for (const [form, reason] of reasons) {
		const [matched, ...values] = form.exec(why) ?? [];
		if (matched !== undefined) return said("destructive", { why: withTitles(reason(...values)) });
	}
	return said("destructive", { why: said("refusal.reason", { text: inlineText(why, 300) }) });
}
