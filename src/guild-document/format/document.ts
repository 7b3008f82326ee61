// The guild document: its types, and reading it from JSON or YAML.

import type * as v from "valibot";
import { type ConfigIssue, checkSettings, unknownKey } from "../../lib/config.ts";
import { onOneLine } from "../../lib/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import type { EditedKind } from "../names/channel-kinds.ts";
import * as schema from "./document-schema.ts";

export { documentSchema, documentVersion, everyone } from "./document-schema.ts";

const maxValues = 2_000_000;
const maxChannels = 1000;
const maxValuesOfShort = 100_000;

export const maxShownKey = 100;
const maxShownMessage = 300;
const maxIssues = 50;

export type ChannelKind = Exclude<EditedKind, "category">;
/** A document that passed validation. */
export type GuildDocument = v.InferOutput<typeof schema.documentSchema>;
export type Settings = NonNullable<GuildDocument["settings"]>;
export type Role = v.InferOutput<typeof schema.role>;
export type Channel = v.InferOutput<typeof schema.channel>;
export type Category = v.InferOutput<typeof schema.category>;
export type Overwrite = v.InferOutput<typeof schema.overwrite>;
export type AutomodRule = v.InferOutput<typeof schema.automod>;
export type ScheduledEvent = v.InferOutput<typeof schema.scheduledEvent>;
export type Emoji = v.InferOutput<typeof schema.emoji>;
export type Message = v.InferOutput<typeof schema.message>;
export type WelcomeScreen = v.InferOutput<typeof schema.welcomeScreen>;
export type Onboarding = v.InferOutput<typeof schema.onboarding>;

const notParts = ["version", "omitted", "keep_bot_access", "repost", "id"] as const satisfies (keyof GuildDocument)[];
export type Part = Exclude<keyof GuildDocument, (typeof notParts)[number]>;
export const partNames = Object.keys(schema.documentSchema.entries).filter(
	(name): name is Part => !notParts.some((one) => one === name),
);

/** `issues` has one line for each mistake. */
export class InvalidDocument extends ToolError {
	readonly issues: readonly string[];

	/** Keeps the first `maxIssues` mistakes and counts the others. `rest`: the document without what is wrong. */
	constructor(
		all: readonly string[],
		readonly rest?: GuildDocument,
	) {
		const issues = all.slice(0, maxIssues);
		if (all.length > maxIssues) issues.push(`${all.length - maxIssues} more mistakes`);
		super(`The document of the guild is invalid: ${issues.join("; ")}`);
		this.issues = issues;
	}
}

interface Given {
	value: unknown;
	maxValues: number;
}

/** Of a value, or a text in JSON or YAML. Throws an InvalidDocument that lists the mistakes. */
export function readDocument(given: unknown): GuildDocument {
	return validate(parse(given));
}

/** Without the parts that are null, whose names are `removed`. Throws an InvalidDocument that lists the mistakes. */
export function readChanges(given: unknown) {
	const parsed = parse(given);
	const value = Object(parsed.value);
	const removed = partNames.filter((part) => value[part] === null);
	const left = removed.length > 0 ? { ...value } : parsed.value;
	for (const part of removed) delete left[part];
	return { changes: validate({ ...parsed, value: left }, onlyParts), removed };
}

const onlyParts =
	'only a whole part can be removed, such as "roles": null. To leave out one thing, plan a document without it.';

/** `ofNull`: the error for a field that must not be null. Default: what the field's schema says. */
function validate({ value, maxValues: max }: Given, ofNull?: string): GuildDocument {
	if (hasMoreValues(value, max)) throw new InvalidDocument([`it has more than ${max} values`]);
	const { settings, issues } = checkSettings(schema.documentSchema, value);
	if (!settings) {
		const shown = new Set<string>();
		const lines = issues.map((issue) => {
			const keys = issue.known?.join(", ") ?? "";
			const isShown = keys === "" || shown.has(keys);
			shown.add(keys);
			const line = describeIssue(issue, value, ofNull);
			return isShown ? line : `${line}${line.endsWith("?") ? "" : "."} Keys: ${keys}`;
		});
		throw new InvalidDocument(lines, withoutMistakes(value, issues));
	}
	const { channels = [], categories = [] } = settings;
	const inside = categories.flatMap(({ channels = [] }) => channels);
	const count = channels.length + categories.length + inside.length;
	if (count > maxChannels)
		throw new InvalidDocument([`it has ${count} channels and categories; expected at most ${maxChannels}`]);
	return withListedMessages(settings);
}

/** Those inside of channels become the part `messages`. */
function withListedMessages(document: GuildDocument): GuildDocument {
	const listed = [...(document.messages ?? [])];
	const take = <Place extends Category | Channel>(place: Place): Place => {
		const { messages = [], posts = [], channels, ...rest } = place as Channel & Category;
		for (const one of [...messages, ...posts]) listed.push({ ...one, channel: rest.key ?? rest.name });
		return { ...rest, ...(channels && { channels: channels.map(take) }) } as Place;
	};
	const { channels, categories } = document;
	return {
		...document,
		...(channels && { channels: channels.map(take) }),
		...(categories && { categories: categories.map(take) }),
		...((listed.length > 0 || document.messages) && { messages: listed }),
	};
}

/** Without the fields and items that are wrong; undefined if nothing is left. */
function withoutMistakes(value: unknown, mistakes: readonly ConfigIssue[]): GuildDocument | undefined {
	const paths = mistakes.map(({ path }) => path);
	const rest = without(value, paths);
	const { settings, issues } = checkSettings(schema.documentSchema, rest);
	if (settings) return withListedMessages(settings);
	return rest === undefined ? undefined : withoutMistakes(rest, issues);
}

/** What lacks a field goes with it. */
function without(value: unknown, paths: readonly (readonly string[])[]): unknown {
	const inside = Map.groupBy(paths, ([key]) => key);
	const isWhole = [...inside.keys()].some((key) => key === undefined || !Object.hasOwn(Object(value), key));
	if (isWhole) return undefined;
	const left = Object.entries(Object(value)).flatMap(([key, one]) => {
		const below = inside.get(key)?.map((path) => path.slice(1));
		const kept = below ? without(one, below) : one;
		return kept === undefined ? [] : [[key, kept] as const];
	});
	return Array.isArray(value) ? left.map(([, one]) => one) : Object.fromEntries(left);
}

function describeIssue({ path, message }: ConfigIssue, value: unknown, ofNull: string | undefined): string {
	const at = path
		.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${onOneLine(key, maxShownKey)}`))
		.join("")
		.replace(/^\./, "");
	const isNull = path.length > 0 && path.reduce<unknown>((one, key) => Object(one)[key], value) === null;
	if (isNull && ofNull && !message.startsWith(unknownKey)) return `${at} is null: ${ofNull}`;
	const expected = message.replace("a section", "an object with fields");
	return `${at || "the document"}: ${onOneLine(expected, maxShownMessage)}`;
}

function hasMoreValues(value: unknown, max: number): boolean {
	const left = [value];
	let count = 1;
	while (left.length > 0) {
		const one = left.pop();
		if (typeof one !== "object" || one === null) continue;
		const inside = Object.values(one);
		// Counted before they are looked at: a list that has itself many times would fill the memory.
		count += inside.length;
		if (count > max) return true;
		for (const value of inside) left.push(value);
	}
	return false;
}

function parse(source: unknown): Given {
	if (typeof source !== "string") return { value: source, maxValues };
	// Editors may put a byte order mark before the text.
	const text = source.replace(/^\uFEFF/, "");
	let value: unknown;
	try {
		// JSON is YAML, too, but the parser for JSON has the better errors.
		value = text.trimStart().startsWith("{") ? JSON.parse(text) : Bun.YAML.parse(text);
	} catch (error) {
		throw new InvalidDocument([`it is neither JSON nor YAML: ${error instanceof Error ? error.message : error}`]);
	}
	// The YAML parser would use only the last one. Lines inside of texts are indented.
	const twice = partNames.filter((name) => [...text.matchAll(new RegExp(`^${name}:`, "gm"))].length > 1);
	if (twice.length > 0)
		throw new InvalidDocument(twice.map((name) => `${name}: it is there more than once; write one`));
	return { value, maxValues: Math.min(Math.max(maxValuesOfShort, text.length), maxValues) };
}

export function toYaml(document: GuildDocument): string {
	return `${Bun.YAML.stringify(document, null, 2)}\n`;
}
