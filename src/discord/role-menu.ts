// Role menus as Discord messages. The buttons or select menu of the message contain all data of the role menu: its
// roles, how many of them a member may have, and which role a member needs to use it. The bot stores nothing, so a role
// menu works as long as its message exists, even if the bot's database is lost.
// https://discord.com/developers/docs/components/reference

import {
	type APIActionRowComponent,
	type APIButtonComponent,
	type APIComponentInMessageActionRow,
	type APIMessage,
	type APIMessageComponentEmoji,
	type APISelectMenuOption,
	ButtonStyle,
	ComponentType,
} from "discord.js";
import type { Say } from "../texts/texts.ts";
import { truncate } from "./text.ts";

/** Start of the custom_id of all components of role menus. */
export const menuPrefix = "rolemenu";

/**
 * Maximum number of roles in a menu: Discord allows 5 rows of 5 buttons, and 25 options of a select menu.
 * https://discord.com/developers/docs/components/reference#action-row
 * https://discord.com/developers/docs/components/reference#string-select
 */
export const maxRoles = 25;

/** In characters. Discord allows 80 for a button, 100 for an option and for the name of a role. */
export const maxLabelLength = { buttons: 80, select: 100 } as const;

const rowSize = 5;

export type MenuStyle = keyof typeof maxLabelLength;

export interface MenuRules {
	roleIds: readonly string[];
	/** Undefined for no limit. With 1, a choice replaces the member's previous role. */
	max: number | undefined;
	/** Id of the role that members need to use the menu; undefined if everyone can use it. */
	requires: string | undefined;
}

export interface MenuEntry {
	roleId: string;
	label: string;
	/** Whether the label is the role's name. Such a label is updated when the role is renamed. */
	isNamed: boolean;
	emoji?: APIMessageComponentEmoji | undefined;
	/** Only in a select menu. */
	description?: string | undefined;
}

export type MenuRow = APIActionRowComponent<APIComponentInMessageActionRow>;

/** `entries`: at most `maxRoles`. `say`: in the language of the guild. */
export function menuComponents(
	style: MenuStyle,
	entries: readonly MenuEntry[],
	{ max, requires }: Pick<MenuRules, "max" | "requires">,
	say: Say,
): MenuRow[] {
	// The custom_id has at most 55 characters. Discord allows 100.
	const id = (last: string) => `${menuPrefix}:${max ?? 0}:${requires ?? 0}:${last}`;
	if (style === "buttons")
		return inRows(
			entries.map(({ roleId, label, isNamed, emoji }) => ({
				type: ComponentType.Button,
				style: ButtonStyle.Secondary,
				custom_id: id(entryId(roleId, isNamed)),
				label,
				...(emoji && { emoji }),
			})),
		);
	const limit = Math.min(max ?? entries.length, entries.length);
	const select: APIComponentInMessageActionRow = {
		type: ComponentType.StringSelect,
		custom_id: id("select"),
		options: entries.map(({ roleId, label, isNamed, emoji, description }) => ({
			label,
			value: entryId(roleId, isNamed),
			...(emoji && { emoji }),
			...(description && { description }),
		})),
		placeholder: placeholderFor(limit, entries.length, say),
		// A member who selects nothing loses the roles of the menu.
		min_values: 0,
		max_values: limit,
	};
	return [row([select])];
}

function placeholderFor(limit: number, all: number, say: Say): string {
	if (limit === 1) return say("menu.one.placeholder");
	return limit < all ? say("menu.some.placeholder", { count: limit }) : say("menu.all.placeholder");
}

function inRows(buttons: readonly APIButtonComponent[]): MenuRow[] {
	const rows: MenuRow[] = [];
	for (let at = 0; at < buttons.length; at += rowSize) rows.push(row(buttons.slice(at, at + rowSize)));
	return rows;
}

function row(components: APIComponentInMessageActionRow[]): MenuRow {
	return { type: ComponentType.ActionRow, components };
}

function entryId(roleId: string, isNamed: boolean): string {
	return isNamed ? `${roleId}:n` : roleId;
}

const entryPattern = /^(\d{17,20})(:n)?$/;
const customIdPattern = /^(\d{1,2}):(0|\d{17,20}):(select|\d{17,20}(?::n)?)$/;

/** From the last part of a button's custom_id or an option's value; undefined if it is not valid. */
export function roleIdIn(entry: string): string | undefined {
	return entryPattern.exec(entry)?.[1];
}

export interface MenuComponentId extends Pick<MenuRules, "max" | "requires"> {
	/** Id of the button's role; undefined for a select menu. */
	roleId: string | undefined;
}

/** Without its prefix. Undefined if the format is not valid. */
export function readMenuId(rest: string): MenuComponentId | undefined {
	const [, max, requires, last = ""] = customIdPattern.exec(rest) ?? [];
	if (max === undefined || requires === undefined) return undefined;
	return {
		max: Number(max) || undefined,
		requires: requires === "0" ? undefined : requires,
		roleId: last === "select" ? undefined : roleIdIn(last),
	};
}

type Components = APIMessage["components"];

/** Returns the rules of the role menu with these message components; undefined if they are not a role menu. */
export function readMenu(components: Components): MenuRules | undefined {
	const parts = partsOf(components);
	const [first] = parts;
	const rules = first && readPart(first);
	if (!rules) return undefined;
	const ids = parts.flatMap((part) => {
		if (part.type === ComponentType.StringSelect) return part.options.map(({ value }) => roleIdIn(value));
		return readPart(part)?.roleId;
	});
	const roleIds = [...new Set(ids.filter((id) => id !== undefined))];
	return { roleIds, max: rules.max, requires: rules.requires };
}

/** Whether a message has components and all of them belong to a role menu. */
export function isMenu(components: Components): boolean {
	const rows = components ?? [];
	return rows.length > 0 && rows.every((one) => one.type === ComponentType.ActionRow && one.components.every(isPart));
}

type Part = Extract<APIComponentInMessageActionRow, { type: ComponentType.Button | ComponentType.StringSelect }>;

function partsOf(components: Components): Part[] {
	return (components ?? [])
		.flatMap((one): readonly APIComponentInMessageActionRow[] =>
			one.type === ComponentType.ActionRow ? one.components : [],
		)
		.filter(isPart);
}

function isPart(part: APIComponentInMessageActionRow): part is Part {
	const { Button, StringSelect } = ComponentType;
	return (part.type === Button || part.type === StringSelect) && readPart(part) !== undefined;
}

function readPart(part: object): MenuComponentId | undefined {
	const { custom_id } = part as { custom_id?: string };
	return custom_id?.startsWith(`${menuPrefix}:`) ? readMenuId(custom_id.slice(menuPrefix.length + 1)) : undefined;
}

/**
 * Returns the components of a role menu with up-to-date labels. `nameOf` returns a role's current name, or undefined
 * for a role to leave out. Labels that a moderator chose are kept. Returns undefined if nothing changes or no role is
 * left.
 */
export function refreshed(
	components: Components,
	nameOf: (roleId: string) => string | undefined,
): MenuRow[] | undefined {
	if (!isMenu(components)) return undefined;
	let differs = false;
	const refresh = (entry: string, label: string | undefined, max: number) => {
		const id = roleIdIn(entry);
		const name = id && nameOf(id);
		if (name === undefined) {
			differs = true;
			return undefined;
		}
		const current = entry.endsWith(":n") ? truncate(name, max) : label;
		if (current !== label) differs = true;
		return current;
	};
	const parts = partsOf(components);
	const buttons: APIButtonComponent[] = [];
	for (const part of parts) {
		if (part.type !== ComponentType.Button || !("label" in part)) continue;
		const { custom_id } = part as { custom_id: string };
		const [, , , ...entry] = custom_id.split(":");
		const label = refresh(entry.join(":"), part.label, maxLabelLength.buttons);
		if (label !== undefined) buttons.push({ ...part, label });
	}
	const selects = parts.flatMap((part) => {
		if (part.type !== ComponentType.StringSelect) return [];
		const options = part.options.flatMap((option): APISelectMenuOption[] => {
			const label = refresh(option.value, option.label, maxLabelLength.select);
			return label === undefined ? [] : [{ ...option, label }];
		});
		if (options.length === 0) return [];
		return [row([{ ...part, options, max_values: Math.min(part.max_values ?? 1, options.length) }])];
	});
	const rows = [...inRows(buttons), ...selects];
	return differs && rows.length > 0 ? rows : undefined;
}
