// Plans as text for assistants and people: one line per step. A long plan is cut to a limit of bytes; deletions, steps that
// give permissions of moderators, and what cannot be done are kept first then.

import { permissionNames } from "../../../guild-document/names/permission-names.ts";
import type { FieldChange, Refusal } from "../../../guild-document/steps.ts";
import { notablePermissions } from "../../discord/permissions.ts";
import {
	countOf,
	oneField,
	oneLine,
	resultLines,
	truncate,
} from "../../discord/text.ts";
import type { Plan, PlannedStep } from "./plans.ts";

/** Maximum length of a plan's or job's text in bytes of UTF-8. */
export const maxPlanBytes = 24_000;
const maxValueLength = 100;
/** How much of what two long values have in common is shown before they differ. */
const shownContext = 20;
const maxShownChanges = 20;

const signs = {
	create: "+",
	edit: "~",
	order: "^",
	delete: "-",
	assign: "~",
	ban: "+",
} as const satisfies Record<PlannedStep["action"], string>;

/** How steps are counted, in the order of the first line. */
const countNames = [
	["create", ["create"]],
	["change", ["edit"]],
	["reorder", ["order"]],
	["delete", ["delete"]],
	["assign roles", ["assign"]],
	["ban", ["ban"]],
] as const satisfies readonly [string, readonly PlannedStep["action"][]][];

export interface PlanTextOptions {
	guildName: string;
	hash: string;
	/** The bot's user, whose permission overwrites are shown with its name. */
	self?: { id: string; name: string } | undefined;
	/** Returns the name of a member for people. Default: the id. */
	memberName?: ((id: string) => string) | undefined;
	/** Lines about the whole plan. */
	remarks?: readonly string[] | undefined;
	/** An earlier plan that this one changes: steps that both have are only counted. */
	earlier?: { hash: string; plan: Plan } | undefined;
	maxBytes?: number | undefined;
}

/** Formats a plan. The last lines name its hash and what to do next. */
export function planText(
	plan: Plan,
	{
		guildName,
		hash,
		self,
		memberName = (id) => id,
		remarks = [],
		earlier,
		maxBytes = maxPlanBytes,
	}: PlanTextOptions,
): string {
	const { steps, refusals, notes, duration } = plan;
	const known = new Set(earlier?.plan.steps.map(contentOf));
	const shown = steps.filter(
		(step) => step.action === "delete" || !known.has(contentOf(step)),
	);
	const same = steps.length - shown.length;
	const head = `Plan for ${guildName}: ${countsText(steps, refusals)}`;
	const end = [
		...(steps.length > 0 ? [duration] : []),
		...placesOfNew(steps),
		...remarks,
		`plan_hash=${hash}`,
		steps.length > 0
			? "Nothing was changed. apply_guild with this plan_hash does exactly this. The plan is kept for a day."
			: "There is nothing to do.",
	];
	const lines = fitting(
		[
			...(same > 0
				? [
						{
							line: `${countOf(same, "step")} as in the plan ${earlier?.hash}, and:`,
							group: "earlier plan",
							isFirst: true,
						},
					]
				: []),
			...shown
				.filter(({ action }) => action !== "assign")
				.map((step) => ({
					line: stepLine(withOwnName(step, self)),
					group: `${step.action} ${step.kind}`,
					isFirst: step.action === "delete" || givesNotable(step),
				})),
			...assignLines(shown, memberName).map((line) => ({
				line,
				group: "assign role",
			})),
			...byReason("cannot", refusals).map((line) => ({
				line,
				group: "cannot",
				isFirst: true,
			})),
			...byReason("note", notes).map((line) => ({ line, group: "note" })),
		],
		maxBytes - bytesOf([head, ...end]),
	);
	return [head, ...lines, ...end].join("\n");
}

/** Formats which members get roles, one line for each role. */
function assignLines(
	steps: readonly PlannedStep[],
	memberName: (id: string) => string,
): string[] {
	const assigned = steps.filter(({ action }) => action === "assign");
	const byRole = Map.groupBy(assigned, ({ targetId = "" }) => {
		const [, role = ""] = targetId.split("/");
		return role;
	});
	return Array.from(byRole.values(), (group) => {
		const members = group.map(({ targetId = "" }) => {
			const [id = ""] = targetId.split("/");
			return memberName(id);
		});
		return `${signs.assign} role ${oneField(group[0]?.name ?? "")} to ${countOf(group.length, "member")}: ${namesText(members, maxMembers)}`;
	});
}

/** Returns a step whose changes name the bot where they have its id. */
function withOwnName(
	step: PlannedStep,
	self: PlanTextOptions["self"],
): PlannedStep {
	if (!self) return step;
	const changes = step.changes.map((change) =>
		change.field === `access of ${self.id}`
			? { ...change, field: `access of ${self.name} (this bot)` }
			: change,
	);
	return { ...step, changes };
}

/** Says where new roles and channels will be, if no step of the plan puts them in order. */
function placesOfNew(steps: readonly PlannedStep[]): string[] {
	const creates = (kinds: readonly string[]) =>
		steps.some(
			({ action, kind }) => action === "create" && kinds.includes(kind),
		);
	const orders = (kind: string) =>
		steps.some((step) => step.action === "order" && step.kind === kind);
	return resultLines(
		creates(["role"]) &&
			`New roles have the permissions shown, or none${orders("role") ? "." : ", and are the lowest."}`,
		creates(["channel", "category"]) &&
			!orders("channel") &&
			"New channels are the last of their category, new categories the last.",
	);
}

/** Returns the counts of a plan: "create 3, change 1, cannot 2". */
export function countsText(
	steps: readonly Pick<PlannedStep, "action">[],
	refusals: readonly Refusal[],
): string {
	const counts = countNames.map(([name, actions]) => {
		const all: readonly string[] = actions;
		return [
			name,
			steps.filter(({ action }) => all.includes(action)).length,
		] as const;
	});
	const shown = [...counts, ["cannot", refusals.length] as const]
		.filter(([, count]) => count > 0)
		.map(([name, count]) => `${name} ${count}`);
	return shown.length > 0 ? shown.join(", ") : "no changes";
}

/** Formats a step: `~ channel #general: topic "a" → "b"`. */
export function stepLine(step: PlannedStep): string {
	const { action, kind } = step;
	const isInside = action === "create" && step.changes[0]?.field === "category";
	const [place] = isInside ? step.changes : [];
	const changes = isInside ? step.changes.slice(1) : step.changes;
	// Of very many, those that give what moderators may do are not left out.
	const gives = (change: FieldChange) => allowsNotable(change, action);
	const most = Math.max(maxShownChanges, changes.filter(gives).length);
	const kept = new Set(
		changes
			.toSorted((a, b) => Number(gives(b)) - Number(gives(a)))
			.slice(0, most),
	);
	const shown = changes
		.filter((change) => kept.has(change))
		.map((change) => changeText(change, action === "create"));
	const more = changes.length - shown.length;
	if (more > 0) shown.push(`… and ${countOf(more, "field")} more`);
	const thing = action === "order" ? `order of ${kind}s` : thingText(step);
	const where = place ? ` in ${valueText(place.after)}` : "";
	return `${signs[action]} ${thing}${where}${shown.length > 0 ? `: ${shown.join(", ")}` : ""}`;
}

/** Formats what a step changes: "channel #general". */
export function thingText({
	kind,
	name,
}: Pick<PlannedStep, "kind" | "name">): string {
	const label = kind.replaceAll("_", " ");
	const shown = truncate(oneField(name), maxValueLength);
	if (shown === "" || shown === label || shown === kind) return label;
	return `${label} ${kind === "channel" ? "#" : ""}${shown}`;
}

/** Returns everything that a line says of a step, and what it leaves out. */
const contentOf = ({ id, action, kind, name, changes }: PlannedStep) =>
	JSON.stringify([
		...[id, action, kind, name],
		changes.map(({ field, before, after }) => [field, before, after]),
	]);

function changeText(change: FieldChange, isNew: boolean): string {
	const { before, after } = change;
	const field = fieldText(change.field);
	const isLong = Math.max(before?.length ?? 0, after.length) > maxValueLength;
	if (isLong && isOfPermissions(change.field)) {
		const { added, removed } = permissionChanges(change, isNew);
		const parts = [
			added.length > 0 && namedText("added", added),
			removed.length > 0 && namedText("removed", removed),
		];
		return `${field} ${before === undefined || isNew ? namesValue(added) : parts.filter(Boolean).join(", ")}`;
	}
	if (before === undefined || isNew) return `${field} ${valueText(after)}`;
	const start = isLong ? differsFrom(before, after) - shownContext : 0;
	return `${field} ${valueText(before, start)} → ${valueText(after, start)}`;
}

/** Formats the name of a field. Names of roles and channels in it cannot imitate other parts of the line. */
function fieldText(field: string): string {
	const text = oneField(field);
	return /["→:\\]/.test(text) ? JSON.stringify(text) : text;
}

/** Whether the values of a field are lists of permissions. Denied ones have a "-" before them. */
const isOfPermissions = (field: string) =>
	field === "permissions" || field.startsWith("access of ");

/** The permissions that are not left out of a long list. */
const shownNames = new Set(
	["VIEW_CHANNEL", ...permissionNames(notablePermissions)].flatMap((name) => [
		name,
		`-${name}`,
	]),
);
const notableNames = new Set(permissionNames(notablePermissions));

function permissionChanges({ before, after }: FieldChange, isNew: boolean) {
	const old = new Set(isNew ? [] : before?.split(", "));
	const fresh = new Set(after.split(", "));
	return {
		added: [...fresh.difference(old)],
		removed: [...old.difference(fresh)],
	};
}

/** Whether a step allows what administrators and moderators may do. */
const givesNotable = ({ action, changes }: PlannedStep) =>
	changes.some((change) => allowsNotable(change, action));

const allowsNotable = (change: FieldChange, action: PlannedStep["action"]) =>
	isOfPermissions(change.field) &&
	permissionChanges(change, action === "create").added.some((name) =>
		notableNames.has(name),
	);

const namedText = (label: string, names: readonly string[]) =>
	`${label} ${namesValue(names)}`;

/** Formats permissions: the notable ones first, and as many of the others as fit. */
function namesValue(names: readonly string[]): string {
	const shown = names.filter((name) => shownNames.has(name));
	const others = names.filter((name) => !shownNames.has(name));
	let length = shown.join(", ").length;
	const fitting = others.filter((name) => {
		length += name.length + 2;
		return length <= maxValueLength;
	});
	const more = others.length - fitting.length;
	return JSON.stringify(
		[...shown, ...fitting].join(", ") + (more > 0 ? ` and ${more} more` : ""),
	);
}

/** Returns the index of the first character in which two texts differ. */
function differsFrom(a: string, b: string): number {
	let index = 0;
	while (index < a.length && a[index] === b[index]) index++;
	return index;
}

/**
 * Formats a value from a character on, if what comes before is long. Quotes it unless it is one word or number, so that it
 * cannot imitate other parts of the line.
 */
function valueText(value: string, start = 0): string {
	const part =
		start > shownContext ? `…${value.slice(start).toWellFormed()}` : value;
	const text = truncate(oneField(part), maxValueLength);
	return /^[\w#@:.+-]+$/.test(text) ? text : JSON.stringify(text);
}

export function refusalLine(
	label: "cannot" | "note",
	{ subject, reason }: Refusal,
): string {
	return `${label}: ${truncate(oneField(subject), 2 * maxValueLength)}: ${oneLine(reason)}`;
}

/** Formats refusals or notes, those with the same reason in one line. */
function byReason(
	label: "cannot" | "note",
	refusals: readonly Refusal[],
): string[] {
	const groups = Map.groupBy(refusals, ({ reason }) => reason);
	return Array.from(groups, ([reason, group]) =>
		refusalLine(label, {
			subject: namesText(group.map(({ subject }) => subject)),
			reason,
		}),
	);
}

const maxNames = 10;
/** Maximum number of members that a line on a role names. */
const maxMembers = 200;

/** Lists names for people: the first `max`, by default ten, and how many more there are. */
export function namesText(names: readonly string[], max = maxNames): string {
	const shown = names.slice(0, max).map((name) => oneField(name));
	const more = names.length - shown.length;
	return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

interface Entry {
	line: string;
	/** What lines are counted by when they do not fit: "create channel". */
	group: string;
	/** Whether the line is kept before others. */
	isFirst?: boolean;
}

/** Returns the lines that fit into `maxBytes`, in their order, and a line that counts the others by group. */
export function fitting(entries: readonly Entry[], maxBytes: number): string[] {
	if (bytesOf(entries.map(({ line }) => line)) <= maxBytes)
		return entries.map(({ line }) => line);
	// For the line that counts the others.
	let left = maxBytes - 400;
	const kept = new Set<Entry>();
	for (const first of [true, false])
		for (const entry of entries) {
			if ((entry.isFirst ?? false) !== first) continue;
			left -= Buffer.byteLength(entry.line) + 1;
			if (left < 0) break;
			kept.add(entry);
		}
	const counts = new Map<string, number>();
	const others = entries.filter((entry) => !kept.has(entry));
	for (const { group } of others)
		counts.set(group, (counts.get(group) ?? 0) + 1);
	const groups = [...counts].map(([group, count]) => `${group} ${count}`);
	return [
		...entries.filter((entry) => kept.has(entry)).map(({ line }) => line),
		`… and ${others.length} more: ${groups.join(", ")}`,
	];
}

function bytesOf(lines: readonly string[]): number {
	return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
}
