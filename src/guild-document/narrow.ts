// Parts of a guild's document for another guild: fewer things, and none that exist only in the first one.

import {
	type Category,
	type Channel,
	type GuildDocument,
	InvalidDocument,
	type Overwrite,
	type Part,
	partNames,
	type Role,
} from "./format/document.ts";
import { mapDocument, present } from "./format/fields.ts";
import { channelsWithCategories, keyOf } from "./format/references.ts";

/** Categories and roles by name or key. Without parts: the categories and roles that are named. */
export interface Narrowing {
	parts?: Part[] | undefined;
	categories?: string[] | undefined;
	roles?: string[] | undefined;
}

/** What has to be exported. Undefined: the default. */
export function partsOf({ parts, categories, roles }: Narrowing): readonly Part[] | undefined {
	if (!categories && !roles) return parts;
	return partNames.filter((part) => parts?.includes(part) || (categories && part === "categories") || part === "roles");
}

/** With the roles that the access of the categories names. Throws an InvalidDocument for an unknown name. */
export function narrow(document: GuildDocument, narrowing: Narrowing): GuildDocument {
	const { parts, categories, roles } = narrowing;
	const wanted = partsOf(narrowing) ?? partNames;
	const kept: GuildDocument = { ...document };
	for (const part of partNames) if (!wanted.includes(part)) delete kept[part];
	if (categories) kept.categories = named("category", document.categories ?? [], categories);
	if (!roles && (!categories || parts?.includes("roles"))) return kept;
	const used = new Set(
		channelsWithCategories(kept).flatMap(({ channel }) => channel.overwrites?.map(({ role }) => role)),
	);
	const all = document.roles ?? [];
	const chosen = named("role", all, roles ?? []);
	kept.roles = all.filter((role) => chosen.includes(role) || used.has(keyOf(role)));
	return kept;
}

export interface Copy {
	document: GuildDocument;
	/** The overwrites that are left out, such as "role Bot in Staff, mod-chat". */
	withoutAccess: readonly string[];
}

/**
 * For another guild: by names instead of ids, without access of single members, and without the guild's name and icon.
 * Roles that the other guild has stay as they are there, unless they are `chosen`; those of integrations are left out.
 * Fields with their default value are not set, and the bot of the other guild keeps its access.
 */
export function forOtherGuild(
	document: GuildDocument,
	existing: ReadonlySet<string>,
	chosen: readonly string[] | undefined,
): Copy {
	const isKept = (role: Role) =>
		!role.managed && (!existing.has(role.name) || chosen === undefined || isNamed(role, chosen));
	const lost = new Set((document.roles ?? []).filter((role) => role.managed && !existing.has(role.name)).map(keyOf));
	const withoutId = <One extends { id?: string | undefined }>(one: One): One => present({ ...one, id: undefined });
	const places = new Map<string, string[]>();
	const place = <One extends Channel | Category>(one: One): One => {
		const isKept = ({ role }: Overwrite) => role !== undefined && !lost.has(role);
		const [overwrites, left = []] = [one.overwrites?.filter(isKept), one.overwrites?.filter((each) => !isKept(each))];
		for (const { role, member, allow = [], deny = [] } of left) {
			const held = [...allow, ...deny.map((name) => `-${name}`)].join(", ");
			const whose = `${role === undefined ? `member ${member}` : `role ${role}`} (${held})`;
			places.getOrInsert(whose, []).push(one.name);
		}
		return present({ ...withoutId(one), overwrites });
	};
	const copy = mapDocument(document, {
		settings: ({ name: _, icon: __, ...settings }) => settings,
		roles: (role) => (isKept(role) ? withoutId(role) : undefined),
		emojis: withoutId,
		channels: place,
		categories: place,
		automod: withoutId,
		events: withoutId,
		webhooks: withoutId,
	});
	const withoutAccess = [...places].map(([whose, names]) => `${whose} in ${names.join(", ")}`);
	return { document: present({ ...withoutId(copy), omitted: undefined }), withoutAccess };
}

function isNamed(thing: Role | Category, names: readonly string[]): boolean {
	const own = [thing.name, keyOf(thing)].map((name) => name.toLowerCase());
	return names.some((name) => own.includes(name.toLowerCase()));
}

function named<One extends Role | Category>(kind: string, things: readonly One[], names: readonly string[]): One[] {
	const unknown = names.filter((name) => !things.some((thing) => isNamed(thing, [name])));
	if (unknown.length > 0)
		throw new InvalidDocument(
			unknown.map((name) => `no ${kind} is called ${JSON.stringify(name)}; there are ${things.map(keyOf).join(", ")}`),
		);
	return things.filter((thing) => isNamed(thing, names));
}
