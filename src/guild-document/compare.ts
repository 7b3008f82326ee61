// What differs between two guilds, by their documents and members.

import { everyone, type GuildDocument, type Overwrite, type Part } from "./format/document.ts";

export interface GuildFacts {
	/** With the id. */
	name: string;
	document: GuildDocument;
	/** Ids; undefined if they are not known. */
	members: readonly string[] | undefined;
	/** Names of a member's roles; undefined if they are not known. */
	rolesOf(id: string): readonly string[] | undefined;
	/** Lines that say what could not be read, and why. */
	missing: readonly string[];
}

interface Shown {
	/** Of these also what is equal, and lists in full. */
	all: readonly Part[];
	person(id: string): string;
}

const maxShown = 40;

/** The first guild is A, the second B. */
export function compareGuilds(a: GuildFacts, b: GuildFacts, parts: readonly Part[], shown: Shown): string[] {
	const list = (x: GuildFacts, y: GuildFacts) => {
		const ids = idsOf(x.document)?.filter((id) => y.members?.includes(id)) ?? [];
		const withRoles = (id: string) => {
			const roles = y.rolesOf(id);
			return `${shown.person(id)}${roles ? ` with ${roles.join(", ") || "no roles"}` : ""}`;
		};
		return ids.map(withRoles).join("; ") || "nobody";
	};
	return [
		`A: ${a.name}`,
		`B: ${b.name}`,
		...a.missing.map((line) => `Not compared: A: ${line}`),
		...b.missing.map((line) => `Not compared: B: ${line}`),
		...parts.flatMap((part) => {
			if (part === "members") return peopleLine(part, a.members, b.members, shown);
			if (part === "bans") return peopleLine(part, idsOf(a.document), idsOf(b.document), shown);
			return partLines(part, things(a.document, part), things(b.document, part), shown.all.includes(part));
		}),
		...(parts.includes("bans") && parts.includes("members")
			? [`banned in A, member of B: ${list(a, b)}`, `banned in B, member of A: ${list(b, a)}`]
			: []),
	];
}

type Fields = Record<string, unknown>;

const idsOf = ({ bans }: GuildDocument) => bans?.map(({ id }) => id);

/** By name. A part that is one thing has the name "". */
function things(document: GuildDocument, part: Part): Map<string, Fields> | undefined {
	const value: unknown = part === "channels" ? allChannels(document) : document[part];
	if (value === undefined) return undefined;
	const { everyone: common = [] } = document;
	if (part === "everyone") return new Map([["", { permissions: value }]]);
	if (!Array.isArray(value)) return new Map([["", fieldsOf(value as Fields)]]);
	const found = new Map<string, Fields>();
	for (const thing of value as (Fields & { name: string })[]) {
		// The roles of bots and other integrations cannot be the same.
		if (thing.managed) continue;
		let name = thing.name;
		for (let number = 2; found.has(name); number++) name = `${thing.name} (${number})`;
		// In an export, "@everyone" stands for all that is in `everyone`.
		const permissions = part === "roles" && (thing.permissions as string[] | undefined);
		const whole = permissions ? permissions.flatMap((one) => (one === everyone ? common : one)).toSorted() : undefined;
		found.set(name, fieldsOf(whole ? { ...thing, permissions: whole } : thing));
	}
	return found;
}

function allChannels({ channels, categories }: GuildDocument) {
	if (!channels && !categories) return undefined;
	const inside = (categories ?? []).flatMap((category) =>
		(category.channels ?? []).map((channel) => ({ ...channel, name: `${category.name}/${channel.name}` })),
	);
	return [...(channels ?? []), ...inside];
}

const identity = new Set(["id", "key", "name", "channels", "overwrites"]);

function fieldsOf(thing: Fields): Fields {
	const kept = Object.fromEntries(Object.entries(thing).filter(([name]) => !identity.has(name)));
	for (const { role, member, allow = [], deny = [] } of (thing.overwrites as Overwrite[] | undefined) ?? [])
		kept[`access of ${role ?? member}`] = [...allow.map((name) => `+${name}`), ...deny.map((name) => `-${name}`)];
	return kept;
}

type Things = ReadonlyMap<string, Fields>;

function partLines(part: string, left: Things | undefined, right: Things | undefined, all: boolean): string[] {
	// What could not be read of one of them was said.
	if (!left || !right || left.size + right.size === 0) return [];
	const both = [...left.keys()].filter((name) => right.has(name));
	const changes = new Map(
		both.map((name) => [name, fieldLines(left.get(name) ?? {}, right.get(name) ?? {}).join("; ")]),
	);
	const equal = both.filter((name) => !changes.get(name));
	const changed = both.filter((name) => changes.get(name));
	if (left.has("") || right.has("")) return changed.map((name) => `${part}: ${changes.get(name)}`);
	const onlyIn = (side: string, one: Things, other: Things) =>
		only(side, [...new Set(one.keys()).difference(other)], all);
	const same = part === "channels" || part === "categories" ? "equal, with their access" : "equal";
	const differ = changed.length === 0 ? same : `${changed.length} of them differ`;
	return [
		`${part}: ${both.length} in both${both.length > 0 ? `, ${differ}` : ""}${onlyIn("A", left, right)}${onlyIn("B", right, left)}`,
		...changed.map((name) => `  ${name}: ${changes.get(name)}`),
		...(all && equal.length > 0 ? [`  equal: ${equal.join(", ")}`] : []),
	];
}

function fieldLines(a: Fields, b: Fields): string[] {
	return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) => {
		const [left, right] = [a[name], b[name]];
		if (Bun.deepEquals(left, right)) return [];
		const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === "string");
		if (![left ?? [], right ?? []].every(isTexts)) return [`${name} ${valueText(left)} | ${valueText(right)}`];
		const [ours, theirs] = [(left ?? []) as string[], (right ?? []) as string[]];
		const ownA = ours.filter((one) => !theirs.includes(one));
		const ownB = theirs.filter((one) => !ours.includes(one));
		if (ownA.length + ownB.length === 0) return [`${name} in another order`];
		return [`${name}${only("A", ownA, true)}${only("B", ownB, true)}`.replace("; only", " only")];
	});
}

const valueText = (value: unknown) => (value === undefined ? "default" : JSON.stringify(value));

function only(side: string, names: readonly string[], all: boolean): string {
	if (names.length === 0) return "";
	const rest = names.length - maxShown;
	const isCut = !all && rest > 0;
	const list = (isCut ? names.slice(0, maxShown) : names).join(", ");
	return `; only ${side}: ${list}${isCut ? ` and ${rest} more, all with their part in \`all\`` : ""}`;
}

type Ids = readonly string[] | undefined;

function peopleLine(part: "members" | "bans", a: Ids, b: Ids, { person, ...shown }: Shown): string[] {
	const all = shown.all.includes(part);
	if (!a || !b) return [];
	const [left, right] = [new Set(a), new Set(b)];
	const both = a.filter((id) => right.has(id)).map(person);
	const [ownA, ownB] = [a.filter((id) => !right.has(id)), b.filter((id) => !left.has(id))];
	// Who is a member of only one of them is nearly everybody.
	const rest =
		part === "bans" || all
			? `${only("A", ownA.map(person), all)}${only("B", ownB.map(person), all)}`
			: `; ${ownA.length} only in A, ${ownB.length} only in B`;
	return [`${part}: ${both.length} in both${both.length > 0 ? `: ${both.join(", ")}` : ""}${rest}`];
}
