// Results of tools in two renderings: lines for models, and messages for people on Discord.

import type { Guild } from "discord.js";
import type { ToolError } from "../../lib/tool-error.ts";
import type { Advice } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { joined, type Language, render, type Said, said, type Value } from "../../texts/texts.ts";
import { peopleText } from "./people-text.ts";

export interface Result {
	models: readonly string[];
	/** Lines. Subjects are mentions, and what people wrote is escaped. */
	people: readonly Said[];
	/** A preview that asks people whether to do it. */
	asks?: boolean;
	pages?: Pages;
	advice?: Advice;
}

/** Of a list that people read in pages. */
export interface Pages {
	title: Said;
	/** For the page before and after: values of the option `Action.pages`, null to leave it out. Undefined: no such page. */
	back: number | null | undefined;
	next: number | undefined;
	/** How to go on where there are no buttons. */
	more?: Said | undefined;
}

/** A text is for models; people read it too, formatted. */
export type Part = string | Result;

export type Output = Part | readonly Part[];

type Line = string | false | null | undefined;
type Lines = Line | readonly Line[];

export function result(models: Lines, ...people: readonly (Said | false | undefined)[]): Result {
	return { models: [models].flat().filter(isPresent), people: people.filter(isPresent) };
}

/** The preview of a plan that people are asked to confirm. */
export function asking(models: Lines, ...people: readonly (Said | false | undefined)[]): Result {
	return { ...result(models, ...people), asks: true };
}

/** As one list. Absent parts are left out. */
export function parts(...all: readonly (Output | false | undefined)[]): Part[] {
	return all.flat().filter(isPresent);
}

function isPresent<T>(item: T | false | null | undefined | ""): item is T {
	return Boolean(item);
}

export function forModels(output: Output): string[] {
	return [output].flat().flatMap((part) => (typeof part === "string" ? part : part.models));
}

export function adviceIn(output: Output): Advice | undefined {
	return [output].flat().flatMap((part) => (typeof part === "object" && part.advice) || [])[0];
}

export function forPeople(output: Output, language: Language): string {
	const texts = [output]
		.flat()
		.flatMap((part) =>
			typeof part === "string" ? peopleText(part, { isError: false }) : part.people.map((one) => render(one, language)),
		);
	return texts.filter((text) => text !== "").join("\n");
}

/** What people read of it, in no language yet; undefined if it is only for models. */
export function saidIn(output: Output): Said | undefined {
	return joined([output].flat().flatMap((part) => (typeof part === "string" ? [] : part.people)));
}

export function errorForPeople(error: unknown, language: Language): string {
	if (error instanceof SaidError) return render(error.said, language);
	return peopleText((error as Error).message, { isError: true });
}

/** What a person reads instead of an error's text, as part of a message that says itself what was done. */
export function reasonOf(error: ToolError): Value {
	if (error instanceof SaidError) return error.why;
	return peopleText(error.message.replace(/ Nothing was done\.$/, ""), { isError: true });
}

const maxListed = 20;

/** The first, and how many more. */
export function listed(items: readonly string[]): Value {
	const list = items.slice(0, maxListed).join(", ");
	const count = items.length - maxListed;
	return count > 0 ? said("result.and_more", { list, count }) : list;
}

export function mentions(all: readonly (string | { id: string })[]): Value {
	return listed(all.map((one) => `<@${typeof one === "string" ? one : one.id}>`));
}

export function channels(all: readonly { id: string }[]): Value {
	return listed(all.map(({ id }) => `<#${id}>`));
}

export function roles(all: readonly { id: string }[]): Value {
	return listed(all.map(({ id }) => `<@&${id}>`));
}

/** Of a role or member. */
export function mentionOf(guild: Guild, id: string): string {
	if (id === guild.id) return "@everyone";
	return guild.roles.cache.has(id) ? `<@&${id}>` : `<@${id}>`;
}

/** In the reader's time zone. https://docs.discord.com/developers/reference#message-formatting */
export function at(time: Date | number, style: "f" | "T" | "R" = "f"): string {
	return `<t:${Math.floor(Number(time) / 1000)}:${style}>`;
}

/** In the largest unit that gives a whole number. */
export function duration(ms: number): Said {
	const seconds = Math.round(ms / 1000);
	if (seconds % 86_400 === 0) return said("result.days", { count: seconds / 86_400 });
	if (seconds % 3600 === 0) return said("result.hours", { count: seconds / 3600 });
	if (seconds % 60 === 0) return said("result.minutes", { count: seconds / 60 });
	return said("result.seconds", { count: seconds });
}

/** For a change of a channel that changes nothing. `slowmode`: what it should be, in seconds. */
export function saidUnchanged(where: string, slowmode: number | undefined): Said {
	if (slowmode === undefined) return said("refusal.same_channel", { where });
	if (slowmode === 0) return said("refusal.no_slow_mode", { where });
	return said("refusal.same_slow_mode", { where, interval: duration(slowmode * 1000) });
}

export function saidSlowMode(where: string, seconds: number): Said {
	if (seconds === 0) return said("result.slow_mode_off", { where });
	return said("result.slow_mode", { where, interval: duration(seconds * 1000) });
}
