// The permissions of several roles and members in several channels, as lines of a tool result.

import { type Guild, GuildMember, type Role } from "discord.js";
import { memberName, roleName, time } from "../describe.ts";
import { computePermissions, type Holder, holderOf, type Place } from "../effective-permissions.ts";
import { bitsByName } from "../permissions.ts";
import { oneField, resultLines } from "../text.ts";
import { checkedIn, groupPlaces, inapplicableLine, kindsOf, type Places, placeNames, unlimitedLine } from "./places.ts";

type Subject = GuildMember | Role;

interface Row {
	subject: Subject;
	holder: Holder;
	label: string;
}

/**
 * Lists which of the permissions `asked` each role or member in `subjects` has in the guild or in channels (`places`).
 * Default of `asked`: the most important permissions. One line describes all channels with the same permissions, and in
 * it names roles and members with the same permissions together.
 */
export function permissionMatrix(
	guild: Guild,
	subjects: readonly Subject[],
	places: readonly Place[],
	asked: readonly string[] | undefined,
): string[] {
	const groups = groupPlaces(places);
	const rows = rowsOf(guild, subjects);
	const [first] = groups;
	const unlimited = rows.filter(({ holder }) => first && computePermissions(holder, first.place).everything);
	const limited = rows.filter((row) => !unlimited.includes(row));
	const timedOut = limited.filter(({ holder }) => holder.timedOutUntil !== undefined);
	return resultLines(
		`${subjects.length} role(s) or member(s) in ${placesText(places)}; a role as a member's only one. "all" is: ${checkedText(groups, asked)}`,
		limited.length > 0 && `Checked: ${limited.map(nameOf).join(" | ")}`,
		unlimitedLine(unlimited.map((row) => ({ name: nameOf(row), holder: row.holder }))),
		timedOut.length > 0 &&
			`Timed out: ${timedOut.map(({ label, holder }) => `${label} until ${time(holder.timedOutUntil)}`).join(" | ")}; now is ${time(Date.now())}`,
		limited.length > 0 && mergedLines(groups, limited, asked),
		limited.length > 0 && inapplicableLine(groups, asked),
	);
}

function placesText(places: readonly Place[]): string {
	const channels = places.filter(({ channel }) => channel).length;
	if (channels === 0) return "the guild, without channel permissions";
	return `${channels < places.length ? "the guild and " : ""}${channels} channel(s)`;
}

function checkedText(groups: readonly Places[], asked: readonly string[] | undefined): string {
	const kinds = kindsOf(groups);
	const lists = Map.groupBy(groups, ({ kind }) => checkedIn(kind, asked, kinds).join(", "));
	lists.delete("");
	const texts = [...lists].map(([list, some]) => (lists.size > 1 ? `${[...kindsOf(some)].join(", ")}: ${list}` : list));
	return texts.join(" | ") || (asked?.join(", ") ?? "");
}

function mergedLines(groups: readonly Places[], rows: readonly Row[], asked: readonly string[] | undefined): string[] {
	const kinds = kindsOf(groups);
	const checked = groups.flatMap(({ kind, place, all }) => {
		const names = checkedIn(kind, asked, kinds);
		// "all" differs from kind to kind.
		return names.length > 0 ? { all, names: names.join(), text: cells(place, rows, names) } : [];
	});
	const merged = Map.groupBy(checked, ({ names, text }) => `${names}\n${text}`);
	return Array.from(merged.values(), (alike) => `${placeNames(alike.flatMap(({ all }) => all))} | ${alike[0]?.text}`);
}

function cells(place: Place, rows: readonly Row[], names: readonly string[]): string {
	const bySet = Map.groupBy(rows, ({ holder }) => {
		const { bits } = computePermissions(holder, place);
		const has = (name: string) => (bits & (bitsByName.get(name) ?? 0n)) !== 0n;
		return setText(names, names.filter(has));
	});
	return [...bySet].map(([set, alike]) => `${set}: ${alike.map(({ label }) => label).join(", ")}`).join(" | ");
}

function setText(all: readonly string[], allowed: readonly string[]): string {
	if (allowed.length === 0) return "none";
	if (allowed.length === all.length) return "all";
	if (allowed.length * 2 <= all.length) return allowed.join(", ");
	const missing = all.filter((name) => !allowed.includes(name));
	return `all but ${missing.join(", ")}`;
}

function nameOf({ subject }: Row): string {
	return subject instanceof GuildMember ? memberName(subject) : roleName(subject);
}

/**
 * Returns a table row for each role and member, with a short name such as "@name". If several have the same short name,
 * their rows have full names.
 */
function rowsOf(guild: Guild, subjects: readonly Subject[]): Row[] {
	const rows = subjects.map((subject) => {
		const name = subject instanceof GuildMember ? subject.user.username : subject.name;
		return { subject, holder: holderOf(guild, subject), label: quoted(`@${oneField(name).replace(/^@/, "")}`) };
	});
	return rows.map((row) => {
		const isShared = rows.some((other) => other !== row && other.label === row.label);
		return isShared ? { ...row, label: nameOf(row) } : row;
	});
}

function quoted(name: string): string {
	return /[,:;|"]/.test(name) ? `"${name.replaceAll('"', '\\"')}"` : name;
}
