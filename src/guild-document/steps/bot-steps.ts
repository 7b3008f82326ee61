// The step that changes the bot's own settings, all at once: one version of them.

import { mapSettings } from "../format/fields.ts";
import { isPlaceholder } from "../match/match.ts";
import type { BotSettings } from "../steps.ts";
import type { StepList } from "./step-list.ts";
import { describeValue } from "./values.ts";

export function addBot(list: StepList): void {
	const { wanted, current, ids, state } = list;
	if (!wanted.bot || !state.bot) return;
	const { keys, check } = state.bot;
	const made = new Set(ids.values());
	// What is new is checked when the step is carried out.
	const given = mapSettings(wanted.bot, keys, (id) => (made.has(id) ? `+${id}` : id));
	const checked = (values: BotSettings["stored"]) =>
		check(Object.fromEntries(Object.keys(values).map((key) => [key, given[key]])));
	const { refused } = checked(wanted.bot);
	for (const { key, message } of refused) list.refuse(`bot.${key}`, message);
	const changed = { ...wanted.bot };
	for (const { key } of refused) delete changed[key];
	if (Object.keys(changed).length === 0) return;
	const text = (value: unknown) => (value == null ? "default" : describeValue(value, list.nameOf));
	const needs: string[] = [];
	mapSettings(changed, keys, (id) => {
		needs.push(id);
		return id;
	});
	const { warnings } = checked(changed);
	list.add("bot", {
		action: "edit",
		kind: "bot",
		name: "bot",
		targetId: "bot",
		changes: Object.entries(changed).map(([key, value]) => ({
			field: key,
			before: text(current.bot?.[key]),
			after: text(value),
		})),
		note: warnings.map(({ key, message }) => `${key}: ${message}.`).join(" ") || undefined,
		path: `${list.guildPath}/bot`,
		body: changed,
		needs,
		arrange: (_, all) => mapSettings(changed, keys, (id) => (isPlaceholder(id) ? all.get(id) : id)),
	});
}
