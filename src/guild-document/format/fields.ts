// Walking a document: its things, wherever they stand in it; and, by its schema, the fields of each with their default values,
// which exports leave out, what they refer to, and what is inside.

import * as v from "valibot";
import { isObject } from "../../lib/json.ts";
import { ruleFieldsWith, type TriggerName } from "../names/automod-rule.ts";
import { editedKinds } from "../names/channel-kinds.ts";
import type { Category, Channel, ChannelKind, GuildDocument } from "./document.ts";
import { automod, channel, documentSchema, everyone, type Marks } from "./document-schema.ts";

interface Field extends Marks {
	/** Of an object, or of a list of objects. */
	fields?: Fields | undefined;
}
type Fields = ReadonlyMap<string, Field>;
type Values = Record<string, unknown>;

/** Of any kind of schema that documents have. */
export interface SchemaParts extends v.GenericSchema {
	entries?: Record<string, SchemaParts>;
	wrapped?: SchemaParts;
	item?: SchemaParts;
	options?: readonly (string | number)[];
}

const known = new Map<object, Fields>();

function fieldsOf({ entries = {} }: SchemaParts): Fields {
	const read = () => new Map(Object.entries(entries).map(([name, one]) => [name, fieldOf(one)]));
	return known.getOrInsertComputed(entries, read);
}

function fieldOf({ wrapped, ...rest }: SchemaParts): Field {
	const schema = wrapped ?? rest;
	const { item = schema } = schema;
	return { ...v.getMetadata(item), ...v.getMetadata(schema), ...(item.entries && { fields: fieldsOf(item) }) };
}

const ofDocument = fieldsOf(documentSchema);
const [ofChannel, ofRule] = [fieldsOf(channel), fieldsOf(automod)];
/** Those that sections list; others are items inside of them, such as tags of a forum. */
const ofThings = new Set([...ofDocument.values()].map(({ fields }) => fields));

/** Of a thing those of its kind; without one, all. */
export function defaultsOf<T extends object>(schema: v.GenericSchema<unknown, T>, thing?: object): Partial<T> {
	return defaultsIn(fieldsOf(schema as SchemaParts), thing) as Partial<T>;
}

function defaultsIn(fields: Fields, thing?: object): Values {
	const isOwn = thing ? ownFields(fields, thing) : () => true;
	const all = [...fields].filter(([field, one]) => "default" in one && isOwn(field));
	return Object.fromEntries(all.map(([field, one]) => [field, one.default]));
}

function ownFields(fields: Fields, thing: { kind?: ChannelKind; trigger?: TriggerName }): (field: string) => boolean {
	if (fields === ofRule) return ruleFieldsWith(thing.trigger ?? "spam");
	const ofKind: readonly string[] = fields === ofChannel ? editedKinds[thing.kind ?? "text"].fields : [];
	return (field) => fields !== ofChannel || field === "kind" || ofKind.includes(field);
}

type Change = (thing: Values, defaults: Values) => Values;

const leaveOut: Change = (thing, defaults) =>
	Object.fromEntries(
		Object.entries(thing).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(defaults[field])),
	);

const fillIn: Change = (thing, defaults) => ({ ...defaults, ...thing });

/** Keeps permission overwrites. */
export const withoutDefaults = (document: GuildDocument) => changeAll(document, ofDocument, leaveOut, leaveOut);

/** Adds no permission overwrites and no whole sections such as `roles`. */
export const withDefaults = (document: GuildDocument) => changeAll(document, ofDocument, fillIn, fillIn);

/** Completes the items of nested lists, such as tags of a forum, since these are compared and replaced as a whole. */
export const withItemDefaults = (document: GuildDocument) => changeAll(document, ofDocument, undefined, fillIn);

function changeAll<T extends object>(thing: T, fields: Fields, change: Change | undefined, changeItem: Change): T {
	const inside = mapFields(thing, fields, (field, value) =>
		field.fields ? changeAll(value as object, field.fields, change, changeItem) : value,
	) as Values;
	const own = fields === ofDocument ? undefined : ofThings.has(fields) ? change : changeItem;
	return (own ? own(inside, defaultsIn(fields, thing)) : inside) as T;
}

/** Each value, or item of a list, of which undefined leaves the list; a value stays as "". Without undefined fields. */
function mapFields(
	thing: object,
	fields: Fields,
	change: (field: Field, value: unknown) => unknown,
): Values | undefined {
	const changed: Values = {};
	for (const [name, value] of Object.entries(thing)) {
		const field = fields.get(name);
		if (value === undefined) continue;
		if (!field) changed[name] = value;
		else if (Array.isArray(value)) changed[name] = value.flatMap((one) => change(field, one) ?? []);
		else changed[name] = change(field, value) ?? (field.isIdentity ? undefined : "");
		if (field?.isIdentity && changed[name] === undefined) return undefined;
	}
	return changed;
}

/** A function returns undefined to remove the reference, and with it what is only about that, such as an overwrite. */
interface ReferenceMap {
	role(reference: string): string | undefined;
	channel(reference: string): string | undefined;
	/** Gets the text between the colons of a custom emoji such as ":name:"; returns colons, too. */
	emoji(reference: string): string | undefined;
}

/** All keys of the bot's settings, with what their ids belong to. */
export type BotKeys = ReadonlyMap<string, "role" | "channel" | undefined>;

/** Without `botKeys`, settings of the bot stay as they are. */
export function mapReferences(document: GuildDocument, map: ReferenceMap, botKeys?: BotKeys): GuildDocument {
	const change = ({ fields, ref, isIdentity }: Field, value: unknown): unknown => {
		if (fields) return mapFields(value as object, fields, change);
		if (!ref || value === "" || (isIdentity && value === everyone)) return value;
		if (ref !== "emoji") return map[ref](String(value));
		const [, name] = /^:(.+):$/s.exec(String(value)) ?? [];
		return name === undefined ? value : (map.emoji(name) ?? "");
	};
	const mapped = mapFields(document, ofDocument, change) as GuildDocument;
	if (!mapped.bot || !botKeys) return mapped;
	return { ...mapped, bot: mapSettings(mapped.bot, botKeys, (one, ref) => map[ref](one)) };
}

type Refer = (one: string, ref: "role" | "channel") => string | undefined;

/** Of the bot. What `refer` makes undefined leaves its list, or its key. */
export function mapSettings(settings: Values, keys: BotKeys, refer: Refer): Values {
	const mapped = Object.entries(settings).map(([key, value]): [string, unknown] => {
		const ref = keys.get(key);
		const change = (one: unknown) => (ref && typeof one === "string" ? refer(one, ref) : one);
		if (Array.isArray(value)) return [key, value.map(change).filter((one) => one !== undefined)];
		if (!ref || !isObject(value)) return [key, change(value)];
		return [key, present(Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one)])))];
	});
	return present(Object.fromEntries(mapped));
}

type Item<Things> = NonNullable<Things> extends readonly (infer One)[] ? One : NonNullable<Things>;
type ChangeOf<Things> = (thing: Item<Things>) => Item<Things> | undefined;

/** By the name of the section. A function returns undefined to remove the thing. */
type Changes = {
	[Name in Exclude<keyof GuildDocument, "channels" | "categories">]?: ChangeOf<GuildDocument[Name]>;
} & {
	/** In and outside of categories. */
	channels?: (channel: Channel, category?: Category) => Channel | undefined;
	/** Its channels are changed afterwards. */
	categories?: (category: Category) => Category | undefined;
};

/** Sections that the document lacks, and those without a function, stay as they are. */
export function mapDocument(document: GuildDocument, changes: Changes): GuildDocument {
	const { channels: changeChannel, categories: changeCategory = (one) => one, ...others } = changes;
	const changed: GuildDocument & Record<string, unknown> = { ...document };
	for (const [name, change] of Object.entries(others)) {
		const given = changed[name];
		const apply = change as (thing: unknown) => unknown;
		if (given !== undefined)
			changed[name] = Array.isArray(given) ? given.flatMap((one) => apply(one) ?? []) : apply(given);
	}
	const inside = (channels: Channel[] | undefined, category?: Category) =>
		changeChannel ? channels?.flatMap((one) => changeChannel(one, category) ?? []) : channels;
	return present({
		...changed,
		channels: inside(document.channels),
		categories: document.categories?.flatMap((category) => {
			const mapped = changeCategory(category);
			return mapped ? present({ ...mapped, channels: inside(mapped.channels, category) }) : [];
		}),
	});
}

/** Without fields that are undefined. */
export function present<T extends object>(thing: T): T {
	return Object.fromEntries(Object.entries(thing).filter(([, value]) => value !== undefined)) as T;
}

/** Without fields that are undefined, at any depth. */
export function withoutUndefined<T>(value: T): T {
	if (Array.isArray(value)) return value.map(withoutUndefined) as T;
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(present(value)).map(([name, one]) => [name, withoutUndefined(one)])) as T;
}
