// Finds for each thing in a document the thing of the guild that it describes, and replaces the document's keys with ids.

import { editedKinds } from "./channel-kinds.ts";
import { defaultsOf, withDefaults, withItemDefaults } from "./defaults.ts";
import type { ChannelKind } from "./document.ts";
import {
	type Category,
	type Channel,
	everyone,
	type GuildDocument,
	InvalidDocument,
	type Role,
} from "./document.ts";
import { keysInGuild } from "./export.ts";
import { documentWithIds } from "./from-api.ts";
import { channelsWithCategories, keysOf, mapReferences } from "./references.ts";
import type { GuildState, Refusal } from "./steps.ts";

/** A document and the guild to compare it with. Both refer to things by ids. */
export interface Matched {
	/**
	 * The document. Each role, channel, emoji, rule, event and webhook has an `id`: Discord's, or a placeholder such as
	 * "+role/Mods" for what does not exist yet.
	 */
	wanted: GuildDocument;
	current: GuildDocument;
	refusals: Refusal[];
	/** The key or name of each thing, by id or placeholder. */
	names: ReadonlyMap<string, string>;
	/** The ids that the document gives to what does not exist yet, by placeholder. */
	hints: ReadonlyMap<string, string>;
}

/** Whether an id is a placeholder for the id of something that does not exist yet. */
export const isPlaceholder = (id: string) => id.startsWith("+");

/** Something that a document or a guild lists. */
interface Thing {
	name: string;
	id?: string | undefined;
	key?: string | undefined;
}

interface Pairing<W extends Thing, C extends Thing> {
	/** What the things are called in messages: "role". */
	what: string;
	wanted: readonly W[];
	current: readonly C[];
	placeholderOf(thing: W): string;
	/** Ids of what the running job has already created, by placeholder. */
	known: ReadonlyMap<string, string>;
	/** What tells things of the same name apart: "" if nothing does. Only things with equal texts can be the same. */
	place(thing: W | C): string;
	/** Whether the thing of the guild may become the other one, which has its id. */
	isCompatible?(wanted: W, current: C): boolean;
	issues: string[];
}

/** Returns the current thing for each wanted one that exists. */
function pairUp<W extends Thing, C extends Thing>(
	pairing: Pairing<W, C>,
): Map<W, C> {
	const { what, wanted, current, placeholderOf, known, place, issues } =
		pairing;
	const { isCompatible = () => true } = pairing;
	const pairs = new Map<W, C>();
	const taken = new Set<C>();
	const byId = new Map(current.map((thing) => [thing.id, thing]));
	const pair = (one: W, other: C | undefined) => {
		if (!other || pairs.has(one) || taken.has(other)) return;
		pairs.set(one, other);
		taken.add(other);
	};
	for (const one of wanted) pair(one, byId.get(known.get(placeholderOf(one))));
	for (const one of wanted) {
		const other = one.id === undefined ? undefined : byId.get(one.id);
		if (other && isCompatible(one, other)) pair(one, other);
	}
	const nameOf = (thing: W | C) => `${place(thing)}\n${thing.name}`;
	const rest = <T extends Thing>(
		things: readonly T[],
		isUsed: (one: T) => boolean,
	) =>
		Map.groupBy(
			things.filter((one) => !isUsed(one)),
			(one) => nameOf(one as unknown as W | C),
		);
	const unpaired = rest(wanted, (one) => pairs.has(one) || isMade(one));
	const free = rest(current, (one) => taken.has(one));
	// What the job has made and someone has deleted is not looked for by its name.
	function isMade(one: W): boolean {
		return known.has(placeholderOf(one));
	}
	for (const [name, group] of unpaired) {
		const others = free.get(name) ?? [];
		const isClear =
			others.length === 0 ||
			others.length === group.length ||
			(others.length < group.length && areAlike(group));
		if (isClear)
			for (const [index, one] of group.entries()) pair(one, others[index]);
		else
			issues.push(
				`${what} ${quote(group[0]?.name)}: the document has ${group.length} with this name, the guild ${others.length}; add the id of each to the document`,
			);
	}
	return pairs;
}

const quote = (text: string | undefined) => JSON.stringify(text ?? "");

/** Whether things of a document differ in nothing but their ids and keys. */
function areAlike(things: readonly Thing[]): boolean {
	const texts = things.map(({ id: _, key: __, ...rest }) =>
		JSON.stringify(rest),
	);
	return new Set(texts).size === 1;
}

/** Converts a channel's name as Discord does: text channels and forums have lower-case names with "-" for spaces. */
export function channelNameOf(kind: string, name: string): string {
	const isText = !["voice", "stage", "category"].includes(kind);
	const trimmed = name.trim();
	return isText ? trimmed.toLowerCase().replace(/\s+/g, "-") : trimmed;
}

/** Kinds of channels that Discord can convert into each other have the same family. */
const familyOf = (kind: string) => (kind === "announcement" ? "text" : kind);

/**
 * Matches a document with a guild. `known` has the ids of what a running job has created, by placeholder. Throws an
 * InvalidDocument if a name is ambiguous, or if a reference refers to nothing.
 */
export function matchDocument(
	document: GuildDocument,
	state: GuildState,
	known: ReadonlyMap<string, string> = new Map(),
): Matched {
	const issues: string[] = [];
	const refusals: Refusal[] = [];
	const current = documentWithIds(state);
	const keys = keysInGuild(current);
	const names = new Map<string, string>([
		...keys.roles,
		...keys.channels,
		...keys.emojis,
	]);
	const withKinds = inferKinds(document, current);
	const given = withNormalNames(
		document.omitted === "default"
			? withDefaults(withKinds)
			: withItemDefaults(withKinds),
	);
	for (const { channel } of channelsWithCategories(given))
		if ("kind" in channel) issues.push(...kindIssues(channel));
	const ids = new Map<object, string | undefined>();
	const hints = new Map<string, string>();
	/** Ids of the document's things by the key with which it refers to them. */
	const byKey = {
		role: new Map<string, string[]>(),
		channel: new Map<string, string[]>(),
		emoji: new Map<string, string[]>(),
	};

	const identify = <W extends Thing, C extends Thing>(
		kind: string,
		wanted: readonly W[],
		pairs: ReadonlyMap<W, C>,
		placeholderOf: (thing: W) => string,
		table?: Map<string, string[]>,
	) => {
		for (const one of wanted) {
			const isMissingManaged =
				!pairs.has(one) && (one as { managed?: boolean }).managed === true;
			const id = isMissingManaged
				? undefined
				: (pairs.get(one)?.id ?? placeholderOf(one));
			const key = one.key ?? one.name;
			ids.set(one, id);
			if (id !== undefined) names.set(id, key);
			if (id !== undefined && isPlaceholder(id) && one.id !== undefined)
				hints.set(id, one.id);
			table?.set(key, [...(table.get(key) ?? []), ...(id ? [id] : [""])]);
			if (isMissingManaged)
				refusals.push({
					subject: `${kind} ${one.name}`,
					reason:
						"an integration, such as a bot, owns it; Discord creates it when the integration is added",
				});
		}
	};
	const run = <W extends Thing, C extends Thing>(
		kind: string,
		wanted: readonly W[] | undefined,
		existing: readonly C[] | undefined,
		options: Partial<Pairing<W, C>> = {},
		table?: Map<string, string[]>,
		longNameOf?: (thing: W) => string | undefined,
	) => {
		const placeholders = placeholdersOf(kind, wanted ?? [], longNameOf);
		const placeholderOf = (thing: W) => placeholders.get(thing) ?? "";
		const pairs = pairUp({
			what: kind,
			wanted: wanted ?? [],
			current: existing ?? [],
			placeholderOf,
			known,
			place: () => "",
			issues,
			...options,
		});
		identify(kind, wanted ?? [], pairs, placeholderOf, table);
	};

	run<Role, Role>(
		"role",
		given.roles,
		current.roles,
		{
			place: ({ managed = false }) => String(managed),
			isCompatible: (one, other) =>
				(one.managed ?? false) === (other.managed ?? false),
		},
		byKey.role,
	);
	run("emoji", given.emojis, current.emojis, {}, byKey.emoji);
	matchChannels();
	run("AutoMod rule", given.automod, current.automod, {
		place: ({ trigger }) => trigger,
		isCompatible: (one, other) => one.trigger === other.trigger,
	});
	run("event", given.events, current.events, {
		place: ({ start }) => start,
	});

	function matchChannels(): void {
		const wanted = channelsWithCategories(given);
		const existing = channelsWithCategories(current);
		const categories = given.categories ?? [];
		run<Category, Category>(
			"category",
			categories,
			current.categories,
			{},
			byKey.channel,
		);
		const parents = new Map<object, string>();
		const inGuild = new Map<string, string>();
		for (const { channel, category } of wanted)
			parents.set(channel, category ? (ids.get(category) ?? "") : "");
		for (const { channel, category } of existing) {
			parents.set(channel, category?.id ?? "");
			inGuild.set(channel.id ?? "", category?.name ?? "");
		}
		const isChannel = (one: { channel: Channel | Category }) =>
			!categories.includes(one.channel as Category);
		const channels = wanted
			.filter(isChannel)
			.map(({ channel }) => channel as Channel);
		const others = existing
			.filter(({ channel }) => "kind" in channel)
			.map(({ channel }) => channel as Channel);
		const categoryOf = new Map(
			wanted.map(({ channel, category }) => [channel as object, category]),
		);
		const family = ({ kind = "text" }: Channel) => familyOf(kind);
		run<Channel, Channel>(
			"channel",
			channels,
			others,
			{
				place: (channel) => `${parents.get(channel)} ${family(channel)}`,
				isCompatible: (one, other) => family(one) === family(other),
			},
			byKey.channel,
			(channel) => {
				const category = categoryOf.get(channel);
				return category && `${category.name}/${channel.name}`;
			},
		);
		// A channel of this name elsewhere: whether to move it or to create another one is not guessed.
		const used = new Set(ids.values());
		for (const channel of channels) {
			const id = ids.get(channel) ?? "";
			if (!isPlaceholder(id) || channel.id !== undefined || known.has(id))
				continue;
			const other = others.find(
				(one) =>
					!used.has(one.id) &&
					one.name === channel.name &&
					family(one) === family(channel),
			);
			if (!other) continue;
			const where = inGuild.get(other.id ?? "") || "outside of categories";
			issues.push(
				`channel ${quote(channel.name)}: the guild has one elsewhere (${where}, id ${other.id}); add this id to move that one, or list that one, too, to keep it and create another`,
			);
		}
	}

	const lookUp =
		(kind: keyof typeof byKey, own: ReadonlyMap<string, string>) =>
		(reference: string): string | undefined => {
			const found = byKey[kind].get(reference) ?? [];
			if (found.length === 1) return found[0] || undefined;
			if (found.length > 1) {
				issues.push(
					`${kind} ${quote(reference)}: the document has ${found.length} with this name; give each a key, and refer to it by that`,
				);
				return undefined;
			}
			const [id] = [...own].find(([, key]) => key === reference) ?? [];
			if (id === undefined)
				issues.push(
					`${kind} ${quote(reference)}: neither the document nor the guild has exactly one with this name`,
				);
			return id;
		};
	const withIds = mapReferences(given, {
		role: lookUp("role", keys.roles),
		channel: lookUp("channel", keys.channels),
		emoji: (name) => {
			const id = lookUp("emoji", keys.emojis)(name);
			return id && `:${id}:`;
		},
	});
	const identified = addIds(given, withIds, ids);
	const wanted = expandPermissions(identified, current.everyone ?? []);
	// Webhooks are told apart by their channels, whose ids are only known now.
	run("webhook", wanted.webhooks, current.webhooks, {
		place: ({ channel }) => channel,
	});
	wanted.webhooks = wanted.webhooks?.map((webhook) => ({
		...webhook,
		id: ids.get(webhook) ?? "",
	}));
	if (issues.length > 0) throw new InvalidDocument([...new Set(issues)]);
	return { wanted, current, refusals, names, hints };
}

function placeholdersOf<W extends Thing>(
	kind: string,
	things: readonly W[],
	longNameOf: (thing: W) => string | undefined = () => undefined,
): Map<W, string> {
	const unique = keysOf(
		things.map((thing) => {
			const longName = longNameOf(thing);
			return {
				name: thing.key ?? thing.name,
				...(longName !== undefined && { longName }),
			};
		}),
	);
	return new Map(
		things.map((thing, index) => [thing, `+${kind}/${unique[index]}`]),
	);
}

/** Gives each channel whose kind a document leaves out that of the channel in the guild, or "text" if it is new. */
function inferKinds(
	document: GuildDocument,
	current: GuildDocument,
): GuildDocument {
	const existing = channelsWithCategories(current);
	const kindOf = (one: Channel, category?: Category): ChannelKind => {
		const named = existing.filter(
			(other) =>
				(other.category?.id === category?.id ||
					other.category?.name === category?.name) &&
				"kind" in other.channel &&
				other.channel.name ===
					channelNameOf(other.channel.kind ?? "text", one.name),
		);
		const same = existing.find(
			({ channel }) => channel.id !== undefined && channel.id === one.id,
		);
		const found = same ?? (named.length === 1 ? named[0] : undefined);
		return (found?.channel as Channel | undefined)?.kind ?? "text";
	};
	const isKept = document.omitted !== "default";
	const infer = (one: Channel, category?: Category): Channel => ({
		...one,
		kind: one.kind ?? (isKept ? kindOf(one, category) : "text"),
	});
	return {
		...document,
		...(document.channels && {
			channels: document.channels.map((channel) => infer(channel)),
		}),
		...(document.categories && {
			categories: document.categories.map((category) => ({
				...category,
				...(category.channels && {
					channels: category.channels.map((one) => infer(one, category)),
				}),
			})),
		}),
	};
}

/** Says which settings of a channel its kind does not have. */
function kindIssues(channel: Channel): string[] {
	const { kind = "text" } = channel;
	const own: readonly string[] = editedKinds[kind].fields;
	return Object.keys(defaultsOf.channel)
		.filter(
			(field) =>
				field !== "kind" &&
				channel[field as keyof Channel] !== undefined &&
				!own.includes(field),
		)
		.map(
			(field) =>
				`channel ${quote(channel.name)}: ${kind} channels have no ${field}`,
		);
}

function withNormalNames(document: GuildDocument): GuildDocument {
	const channel = (one: Channel): Channel => ({
		...one,
		name: channelNameOf(one.kind ?? "text", one.name),
		...(one.key === undefined && { key: one.name }),
	});
	return {
		...document,
		...(document.channels && { channels: document.channels.map(channel) }),
		...(document.categories && {
			categories: document.categories.map((category) => ({
				...category,
				...(category.channels && { channels: category.channels.map(channel) }),
			})),
		}),
	};
}

/**
 * Gives the things of `mapped` the ids that were found for those of `given`, which has the same things in the same
 * order. Removes things without an id.
 */
function addIds(
	given: GuildDocument,
	mapped: GuildDocument,
	ids: ReadonlyMap<object, string | undefined>,
): GuildDocument {
	const add = <T extends object>(
		things: T[] | undefined,
		originals: readonly object[] | undefined,
	): T[] | undefined =>
		things?.flatMap((thing, index) => {
			const id = ids.get(originals?.[index] ?? {});
			return id === undefined ? [] : { ...thing, id };
		});
	return {
		...mapped,
		...(mapped.roles && { roles: add(mapped.roles, given.roles) ?? [] }),
		...(mapped.emojis && { emojis: add(mapped.emojis, given.emojis) ?? [] }),
		...(mapped.automod && {
			automod: add(mapped.automod, given.automod) ?? [],
		}),
		...(mapped.events && { events: add(mapped.events, given.events) ?? [] }),
		...(mapped.channels && {
			channels: add(mapped.channels, given.channels) ?? [],
		}),
		...(mapped.categories && {
			categories: (add(mapped.categories, given.categories) ?? []).map(
				(category, index) => {
					const channels = add(
						category.channels,
						given.categories?.[index]?.channels,
					);
					return { ...category, ...(channels && { channels }) };
				},
			),
		}),
	};
}

/** Replaces "@everyone" in the permissions of roles with all permissions that @everyone has. */
function expandPermissions(
	document: GuildDocument,
	currentEveryone: readonly string[],
): GuildDocument {
	const common = (document.everyone ?? currentEveryone).filter(
		(name) => name !== everyone,
	);
	const { roles } = document;
	return {
		...document,
		...(document.everyone && { everyone: common }),
		...(roles && {
			roles: roles.map((role) => ({
				...role,
				...(role.permissions && {
					permissions: [
						...new Set(
							role.permissions.flatMap((name) =>
								name === everyone ? common : [name],
							),
						),
					],
				}),
			})),
		}),
	};
}
