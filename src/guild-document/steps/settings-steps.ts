// Steps that change the settings of a guild, the permissions of @everyone, and the bot's own settings: those at once, as one
// version.

import { everyone, type Settings } from "../format/document.ts";
import { mapSettings } from "../format/fields.ts";
import { isPlaceholder } from "../match/match.ts";
import { bitsOfNames } from "../read/from-api.ts";
import type { BotSettings } from "../steps.ts";
import type { Phase, StepList } from "./step-list.ts";
import { settingsBody } from "./to-api.ts";
import { describeValue } from "./values.ts";

const ofCommunities = ["rules_channel", "public_updates_channel", "safety_alerts_channel", "preferred_locale"] as const;

/** They need channels, which are made first. */
const lateSettings: readonly string[] = ["afk_channel", "system_channel", ...ofCommunities];

/** Whether the guild is a community when the steps are done. Others do without much, which Discord ignores in requests. */
export function isCommunity({ wanted, current }: StepList): boolean {
	return wanted.settings?.community ?? current.settings?.community ?? false;
}

export const onlyCommunities =
	"only communities have this, and the guild is not one; an administrator can enable Community, or the document with settings.community";

export function addSettings(list: StepList): void {
	const { wanted, current } = list;
	const given = wanted.settings;
	if (given) {
		const edit = (phase: Phase, target: string, isOwn: (field: string) => boolean) =>
			addEdit(list, phase, Object.fromEntries(Object.entries(given).filter(([field]) => isOwn(field))), target);
		edit("settings", "settings", (field) => field !== "community" && !lateSettings.includes(field));
		const wasCommunity = current.settings?.community ?? false;
		const enables = given.community === true && !wasCommunity;
		if (enables) addCommunity(list, given);
		const foreign: readonly string[] = isCommunity(list)
			? []
			: ofCommunities.filter((field) => given[field] && given[field] !== current.settings?.[field]);
		for (const field of foreign) list.refuse(`settings.${field}`, onlyCommunities);
		const done = [...foreign, ...(enables ? ["rules_channel", "public_updates_channel"] : [])];
		edit("channel settings", "channels", (field) =>
			field === "community"
				? given.community === false && wasCommunity
				: lateSettings.includes(field) && !done.includes(field),
		);
	}
	if (wanted.everyone && current.everyone) addEveryone(list, wanted.everyone, current.everyone);
}

/** Discord requires the rules channel and the public updates channel in the same request. */
function addCommunity(list: StepList, given: Settings): void {
	const { settings } = list.current;
	const channels = {
		rules_channel: given.rules_channel ?? settings?.rules_channel,
		public_updates_channel: given.public_updates_channel ?? settings?.public_updates_channel,
	};
	if (!channels.rules_channel || !channels.public_updates_channel)
		list.refuse(
			"settings.community",
			"Discord enables Community only with a rules_channel and a public_updates_channel; add both to settings",
		);
	else addEdit(list, "community", { community: true, ...channels }, "community");
}

/** `target` makes the id of the step unique. */
function addEdit(list: StepList, phase: Phase, part: Settings, target: string): void {
	const { values, changes, isChanged } = list.compare<Settings>(list.current.settings ?? {}, part);
	if (!isChanged) return;
	const { icon: hash } = values;
	list.add(phase, {
		action: "edit",
		kind: "settings",
		name: target,
		targetId: target,
		changes,
		path: list.guildPath,
		body: settingsBody(values.community ? part : values, list.state.guild),
		picture: hash ? { field: "icon", hash } : undefined,
	});
}

function addEveryone(list: StepList, wanted: readonly string[], current: readonly string[]): void {
	const { id } = list.state.guild;
	const { changes, isChanged } = list.compare({ permissions: current }, { permissions: wanted });
	if (!isChanged) return;
	list.add("settings", {
		action: "edit",
		kind: "everyone",
		name: everyone,
		targetId: id,
		changes,
		guard: { roleIds: [id] },
		path: `${list.guildPath}/roles/${id}`,
		body: { permissions: String(bitsOfNames(wanted)) },
	});
}

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
