// Finds for each thing in a document the thing of the guild that it describes, and replaces the document's keys with ids.

import { onOneLine } from "../../lib/text.ts";
import {
	type Category,
	type Channel,
	everyone,
	type GuildDocument,
	InvalidDocument,
	maxShownKey,
	type Role,
} from "../format/document.ts";
import {
	type BotKeys,
	mapDocument,
	mapReferences,
	mapSettings,
	withDefaults,
	withItemDefaults,
} from "../format/fields.ts";
import { channelsIn, channelsWithCategories, keyOf, keysOf, type Thing } from "../format/references.ts";
import { documentWithIds } from "../read/current-document.ts";
import { type Keys, keysInGuild } from "../read/export.ts";
import type { GuildState, Refusal } from "../steps.ts";
import { channelNameOf, familyOf, inferFromGuild, mistakesIn, newChannelName, trimmedName } from "./infer.ts";
import { type Pairing, pairUp, quote } from "./pairing.ts";

/** Both documents refer to roles, channels and emoji by ids, not by keys. */
export interface Matched {
	/** Everything has an `id`: Discord's, or a placeholder such as "+role/Mods" for what is new. */
	wanted: GuildDocument;
	current: GuildDocument;
	refusals: Refusal[];
	/** By id, without what was created from the document: the keys of all others stay what they were before. */
	keys: Keys;
	/** For messages, by id or placeholder such as "+role/Mods". */
	names: ReadonlyMap<string, string>;
	/** Ids in the document of what the guild lacks, by placeholder such as "+role/Mods". */
	hints: ReadonlyMap<string, string>;
	/** What the document refers to without listing it, by id; the values are for messages, such as 'channel "general"'. */
	referred: ReadonlyMap<string, string>;
}

/** Such as "+role/Mods", for the id of what does not exist yet. */
export const isPlaceholder = (id: string) => id.startsWith("+");

interface Identity {
	id: string | undefined;
	/** As Discord stores it. */
	name: string;
}

/**
 * `known`: ids of what was already created, by placeholder. Throws an InvalidDocument for mistakes, ambiguous names, or
 * references to what does not exist.
 */
export function matchDocument(
	document: GuildDocument,
	state: GuildState,
	known: ReadonlyMap<string, string> = new Map(),
): Matched {
	const current = documentWithIds(state);
	const before = withoutThings(current, new Set(known.values()));
	const issues: string[] = [];
	const inferred = inferFromGuild(document, before, issues);
	issues.push(...mistakesIn(inferred));
	const given = document.omitted === "default" ? withDefaults(inferred) : withItemDefaults(inferred);
	const keys = keysInGuild(before);
	const matching = new Matching(given, current, keys, known, issues);
	matching.matchAll();
	const wanted = matching.result(state.bot?.keys);
	if (wanted.bot && state.bot) {
		wanted.bot = changedSettings(wanted, current, state.bot.keys);
		const asId = (id: string) => (isPlaceholder(id) ? state.guild.id : id);
		const mistakes = state.bot.mistakesIn(mapSettings(wanted.bot, state.bot.keys, asId));
		issues.push(...mistakes.map(({ key, message }) => `bot.${onOneLine(key, maxShownKey)}: ${message}`));
	}
	if (issues.length > 0) throw new InvalidDocument([...new Set(issues)]);
	const { refusals, names, hints, referred } = matching;
	return { wanted, current, refusals, keys, names, hints, referred };
}

/** Of the bot. In a whole document, keys that it lacks get their default. */
function changedSettings({ omitted, bot = {} }: GuildDocument, { bot: now = {} }: GuildDocument, keys: BotKeys) {
	const isUnset = (key: string) => omitted === "default" && keys.has(key) && bot[key] === undefined;
	const unset = Object.keys(now)
		.filter(isUnset)
		.map((key) => [key, null] as const);
	const all = [...Object.entries(bot), ...unset];
	return Object.fromEntries(all.filter(([key, value]) => !Bun.deepEquals(value ?? undefined, now[key])));
}

function withoutThings(guild: GuildDocument, ids: ReadonlySet<string>): GuildDocument {
	if (ids.size === 0) return guild;
	const isLeft = ({ id = "" }: { id?: string | undefined }) => !ids.has(id);
	const categories = guild.categories?.map(({ channels, ...category }) => ({
		...category,
		channels: channels?.filter(isLeft) ?? [],
	}));
	const removed = categories?.filter((category) => !isLeft(category)) ?? [];
	return {
		...guild,
		roles: guild.roles?.filter(isLeft),
		emojis: guild.emojis?.filter(isLeft),
		channels: [...(guild.channels?.filter(isLeft) ?? []), ...removed.flatMap(({ channels }) => channels)],
		categories: categories?.filter(isLeft),
	};
}

class Matching {
	readonly names: Map<string, string>;
	readonly hints = new Map<string, string>();
	readonly referred = new Map<string, string>();
	readonly refusals: Refusal[] = [];
	readonly #found = new Map<object, Identity>();
	/** Ids by kind and key, or name; "" for what is missing. Categories are channels here. */
	readonly #byKey = new Map<string, string[]>();
	readonly #byName = new Map<string, string[]>();

	constructor(
		readonly given: GuildDocument,
		readonly current: GuildDocument,
		readonly ownKeys: Keys,
		readonly known: ReadonlyMap<string, string>,
		readonly issues: string[],
	) {
		this.names = new Map([...ownKeys.roles, ...ownKeys.channels, ...ownKeys.emojis]);
	}

	matchAll(): void {
		const { given, current } = this;
		this.#match<Role, Role>("role", given.roles, current.roles, {
			place: ({ managed = false }) => String(managed),
			isCompatible: (one, other) => (one.managed ?? false) === (other.managed ?? false),
		});
		this.#match("emoji", given.emojis, current.emojis, { normalName: ({ name }) => name });
		this.#match<Category, Category>("category", given.categories, current.categories);
		this.#matchChannels();
		this.#match("AutoMod rule", given.automod, current.automod, {
			place: ({ trigger = "" }) => trigger,
			isCompatible: (one, other) => one.trigger === other.trigger,
		});
		this.#match("event", given.events, current.events, { place: ({ scheduled_start_time: at = "" }) => at });
	}

	result(botKeys: BotKeys | undefined): GuildDocument {
		const { given, current } = this;
		const emojiOf = this.#lookUp("emoji", current.emojis ?? []);
		const identity = (thing: Thing) => this.#identified(thing) as never;
		const identified = mapDocument(given, {
			roles: identity,
			emojis: identity,
			automod: identity,
			events: identity,
			channels: identity,
			categories: identity,
		});
		const idsOf = {
			role: this.#lookUp("role", current.roles ?? []),
			channel: this.#lookUp(
				"channel",
				channelsWithCategories(current).map(({ channel }) => channel),
			),
			emoji: (reference: string) => {
				const id = emojiOf(reference);
				return id && `:${id}:`;
			},
		};
		const withIds = mapReferences(identified, idsOf, botKeys);
		this.#match("webhook", withIds.webhooks, current.webhooks, { place: ({ channel }) => channel });
		return expandPermissions(mapDocument(withIds, { webhooks: identity }), current.everyone ?? []);
	}

	#match<W extends Thing, C extends Thing>(
		kind: string,
		wanted: readonly W[] = [],
		existing: readonly C[] = [],
		options: Partial<Pairing<W, C>> = {},
		longNameOf?: (thing: W) => string | undefined,
	): void {
		const placeholders = placeholdersOf(kind, wanted, longNameOf);
		const placeholderOf = (thing: W) => placeholders.get(thing) ?? "";
		const pairing: Pairing<W, C> = {
			what: kind,
			wanted,
			current: existing,
			placeholderOf,
			known: this.known,
			place: () => "",
			normalName: trimmedName,
			isCompatible: () => true,
			issues: this.issues,
			...options,
		};
		const pairs = pairUp(pairing);
		const add = (table: Map<string, string[]>, name: string, id = "") =>
			table.getOrInsert(entryOf(kind === "category" ? "channel" : kind, name), []).push(id);
		for (const one of wanted) {
			const other = pairs.get(one);
			const { managed, unseen } = one as { managed?: boolean; unseen?: boolean };
			const isMissing = !other && (managed || unseen);
			const id = isMissing ? undefined : (other?.id ?? placeholderOf(one));
			const isSameName = other && pairing.normalName(one) === pairing.normalName(other);
			const name = isSameName
				? other.name
				: kind === "channel"
					? newChannelName((one as Channel).kind ?? "text", one.name)
					: trimmedName(one);
			const key = keyOf(one);
			this.#found.set(one, { id, name });
			if (id !== undefined) this.names.set(id, shownName(one.name, key));
			if (id !== undefined && !other && one.id !== undefined) this.hints.set(id, one.id);
			add(this.#byKey, key, id);
			if (key !== one.name) add(this.#byName, one.name, id);
			if (isMissing)
				this.refusals.push({
					subject: `${kind} ${one.name}`,
					reason: managed
						? "an integration, such as a bot, owns it; Discord creates it when the integration is added"
						: "the guild does not have it, and the document does not describe it",
				});
		}
	}

	#matchChannels(): void {
		const wanted = channelsIn(this.given);
		const existing = channelsIn(this.current);
		const idOf = (category: Category) => this.#found.get(category)?.id ?? category.id ?? "";
		const placeOf = new Map(
			[...wanted, ...existing].map(({ channel, category }) => [channel, category ? idOf(category) : ""]),
		);
		const categoryOf = new Map([...wanted, ...existing].map(({ channel, category }) => [channel, category?.name]));
		this.#match<Channel, Channel>(
			"channel",
			wanted.map(({ channel }) => channel),
			existing.map(({ channel }) => channel),
			{
				place: (channel) => `${placeOf.get(channel)} ${familyOf(channel)}`,
				normalName: ({ kind = "text", name }) => channelNameOf(kind, name),
				isCompatible: (one, other) => familyOf(one) === familyOf(other),
			},
			(channel) => {
				const category = categoryOf.get(channel);
				return category && `${category}/${channel.name}`;
			},
		);
		// A channel of this name elsewhere: whether to move it or to create another one is not guessed.
		const used = new Set([...this.#found.values()].map(({ id }) => id));
		const elsewhere = Map.groupBy(
			existing.map(({ channel }) => channel).filter(({ id }) => !used.has(id)),
			(channel) => `${familyOf(channel)} ${channel.name}`,
		);
		for (const { channel } of wanted) {
			const { id = "", name } = this.#found.get(channel) ?? {};
			if (!isPlaceholder(id) || channel.id !== undefined || this.known.has(id)) continue;
			const [other] = elsewhere.get(`${familyOf(channel)} ${name}`) ?? [];
			if (!other) continue;
			const where = categoryOf.get(other);
			this.issues.push(
				`channel ${quote(channel.name)}: the guild has a channel with this name elsewhere (${where === undefined ? "outside of categories" : `in ${quote(where)}`}, id ${other.id}); add this id to move the existing channel, or list the existing channel, too, to keep it and create another one`,
			);
		}
	}

	#lookUp(kind: "role" | "channel" | "emoji", existing: readonly Thing[]): (reference: string) => string | undefined {
		const own = this.ownKeys[`${kind}s`];
		const idsByKey = new Map([...own].map(([id, key]) => [key, id]));
		const listed = (name: string) => this.#byKey.get(entryOf(kind, name)) ?? this.#byName.get(entryOf(kind, name));
		const isKnown = (key: string) => listed(key) !== undefined || idsByKey.has(key);
		return (given) => {
			// People also write #channel and @Role.
			const bare = given.replace(kind === "channel" ? /^#/ : /^@/, "");
			const reference = isKnown(bare) && !isKnown(given) ? bare : given;
			const found = listed(reference) ?? [];
			if (found.length === 1) return found[0] || undefined;
			if (found.length > 1) {
				this.issues.push(
					`${kind} ${quote(reference)}: the document has ${found.length} ${kind}s with this name; give each a key, and refer to it by its key`,
				);
				return undefined;
			}
			const id = idsByKey.get(reference) ?? (own.has(reference) ? reference : undefined);
			if (id !== undefined) {
				this.referred.set(id, `${kind} ${quote(reference)}`);
				return id;
			}
			const named = existing.filter(({ name }) => name === reference);
			this.issues.push(
				named.length > 1
					? `${kind} ${quote(reference)}: the guild has ${named.length} ${kind}s with this name; refer to one of them by its key: ${named
							.slice(0, 5)
							.map(({ id = "" }) => quote(own.get(id)))
							.join(", ")}`
					: `${kind} ${quote(reference)}: neither the document nor the guild has one with this name`,
			);
			return undefined;
		};
	}

	#identified<T extends Thing>(thing: T): T | undefined {
		const { id, name } = this.#found.get(thing) ?? {};
		return id === undefined ? undefined : { ...thing, id, name: name ?? "" };
	}
}

/** Its key, such as "Staff/general", if that contains the name; otherwise both. */
function shownName(name: string, key: string): string {
	const base = key.replace(/ \(\d+\)$/, "");
	return [key, base].some((one) => one === name || one.endsWith(`/${name}`)) ? key : `${name} (key ${key})`;
}

const entryOf = (kind: string, name: string) => `${kind}\n${name}`;

function placeholdersOf<W extends Thing>(
	kind: string,
	things: readonly W[],
	longNameOf: (thing: W) => string | undefined = () => undefined,
): Map<W, string> {
	const unique = keysOf(things.map((thing) => ({ name: keyOf(thing), longName: longNameOf(thing) })));
	return new Map(things.map((thing, index) => [thing, `+${kind}/${unique[index]}`]));
}

/** Replaces "@everyone" in the permissions of a guild document's roles with the permissions that all members have. */
function expandPermissions(document: GuildDocument, currentEveryone: readonly string[]): GuildDocument {
	const common = (document.everyone ?? currentEveryone).filter((name) => name !== everyone);
	return mapDocument(
		{ ...document, ...(document.everyone && { everyone: common }) },
		{
			roles: (role) => ({
				...role,
				...(role.permissions && {
					permissions: [...new Set(role.permissions.flatMap((name) => (name === everyone ? common : [name])))],
				}),
			}),
		},
	);
}
