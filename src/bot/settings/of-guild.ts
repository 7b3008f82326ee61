// Settings together with the guild that they are for: names in place of ids, what the guild does not allow, and how values
// are shown.

import type { Guild } from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../discord/acting-person.ts";
import { channelName, roleName } from "../../discord/describe.ts";
import { portal, privilegedIntents, usesIntent } from "../../discord/intents.ts";
import {
	bitsIn,
	describeBits,
	missingForBot,
	type Permission,
	requireOf,
	requireOfPerson,
	withTitles,
} from "../../discord/permissions.ts";
import { requireRolesBelow } from "../../discord/role-hierarchy.ts";
import { inlineText, oneField, oneLine } from "../../discord/text.ts";
import { isHidden, visibleChannel } from "../../discord/visible-channels.ts";
import { isPlaceholder } from "../../guild-document/match/match.ts";
import { isObject } from "../../lib/json.ts";
import { CheckFailed, type Found } from "../../lib/program/check.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { thingsNamed } from "../tool/arguments/names.ts";
import { type Change, type GuildState, InvalidSettings, type Problem, read, type Stored } from "./guild-settings.ts";
import { actingPermissions, isGrant, isKey, keyOf, kindOf, type SettingKey, sectionOf, withoutEffect } from "./keys.ts";
import { checkReference, type Reference } from "./references.ts";

const maxShown = 300;

/**
 * `wanted` with ids in place of "#channel", "@Role" and mentions, and named roles in place of lines such as "gold: @Gold".
 * Throws InvalidSettings.
 */
export function withIds(guild: Guild, wanted: Stored): Stored {
	const problems: Problem[] = [];
	const replaced = Object.entries(wanted).map(([key, given]): [string, unknown] => {
		const { to } = isKey(key) ? keyOf(key) : {};
		if (!isKey(key) || !(to || key === "tags" || isGreeting(key, given))) return [key, given];
		const isLines = kindOf(key) === "named roles" && Array.isArray(given);
		const value = isLines ? Object.fromEntries(given.map((line) => namedRole(String(line)))) : given;
		const kind = to === "channel" ? "channel" : "role";
		const idOf = (text: unknown): unknown => {
			if (typeof text !== "string") return text;
			if (!to) return withLinks(guild, text);
			const mention = /^<(?:@&|#)(\d{17,20})>$/.exec(text)?.[1];
			if (mention !== undefined || !/^[@#]./s.test(text)) return mention ?? text;
			const { only, all } = thingsNamed(guild, { kind, text }, new Map(), false);
			if (only) return only.id;
			const ids = all.map(({ id }) => id).join(", ");
			const message =
				all.length > 1 ? `several have this name: give an id (${ids})` : `there is no ${kind} of this name`;
			problems.push({ key, message: `${oneLine(JSON.stringify(text))}: ${message}` });
			return text;
		};
		if (isObject(value))
			return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, idOf(one)]))];
		return [key, Array.isArray(value) ? value.map(idOf) : idOf(value)];
	});
	if (problems.length > 0) throw new InvalidSettings(problems);
	return Object.fromEntries(replaced);
}

/** `wanted` with all tags in place of single ones, such as "tags.faq". Null, or an empty text, deletes one. */
export function withTags({ tags }: Stored, wanted: Stored): Stored {
	const { single = [], others = [] } = Object.groupBy(Object.entries(wanted), ([key]) =>
		key.startsWith("tags.") ? "single" : "others",
	);
	if (single.length === 0) return wanted;
	const changed = single.map(([key, text]) => [key.slice("tags.".length), String(text ?? "").trim()]);
	const all = { ...(isObject(tags) && tags), ...Object.fromEntries(changed) };
	const kept = Object.entries(all).filter(([, text]) => text !== "");
	return { ...Object.fromEntries(others), tags: kept.length > 0 ? Object.fromEntries(kept) : null };
}

/** The bot posts it as if the person who set it did. */
const isGreeting = (key: string, value: unknown): value is string =>
	key.startsWith("welcome.") && typeof value === "string";

/** A text with links to the channels that it names, as #name. */
function withLinks(guild: Guild, text: string): string {
	return text.replace(/(?<![<\w/#])#[\p{L}\p{N}\p{M}\p{Extended_Pictographic}_-]+/gu, (name) => {
		const { only } = thingsNamed(guild, { kind: "channel", text: name }, new Map(), false);
		return only ? `<#${only.id}>` : name;
	});
}

/** The name of a tier may hold a colon. */
function namedRole(line: string): [name: string, role: string] {
	const at = line.lastIndexOf(":");
	const role = line.slice(at + 1).trim();
	return [line.slice(0, Math.max(at, 0)).trim(), /^(?:[@<]|\d{17,20}$)/.test(role) ? role : `@${role}`];
}

/** The lines as they are typed: of a list, or of roles by name. */
export function typedLines(guild: Guild, value: unknown = []): string[] {
	if (!isObject(value)) return [value].flat().map(String);
	const roles = guild.roles.cache;
	return Object.entries(value).map(([name, id]) => {
		const role = roles.get(String(id))?.name;
		// Another role may have the name.
		const isUnclear = role === undefined || role.includes(":") || roles.filter((one) => one.name === role).size > 1;
		return `${name}: ${isUnclear ? id : `@${role}`}`;
	});
}

/**
 * Throws InvalidSettings for changes that the person may not make, and channels and roles that the bot, or the person, cannot
 * use. Returns warnings.
 */
export function requireUsable(guild: Guild, stored: Stored, wanted: Stored): readonly Problem[] {
	const problems: Problem[] = Object.entries(wanted).flatMap(([key, value]) => {
		const message = whyNoIntent(guild, key, value);
		return [...whyPowerless(guild, key), ...(message === undefined ? [] : [{ key, message }])];
	});
	const warnings: Problem[] = [];
	const collect = (key: string, check: () => Found | undefined) => {
		try {
			const found = check();
			if (typeof found === "object") warnings.push({ key, message: found.warning });
		} catch (error) {
			if (!(error instanceof CheckFailed || error instanceof ToolError)) throw error;
			problems.push({ key, message: error.message, ...(error instanceof SaidError && { said: error.why }) });
		}
	};
	const { "welcome.channel": id } = { ...stored, ...wanted };
	for (const [key, value] of Object.entries(wanted))
		collect(key, () => {
			if (isGreeting(key, value) && key !== "welcome.channel")
				requireForPerson(guild, { key, to: "channel", id: String(id) });
			requireRanked(guild, key, stored[key], value);
			// Who lets the bot time out, kick or ban people must be allowed to do that.
			requireOfPerson(guild, undefined, bitsIn(undefined, punishing(key, value)));
		});
	for (const reference of referencesIn(wanted))
		collect(reference.key, () => {
			requireForPerson(guild, reference);
			return checkReference(reference, guild);
		});
	if (problems.length > 0) throw new InvalidSettings(problems);
	return warnings;
}

function whyPowerless(guild: Guild, key: string): readonly Problem[] {
	const { power } = isKey(key) ? keyOf(key) : {};
	const person = actingPerson(guild);
	if (!power || (person ? person.permissions.has(power) : isGrant(key))) return [];
	const permissions = describeBits(bitsIn(undefined, power));
	const message = `only a person with ${permissions} can change it: with /settings on Discord, in the console, or through an assistant that acts in their name`;
	return [{ key, message, said: withTitles(said("setting.powerless", { permissions })) }];
}

/** Who grants a power to a role, or takes it away, must rank above the role. */
function requireRanked(guild: Guild, key: string, before: unknown, after: unknown): void {
	if (!isKey(key) || !keyOf(key).power || keyOf(key).to !== "role") return;
	const [old = [], now = []] = [before, after].map((value) => [value ?? []].flat());
	if (now.includes(guild.id)) throw new SaidError(said("setting.everyone"));
	const person = actingPerson(guild);
	const changed = guild.roles.cache.filter(({ id }) => old.includes(id) !== now.includes(id));
	if (person) requireRolesBelow(guild, [...changed.values()], [person]);
}

/** What the bot does to people because of a setting. */
function punishing(key: string, value: unknown): readonly Permission[] {
	if (!isKey(key)) return [];
	if (sectionOf(key) === "spam" || key === "automod.presets") return ["ModerateMembers", "ManageMessages"];
	if (key !== "moderation.escalate" && key !== "game.chargeback") return [];
	const { values } = read({ [key]: value ?? undefined });
	return actingPermissions(values).flatMap(([acting, permissions]) => (acting === key ? permissions : []));
}

/** Of a setting that differs from its default. */
function whyNoIntent({ client }: Guild, key: string, value: unknown): string | undefined {
	const name = isKey(key) && !Bun.deepEquals(value ?? defaultOf(key), defaultOf(key)) ? keyOf(key).intent : undefined;
	const intent = name && privilegedIntents[name];
	if (!intent || usesIntent(client, intent)) return undefined;
	return `needs the ${intent.title}: the bot's operator switches it on at ${portal} (Bot) and in intents of config.toml, and restarts the bot`;
}

/** A person who sets a role that the bot gives must be able to give it, and to write where the bot posts their text. */
function requireForPerson(guild: Guild, { key, to, id }: Omit<Reference, "needs">): void {
	const person = actingPerson(guild);
	if (!person) return;
	if (to === "channel" && isHidden(guild, id)) throw new ToolError(`there is no channel ${id} that you can see`);
	const channel = guild.channels.cache.get(id);
	if (channel && isGreeting(key, id)) requireOf(person, channel, bitsIn(channel, ["SendMessages"]));
	const role = guild.roles.cache.get(id);
	if (to !== "given role" || !role) return;
	requireOf(person, undefined, bitsIn(undefined, ["ManageRoles"]));
	requireRolesBelow(guild, [role], [person]);
}

type Checked = Omit<GuildState, "version">;

/** What does not count, what has no effect, and what refers to something that the bot cannot use. */
export function problemsOf(guild: Guild, state: Checked): readonly Problem[] {
	return settingChecks(state, () => guild).flatMap(({ title, run }) => {
		const found = run();
		return typeof found === "object" ? [{ key: title, message: found.warning }] : [];
	});
}

/** One for each channel and role. They warn and never fail: what is wrong with one setting does no harm to the bot. */
export function settingChecks({ stored, values, problems }: Checked, guild: () => Guild | undefined) {
	const known = [...problems, ...withoutEffect(values).map(([key, message]) => ({ key, message }))];
	const checks = [
		...known.map(({ key, message }) => ({ title: key, run: (): Found => ({ warning: message }) })),
		...actingPermissions(values).flatMap(([title, permissions]) => {
			const bits = bitsIn(undefined, permissions);
			return bits === 0n ? [] : { title, run: () => findPermissions(guild(), bits) };
		}),
		...referencesIn(stored).map((reference) => ({
			title: reference.key,
			run: (): Found => {
				const here = guild();
				try {
					return here && checkReference(reference, here);
				} catch (error) {
					if (error instanceof CheckFailed) return { warning: error.message };
					throw error;
				}
			},
		})),
	];
	return checks.map(({ title, run }) => ({
		title,
		run(): Found {
			const there = guild();
			const lacking = there && whyNoIntent(there, title, stored[title]);
			return lacking ? { warning: lacking } : run();
		},
	}));
}

function findPermissions(guild: Guild | undefined, bits: bigint): Found {
	const missing = guild ? missingForBot(guild, undefined, bits) : 0n;
	return missing === 0n ? "the bot may do that" : { warning: `the bot lacks ${describeBits(missing)}` };
}

export function referencesIn(stored: Stored): Reference[] {
	return Object.entries(stored).flatMap(([key, value]) => {
		const { to, needs = [] } = isKey(key) ? keyOf(key) : {};
		if (!to) return [];
		const ids = isObject(value) ? Object.values(value) : [value].flat();
		return ids.flatMap((id) => (typeof id === "string" && !isPlaceholder(id) ? { key, to, id, needs } : []));
	});
}

/** Why a change to `wanted` counts as destructive. */
export function whyDestructive(guild: Guild, stored: Stored, wanted: Stored): string | undefined {
	const powers = Object.keys(wanted).filter((key) => isKey(key) && keyOf(key).power && !isGrant(key));
	if (powers.length > 0) return `changes who decides about the bot, or sees what it does (${powers.join(", ")})`;
	const given = referencesIn(wanted).flatMap(({ to, id }) => {
		const role = guild.roles.cache.get(id);
		return to === "given role" && role ? [roleName(role)] : [];
	});
	const granted = Object.entries(wanted).flatMap(([key, value]) => {
		const added = [value ?? []].flat().filter((id) => ![stored[key]].flat().includes(id));
		return isGrant(key) && added.length > 0 ? [`adds ${describeValue(guild, key, added)} to ${key}`] : [];
	});
	const punished = Object.entries(wanted).flatMap(([key, value]) => {
		return (value || key === "spam.dry") && punishing(key, value).length > 0 ? key : [];
	});
	return (
		[
			...(given.length > 0 ? [`lets the bot give members ${given.join(", ")}`] : []),
			...(punished.length > 0 ? [`lets the bot punish members on its own (${punished.join(", ")})`] : []),
			...granted,
		].join("; ") || undefined
	);
}

/** For models. Undefined: not set. */
export function describeValue(guild: Guild, key: string, value: unknown): string {
	if (value === undefined) return "not set";
	const { to } = isKey(key) ? keyOf(key) : {};
	if (!to)
		return typeof value === "boolean" || typeof value === "number" ? String(value) : oneLine(JSON.stringify(value));
	return idsShown(value, (id) => nameOf(guild, to === "channel", id), oneField).join(", ") || "none";
}

/** Of what has names, only what differs. */
export function narrowed({ key, before, after }: Change): Change {
	const without = (value: unknown, other: unknown) => {
		if (!isObject(value) || !isObject(other)) return value;
		return Object.fromEntries(Object.entries(value).filter(([name, one]) => one !== other[name]));
	};
	return { key, before: without(before, after), after: without(after, before) };
}

/** Each id as it is shown; of named roles with the name before it. */
function idsShown(value: unknown, show: (id: string) => string, quote: (name: string) => string): string[] {
	if (!isObject(value)) return [value].flat().map((id) => show(String(id)));
	return Object.entries(value).map(([name, id]) => `${quote(name)}: ${show(String(id))}`);
}

function nameOf(guild: Guild, isChannel: boolean, id: string): string {
	const role = guild.roles.cache.get(id);
	if (!isChannel) return role ? roleName(role) : `role ${id}, which does not exist`;
	const channel = visibleChannel(guild, id);
	return channel ? channelName(channel) : `channel ${id}`;
}

/** As JSON; undefined: unset. */
export function defaultOf(key: SettingKey): unknown {
	return v.getDefault(keyOf(key).value as never);
}

/** For people: mentions, and texts escaped. Undefined: unset. */
export function mentionValue(key: string, value: unknown): string | undefined {
	if (value === undefined) return undefined;
	if (!isKey(key)) return inlineText(JSON.stringify(value), maxShown);
	const { to } = keyOf(key);
	const texts = isObject(value) ? Object.entries(value).map(([name, text]) => `${name}: ${text}`) : [value].flat();
	if (!to) return inlineText(texts.join(", "), maxShown) || undefined;
	const mention = (id: string) => (to === "channel" ? `<#${id}>` : `<@&${id}>`);
	return idsShown(value, mention, (name) => inlineText(name, maxShown)).join(", ") || undefined;
}
