// What a document that somebody wrote by hand may leave out, and the guild tells: kinds of channels, and whether an
// integration owns a role. Also the mistakes that the schema cannot find.

import type { Category, Channel, ChannelKind, GuildDocument, Role, ScheduledEvent } from "../format/document.ts";
import { channel as channelSchema } from "../format/document-schema.ts";
import { defaultsOf, mapDocument } from "../format/fields.ts";
import { channelsIn, channelsWithCategories, type Thing } from "../format/references.ts";
import { ruleFieldsWith, triggerFields } from "../names/automod-rule.ts";
import { editedKinds } from "../names/channel-kinds.ts";
import { quote } from "./pairing.ts";

/** Returns the name of a role, category or other item without surrounding spaces, for comparing names. */
export const trimmedName = ({ name }: Thing) => name.trim() || name;

/** For comparing: trimmed, and for kinds such as text channels in lower case with "-" for spaces. */
export function channelNameOf(kind: string, name: string, spaces = /\s+/g): string {
	const trimmed = trimmedName({ name });
	return ["voice", "stage", "category"].includes(kind) ? trimmed : trimmed.toLowerCase().replace(spaces, "-");
}

/** What Discord does with Unicode spaces other than the ASCII space is not known: they stay. */
export function newChannelName(kind: string, name: string): string {
	return channelNameOf(kind, name, / +/g);
}

/** The same for kinds that Discord can convert into each other. */
export const familyOf = ({ kind = "text" }: Channel) => (kind === "announcement" ? "text" : kind);

/** Takes the missing `kind` of channels and `managed` of roles from `current`. Adds ambiguous kinds to `issues`. */
export function inferFromGuild(document: GuildDocument, current: GuildDocument, issues: string[]): GuildDocument {
	const isWhole = document.omitted === "default";
	const existing = channelsIn(current);
	const byId = new Map(existing.map(({ channel }) => [channel.id, channel]));
	const byName = Map.groupBy(existing, ({ channel }) => channel.name);
	const kindOf = (one: Channel, category?: Category): ChannelKind => {
		const same = one.id === undefined ? undefined : byId.get(one.id);
		if (same) return same.kind ?? "text";
		const named = [...new Set(["text", "voice"].map((kind) => channelNameOf(kind, one.name)))]
			.flatMap((name) => byName.get(name) ?? [])
			.filter(
				({ channel: { kind = "text", name }, category: place }) =>
					(category === undefined
						? place === undefined
						: place !== undefined && (place.id === category.id || place.name === category.name)) &&
					name === channelNameOf(kind, one.name),
			);
		const exact = named.filter(({ channel }) => channel.name === one.name);
		const kinds = new Set((exact.length > 0 ? exact : named).map(({ channel }) => channel.kind));
		if (kinds.size > 1)
			issues.push(
				`channel ${quote(one.name)}: the guild has channels of different kinds with this name (${[...kinds].join(", ")}); add the kind of the channel`,
			);
		return [...kinds][0] ?? "text";
	};
	/** Those of its name, unless one has its id. */
	const alike = <T extends Thing>({ id, name }: T, things: readonly T[] = []): T[] => {
		const same = things.find((one) => id !== undefined && one.id === id);
		return same ? [same] : things.filter((one) => one.name === name.trim());
	};
	const sameOf = <T extends Thing>(thing: T, things: readonly T[] | undefined) => {
		const [one, other] = alike(thing, things);
		return other ? undefined : one;
	};
	const isManaged = (role: Role): boolean => {
		const roles = alike(role, current.roles);
		return roles.length > 0 && roles.every(({ managed }) => managed);
	};
	const eventKindOf = ({ location, channel }: ScheduledEvent) => {
		if (location) return "external";
		const places = [...existing, ...channelsWithCategories(document)].map(({ channel: place }) => place as Channel);
		const named = places.filter(({ id, key, name }) => channel && [id, key, name].includes(channel.replace(/^#/, "")));
		const [kind, other] = new Set(named.flatMap(({ kind }) => (kind === "voice" || kind === "stage" ? kind : [])));
		return other ? undefined : kind;
	};
	return mapDocument(document, {
		automod: (rule) => ({ ...rule, trigger: rule.trigger ?? sameOf(rule, current.automod)?.trigger }),
		events: (event) => {
			const { entity_type = eventKindOf(event), scheduled_start_time } = { ...sameOf(event, current.events), ...event };
			return { ...event, entity_type, scheduled_start_time };
		},
		roles: (role) => ({ ...role, managed: role.managed ?? (isWhole ? false : isManaged(role)) }),
		channels: (one, category) => ({ ...one, kind: one.kind ?? (isWhole ? "text" : kindOf(one, category)) }),
	});
}

/** Those that the schema cannot find, such as a duplicate id. Channels must have their `kind`. */
export function mistakesIn(document: GuildDocument): string[] {
	const issues: string[] = [];
	const placed = channelsWithCategories(document);
	for (const { channel, category } of placed) {
		if ("kind" in channel) {
			issues.push(...kindMistakes(channel));
			if (channel.lock_permissions && (channel.overwrites || !category))
				issues.push(
					`channel ${quote(channel.name)}: lock_permissions is for channels in a category, without overwrites`,
				);
		}
		for (const target of repeated((channel.overwrites ?? []).map(({ role, member }) => role ?? member ?? "")))
			issues.push(`channel ${quote(channel.name)}: more than one overwrite for ${quote(target)}; merge them`);
	}
	const requireOfNew = (what: string, fields: object) => {
		for (const [field, value] of Object.entries(fields))
			if (!value)
				issues.push(`${what}: ${field} is required, unless the guild has one of this id, or just one of this name`);
	};
	for (const { name, entity_type, scheduled_start_time } of document.events ?? [])
		requireOfNew(`event ${quote(name)}`, { entity_type, scheduled_start_time });
	for (const { name, trigger, ...fields } of document.automod ?? []) {
		requireOfNew(`AutoMod rule ${quote(name)}`, { trigger });
		const has = ruleFieldsWith(trigger ?? "keyword");
		for (const field of triggerFields)
			if (trigger && fields[field] !== undefined && !has(field))
				issues.push(`AutoMod rule ${quote(name)}: ${trigger} rules have no ${field}`);
	}
	const subjects = (document.messages ?? []).map(({ channel, key, name, content, embeds, poll, role_menu }) => {
		const subject = `message ${quote(key ?? name)} in ${quote(channel)}`;
		if (!channel || !(key ?? name))
			issues.push(`${subject}: it needs a channel, and a key by which later documents find it`);
		if (!content && !embeds?.length && !poll && !role_menu) issues.push(`${subject}: it has no content`);
		return subject;
	});
	for (const subject of repeated(subjects)) issues.push(`${subject}: the document has this key more than once`);
	const lists: Record<string, readonly { id?: string | undefined }[]> = {
		role: document.roles ?? [],
		emoji: document.emojis ?? [],
		channel: placed.map(({ channel }) => channel),
		"AutoMod rule": document.automod ?? [],
		event: document.events ?? [],
		webhook: document.webhooks ?? [],
	};
	for (const [what, things] of Object.entries(lists))
		for (const id of repeated(things.flatMap(({ id }) => id ?? [])))
			issues.push(`${what} ${id}: the guild document has this id more than once`);
	return issues;
}

function repeated(texts: readonly string[]): string[] {
	const once = new Set<string>();
	const twice = new Set<string>();
	for (const text of texts) (once.has(text) ? twice : once).add(text);
	return [...twice];
}

function kindMistakes(channel: Channel): string[] {
	const { kind = "text" } = channel;
	const own: readonly string[] = editedKinds[kind].fields;
	return Object.keys(defaultsOf(channelSchema))
		.filter((field) => field !== "kind" && channel[field as keyof Channel] !== undefined && !own.includes(field))
		.map((field) => `channel ${quote(channel.name)}: ${kind} channels have no ${field}`);
}
