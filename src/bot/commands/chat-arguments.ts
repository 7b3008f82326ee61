// Reads the arguments of a chat command: mentions, ids and names, several people at once, and the reason as the rest.

import { type Guild, type GuildBasedChannel, type GuildMember, PermissionFlagsBits } from "discord.js";
import { findByName } from "../../discord/members/name-search.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import { fold, inlineText } from "../../discord/text.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import type { Action, ActionOption, OptionValue } from "./action.ts";
import { commandText } from "./command-texts.ts";
import { countDurationWords, requireDuration } from "./durations.ts";

const maxPeople = 50;
const maxFound = 1_000;
const maxCandidates = 5;

/** Wrong syntax: the reply then shows the right one. */
export class UsageError extends SaidError {}

function chatOptions({ chat, options }: Action): ActionOption[] {
	if (chat) return chat.flatMap((name) => options.find((option) => option.name === name) ?? []);
	return [
		...options.filter((option) => !isRest(option) && option.kind !== "flag"),
		...options.filter(isRest).slice(0, 1),
	];
}

function isRest({ kind }: ActionOption): boolean {
	return kind === "reason" || kind === "text";
}

/** Such as "<@user …> <duration> [reason]". */
export function chatUsage(action: Action, locale: string | null): string {
	return chatOptions(action)
		.map((option) => {
			const text = usageOf(action, option, locale);
			return option.required ? `<${text}>` : `[${text}]`;
		})
		.join(" ");
}

function usageOf(action: Action, { kind, name, several, choices = [] }: ActionOption, locale: string | null): string {
	const shown = commandText([...action.name.split(" "), name], "name", locale);
	const more = several ? " …" : "";
	if (kind === "user" || kind === "role") return `@${shown}${more}`;
	if (kind === "channel") return `#${shown}${more}`;
	return kind === "choice" ? choices.join("|") : shown;
}

interface Word {
	text: string;
	/** If a quotation mark follows, `text` does not contain the "@". */
	hasAt: boolean;
	isQuoted: boolean;
	start: number;
}

const quotes = new Map([
	['"', '"'],
	["“", "”"],
	["„", "“"],
	["«", "»"],
]);

function wordsOf(text: string): Word[] {
	const words: Word[] = [];
	for (let at = 0; at < text.length; ) {
		const space = /^\s+/.exec(text.slice(at))?.[0].length ?? 0;
		at += space;
		if (at >= text.length) break;
		const start = at;
		// @"Ada Lovelace" is a name, too.
		const opening = text[at] === "@" ? at + 1 : at;
		const closing = quotes.get(text[opening] ?? "");
		const end = closing ? text.indexOf(closing, opening + 1) : -1;
		if (end > 0) {
			const hasAt = opening > start;
			const word = text.slice(opening + 1, end);
			words.push({ text: word, hasAt, isQuoted: true, start });
			at = end + 1;
		} else {
			const [word = ""] = /^\S+/.exec(text.slice(at)) ?? [];
			const hasAt = word.startsWith("@");
			words.push({ text: word, hasAt, isQuoted: false, start });
			at += word.length;
		}
	}
	return words;
}

function unquoted(text: string): string {
	const closing = quotes.get(text[0] ?? "");
	const isQuoted = closing !== undefined && text.length > 1 && text.endsWith(closing);
	return isQuoted ? text.slice(1, -1).trim() : text;
}

/** A UsageError for wrong syntax, a SaidError if a name is not unique or a reason may be one more name. */
export async function readChatArguments(
	author: GuildMember,
	action: Action,
	text: string,
): Promise<Map<string, OptionValue[]>> {
	const values = new Map<string, OptionValue[]>();
	const words = wordsOf(text);
	const options = chatOptions(action);
	for (const option of options) {
		if (isRest(option) && options.some(({ kind, several }) => kind === "user" && several))
			requireNoName(author.guild, words[0]);
		const found = isRest(option)
			? takeRest(text, words)
			: option.kind === "duration"
				? takeDuration(option, words)
				: await takeWords(author, option, words, option === options.at(-1));
		if (found.length > 0) values.set(option.name, found);
		else if (option.required)
			throw new UsageError(
				said("answer.missing", {
					option: usageOf(action, { ...option, several: false }, author.guild.preferredLocale),
				}),
			);
	}
	const [left] = words;
	if (left) throw new UsageError(said("answer.not_expected", { text: inlineText(left.text, 50) }));
	return values;
}

/** After people, a word that is the name of a member may be one more of them, or begin the reason. */
function requireNoName(guild: Guild, word: Word | undefined): void {
	if (!word || word.isQuoted) return;
	const name = fold(word.text);
	const [first] = findByName(guild, name, 1).members;
	if (!first) return;
	const { displayName, user } = first;
	if (![user.username, user.globalName, displayName].some((one) => one && fold(one) === name)) return;
	throw new SaidError(said("answer.name_or_reason", { name: inlineText(word.text, 50), person: `<@${first.id}>` }));
}

function takeDuration(option: ActionOption, words: Word[]): OptionValue[] {
	const [first] = words;
	if (!first || first.isQuoted) return [];
	const texts = words.map(({ text }) => text);
	const count = countDurationWords(texts, option);
	words.splice(0, count);
	if (count > 0) return [texts.slice(0, count).join(" ")];
	// "10 minits" is no reason of a ban for good.
	if (/^[-+]?\d/.test(first.text)) requireDuration(option, first.text);
	return [];
}

function takeRest(text: string, words: Word[]): OptionValue[] {
	const [first] = words;
	if (!first) return [];
	words.length = 0;
	const rest = unquoted(text.slice(first.start).trim());
	return rest === "" ? [] : [rest];
}

async function takeWords(
	author: GuildMember,
	option: ActionOption,
	words: Word[],
	isLast: boolean,
): Promise<OptionValue[]> {
	const values: OptionValue[] = [];
	// Any word can be a name only in these cases; otherwise it can belong to the next option, such as the reason.
	const takesName = option.required === true || isLast;
	const max = option.several ? maxPeople : 1;
	while (values.length < max) {
		const [word] = words;
		if (!word) break;
		const value = await readWord(author, option, word, takesName && values.length === 0);
		if (value === undefined) break;
		words.shift();
		if (!values.includes(value)) values.push(value);
	}
	return values;
}

async function readWord(
	author: GuildMember,
	option: ActionOption,
	word: Word,
	isName: boolean,
): Promise<OptionValue | undefined> {
	const { text, hasAt, isQuoted } = word;
	const { kind, choices = [] } = option;
	const { guild } = author;
	switch (kind) {
		case "user":
			return idIn(text, /^<@!?(\d{17,20})>$/) ?? (isName || hasAt ? personNamed(author, option, text) : undefined);
		case "role":
			return (
				idIn(text, /^<@&(\d{17,20})>$/) ??
				(isName || isQuoted
					? uniquely("role", text, [...guild.roles.cache.values()], (role) => role.name.replace(/^@/, ""))
					: undefined)
			);
		case "channel":
			return (
				idIn(text, /^<#(\d{17,20})>$/) ?? (isName || text.startsWith("#") ? channelNamed(author, text) : undefined)
			);
		case "integer":
		case "case": {
			const digits = text.replace(kind === "case" ? /^#/ : /^\+/, "");
			if (/^\d{1,9}$/.test(digits)) return Number(digits);
			break;
		}
		case "choice":
			return choices.find((choice) => fold(choice) === fold(text));
	}
	return undefined;
}

function idIn(text: string, mention: RegExp): string | undefined {
	return mention.exec(text)?.[1] ?? /^\d{17,20}$/.exec(text)?.[0];
}

async function personNamed(author: GuildMember, { findOther }: ActionOption, text: string): Promise<string> {
	return (await findOther?.(author, text.replace(/^@/, ""))) ?? memberNamed(author.guild, text);
}

function memberNamed(guild: Guild, text: string): string {
	const name = fold(text.replace(/^@/, ""));
	const shown = inlineText(text, 50);
	if (name === "") throw new UsageError(said("answer.no_member", { name: shown }));
	const { total, members } = findByName(guild, name, maxFound);
	const owner = members.find(({ user }) => fold(user.username) === name);
	if (owner) return owner.id;
	const named = members.filter(({ displayName, user }) =>
		[displayName, user.globalName].some((one) => one && fold(one) === name),
	);
	const [only, ...others] = named;
	if (only && others.length === 0) return only.id;
	const candidates = (only ? named : members).slice(0, maxCandidates).map(
		({ id, displayName, user }) =>
			// The bullet prevents Discord from formatting a name as a heading or quote.
			`• ${inlineText(displayName, 40)}: @${inlineText(user.username, 40)}, <@${id}>`,
	);
	if (candidates.length === 0) throw new SaidError(said("answer.no_member", { name: shown }));
	const more = (only ? named.length : total) - candidates.length;
	const people = candidates.join("\n");
	throw new SaidError(
		said(only ? "answer.several_members" : "answer.similar_members", {
			name: shown,
			people: more > 0 ? said("answer.and_more", { people, count: more }) : people,
		}),
	);
}

function channelNamed(author: GuildMember, text: string): string {
	const visible = author.guild.channels.cache.filter(
		(channel) => channel.permissionsFor(author)?.has(PermissionFlagsBits.ViewChannel) && !isObfuscated(channel),
	);
	return uniquely("channel", text, [...visible.values()], (channel: GuildBasedChannel) => channel.name);
}

function uniquely<Thing extends { id: string }>(
	noun: "role" | "channel",
	text: string,
	things: readonly Thing[],
	nameOf: (thing: Thing) => string,
): string {
	const folded = fold(text.replace(/^[@#]/, ""));
	const found = things.filter((thing) => fold(nameOf(thing)) === folded);
	const [only, ...others] = found;
	if (only && others.length === 0) return only.id;
	const name = inlineText(text, 50);
	if (!only) throw new SaidError(said(`answer.no_${noun}`, { name }));
	const mentions = found.slice(0, maxCandidates).map(({ id }) => (noun === "role" ? `<@&${id}>` : `<#${id}>`));
	throw new SaidError(said(`answer.several_${noun}s`, { name, list: mentions.join(", ") }));
}
