// What /settings and /setup show: one private message with a section of the guild's settings, or a step, and the components to
// change it. Made anew from the settings after every change.

import { ButtonStyle, ComponentType, type Guild, type RepliableInteraction } from "discord.js";
import { inlineText, truncate } from "../../discord/text.ts";
import { type Say, sayIn, type TextKey } from "../../texts/texts.ts";
import { modalOf } from "../commands/forms.ts";
import { scenarioNames } from "../guild-documents/rehearsals/rehearsals.ts";
import { buttonRow, pickerRow, type Row, rowOf } from "../messages/buttons.ts";
import { noMentions } from "../messages/split-message.ts";
import { openBuilder } from "../moderation/role-menus/menu-builder.ts";
import type { GuildSettings, GuildState } from "../settings/guild-settings.ts";
import { allKeys, choicesOf, kindOf, type SettingKey, sectionOf, sectionsIn } from "../settings/keys.ts";
import { defaultOf, mentionValue, problemsOf, typedLines } from "../settings/of-guild.ts";
import { previewOf } from "./settings-preview.ts";

export const settingsPrefix = "settings";

export const sectionTitle = (section: string, say: Say) =>
	say(`setting.section.${section}.label` as TextKey as "settings.title");

/** The steps of /setup: what most communities set first. One without keys is about role menus. */
const steps: readonly (readonly SettingKey[])[] = [
	["welcome.channel", "welcome.message"],
	["join_role.role"],
	["auto_role.to_role", "auto_role.min_age", "auto_role.min_messages"],
	["moderation.log_channel"],
	["moderation.reports"],
	["moderation.tell", "moderation.appeal", "moderation.escalate"],
	["spam.on", "spam.dry", "spam.honeypots"],
	["moderation.raid"],
	[],
	["may.warn", "may.timeout", "may.purge"],
];

/** A section of /settings, or a step of /setup such as "step-1". Undefined: the overview. */
export interface Page {
	name: string;
	keys: readonly SettingKey[];
	/** From 0 up, of a step. */
	step?: number;
}

const stepPrefix = "step-";

/** Of `all` keys that can be set. */
export const pageNamed = (name: string, all: readonly SettingKey[]): Page | undefined =>
	[...pagesWith(all), ...stepsWith(all)].find((page) => page.name === name);

// Of a message's five rows, the first and the last are for navigation and buttons.
const maxPickers = 3;
const maxInputs = 5;

/** A section with more pickers, or more to type, has several pages, such as "may" and "may-2". */
const pages: readonly (Page & { section: string })[] = sectionsIn(allKeys).flatMap((section) => {
	let pickers = 0;
	let typed = 0;
	const keys = allKeys.filter((key) => sectionOf(key) === section);
	const parts = Map.groupBy(keys, (key) => {
		if (isPicked(key)) pickers += 1;
		else if (kindOf(key) !== "flag") typed += 1;
		return Math.ceil(Math.max(pickers / maxPickers, typed / maxInputs, 1));
	});
	return [...parts.values()].map((part, index) => ({
		name: index === 0 ? section : `${section}-${index + 1}`,
		keys: part,
		section,
	}));
});

/** Those whose keys can all be set. A section is of one feature. */
export const pagesWith = (all: readonly SettingKey[]) =>
	pages.filter(({ keys }) => keys.every((key) => all.includes(key)));

function isPicked(key: SettingKey): boolean {
	return /^(?:choices|channels?|roles?)$/.test(kindOf(key));
}

function titleOf({ name, section }: (typeof pages)[number], say: Say): string {
	const label = sectionTitle(section, say);
	return name === section ? label : `${label} (${name.slice(section.length + 1)})`;
}

/** Of the feature of role menus, which has no key of its own. */
const menusKey: SettingKey = "moderation.raid";

const stepsWith = (all: readonly SettingKey[]) =>
	steps
		.filter((keys) => (keys.length > 0 ? keys : [menusKey]).every((key) => all.includes(key)))
		.map((keys, step) => ({ name: `${stepPrefix}${step + 1}`, keys, step }));

export const firstStep = `${stepPrefix}1`;

const maxContent = 2_000;
const maxShown = 300;
/** https://docs.discord.com/developers/components/reference#text-input */
const maxTyped = 4_000;

/** The data of a message. `note`: what was just changed, or why not. */
export function panelOf(
	guild: Guild,
	settings: GuildSettings,
	page: Page | undefined,
	{ locale, memberPermissions }: Pick<RepliableInteraction, "locale" | "memberPermissions">,
	note?: string,
) {
	const say = sayIn(locale);
	const state = settings.state(guild.id);
	const { keys } = settings;
	const lines = page
		? linesOf(guild, state, page, stepsWith(keys).length, say)
		: [`## ${say("settings.title")}`, say("settings.choose")];
	const hasPreview = page?.step !== undefined || page?.name === "welcome";
	const preview = hasPreview
		? previewOf(guild, state.values, page.keys, locale)
		: { lines: [], embeds: [], components: [] };
	const content = truncate([...(note ? [note, ""] : []), ...lines, ...preview.lines].join("\n"), maxContent);
	const components = [...preview.components, ...componentsOf(guild, state, page, keys, say)];
	if (!page && memberPermissions?.has("Administrator")) {
		const options = scenarioNames.map((value) => ({ label: say(`settings.rehearse.${value}`), value }));
		components.push(menuOf("rehearse", say("settings.rehearse"), options));
	}
	return { content, embeds: preview.embeds, components, allowedMentions: noMentions };
}

function linesOf(guild: Guild, state: GuildState, { keys, name, step }: Page, all: number, say: Say): string[] {
	const problems = problemsOf(guild, state);
	const section = pages.find((page) => page.name === name);
	const title = section ? titleOf(section, say) : say("settings.step", { number: (step ?? 0) + 1, all });
	return [
		`## ${title}`,
		...keys.flatMap((key) => [
			`**${say(`setting.${key}.label`)}**: ${shown(key, state, say)}`,
			`-# ${say(`setting.${key}`)}`,
			...problems.filter((one) => one.key === key).map(({ message }) => `⚠ ${inlineText(message, maxShown)}`),
			...((typedText(guild, state, key)?.length ?? 0) > maxTyped ? [`⚠ ${say("settings.too_long")}`] : []),
		]),
	];
}

function shown(key: SettingKey, { stored }: GuildState, say: Say): string {
	const value = stored[key];
	if (kindOf(key) === "flag") return say((value ?? defaultOf(key)) ? "setting.on" : "setting.off");
	return mentionValue(key, value ?? defaultOf(key)) ?? say("setting.unset");
}

/** At most five rows: the sections, a row for each picker, and one of buttons. */
function componentsOf(
	guild: Guild,
	state: GuildState,
	page: Page | undefined,
	keys: readonly SettingKey[],
	say: Say,
): Row[] {
	const navigation =
		page?.step === undefined ? sectionMenu(page, keys, say) : stepButtons(page.step, stepsWith(keys).length, say);
	const builder = { id: openBuilder, label: say("menu.builder.open"), style: ButtonStyle.Primary } as const;
	if (!page) return [navigation, ...(keys.includes(menusKey) ? [buttonRow([builder])] : [])];
	const pickers = page.keys.flatMap((key) => pickerOf(guild, key, state, page, say) ?? []);
	const flags = page.keys.filter((key) => kindOf(key) === "flag");
	const buttons: Parameters<typeof buttonRow>[0][number][] = flags.map((key) => {
		const isOn = Boolean(state.stored[key] ?? defaultOf(key));
		const label = `${say(`setting.${key}.label`)}: ${shown(key, state, say)}`;
		return { id: idOf("flag", page, state, key), label, style: isOn ? ButtonStyle.Success : ButtonStyle.Secondary };
	});
	if (typedKeys(guild, state, page).length > 0)
		buttons.push({ id: idOf("edit", page, state), label: say("settings.edit.button"), style: ButtonStyle.Primary });
	if (page.keys.length === 0) buttons.push(builder);
	return [navigation, ...pickers, ...(buttons.length > 0 ? [buttonRow(buttons)] : [])];
}

function sectionMenu(page: Page | undefined, keys: readonly SettingKey[], say: Say): Row {
	const all = pagesWith(keys);
	const options = all.map((one) => ({ label: titleOf(one, say), value: one.name, default: one.name === page?.name }));
	return menuOf("page", say("settings.section.placeholder"), options);
}

const menuOf = (name: string, placeholder: string, options: { label: string; value: string; default?: boolean }[]) =>
	rowOf({ type: ComponentType.StringSelect, custom_id: `${settingsPrefix}:${name}`, placeholder, options });

function stepButtons(step: number, all: number, say: Say): Row {
	const to = (index: number) => `${settingsPrefix}:step:${stepPrefix}${index + 1}`;
	const isLast = step === all - 1;
	return buttonRow([
		{ id: to(step - 1), label: say("answer.previous.button"), style: ButtonStyle.Secondary, disabled: step === 0 },
		isLast
			? { id: `${settingsPrefix}:step:done`, label: say("settings.done.button"), style: ButtonStyle.Success }
			: { id: to(step + 1), label: say("answer.next.button"), style: ButtonStyle.Primary },
	]);
}

/** The version of the settings that is shown, so that a change made meanwhile is not replaced unseen. */
function idOf(action: string, page: Page, { version }: GuildState, key = ""): string {
	return [settingsPrefix, action, page.name, version, key].join(":");
}

function pickerOf(guild: Guild, key: SettingKey, state: GuildState, page: Page, say: Say): Row | undefined {
	const kind = kindOf(key);
	const common = { custom_id: idOf("set", page, state, key), placeholder: say(`setting.${key}.label`), min_values: 0 };
	const now = [state.stored[key] ?? defaultOf(key) ?? []].flat().map(String);
	if (kind === "choices") {
		const options = choicesOf(key).map((value) => ({ label: value, value, default: now.includes(value) }));
		return rowOf({ ...common, type: ComponentType.StringSelect, max_values: options.length, options });
	}
	const max_values = kind.endsWith("s") ? 25 : 1;
	// With more, it would lose the rest.
	if (!isPicked(key) || now.length > max_values) return undefined;
	return pickerRow(guild, kind.startsWith("role") ? "role" : "channel", { ...common, max_values }, now);
}

const typedText = (guild: Guild, { stored }: GuildState, key: SettingKey) =>
	/^(?:text|lines|number|named roles)$/.test(kindOf(key)) ? typedLines(guild, stored[key]).join("\n") : undefined;

/** Those that are typed into a form, which has at most five fields. */
function typedKeys(guild: Guild, state: GuildState, { keys }: Page): readonly SettingKey[] {
	const fits = (key: SettingKey) => (typedText(guild, state, key)?.length ?? Infinity) <= maxTyped;
	return keys.filter(fits).slice(0, maxInputs);
}

export function formOf(guild: Guild, state: GuildState, page: Page, locale: string) {
	const say = sayIn(locale);
	return modalOf({
		id: idOf("form", page, state),
		title: say("settings.form"),
		locale,
		fields: typedKeys(guild, state, page).map((key) => ({
			id: key,
			label: say(`setting.${key}.label`),
			hint: truncate(say(`setting.${key}`), 100),
			isLong: kindOf(key) !== "number",
			required: false,
			max: maxTyped,
			value: typedText(guild, state, key),
		})),
	});
}

/** The JSON value of what was typed; null: the default. */
export function valueTyped(key: SettingKey, text: string): unknown {
	const trimmed = text.trim();
	if (trimmed === "") return null;
	// What is no number is refused with the key's own words.
	if (kindOf(key) === "number" && /^-?\d+$/.test(trimmed)) return Number(trimmed);
	return /^(?:number|text)$/.test(kindOf(key)) ? trimmed : trimmed.split(/\s*\n\s*/);
}
