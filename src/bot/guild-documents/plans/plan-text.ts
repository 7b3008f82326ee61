// Plans as text for assistants and people: one line per step. A long plan is cut to a limit of bytes; deletions, steps that
// give permissions of moderators, and what cannot be done are kept first then.

import { SnowflakeUtil } from "discord.js";
import { time } from "../../../discord/describe.ts";
import { powerfulPermissions } from "../../../discord/powers.ts";
import { countOf, oneField, oneLine, resultLines, truncate } from "../../../discord/text.ts";
import { quote } from "../../../guild-document/match/pairing.ts";
import { permissionNames } from "../../../guild-document/read/from-api.ts";
import type { FieldChange, Refusal } from "../../../guild-document/steps.ts";
import { listFirst } from "../../../lib/text.ts";
import type { Plan, PlannedStep } from "./plans.ts";

/** Bytes of UTF-8. */
export const maxPlanBytes = 24_000;
const maxValueLength = 100;
/** Of what members will read, and settings of the bot: people approve it. Discord limits how many a message can ping. */
const maxReadLength = 1_000;
const readFields: readonly string[] = "content embed description channels poll role_menu".split(" ");
const shownContext = 20;
const maxDone = 5;
const maxShownChanges = 20;

/** Of what is created again. */
export const lostForGood =
	"New channels and roles get new ids. Messages of deleted channels do not come back, nor do their threads, invites and the tokens of webhooks.";

const signs = { create: "+", edit: "~", order: "^", delete: "-", assign: "~", ban: "+" } as const satisfies Record<
	PlannedStep["action"],
	string
>;

const countNames: Record<PlannedStep["action"], string> = {
	create: "create",
	edit: "change",
	order: "reorder",
	delete: "delete",
	assign: "assign roles",
	ban: "ban",
};

export interface PlanTextOptions {
	guildName: string;
	hash: string;
	/** The bot, whose name is shown instead of its id. */
	self?: { id: string; name: string } | undefined;
	/** Default: the id. */
	memberName?: ((id: string) => string) | undefined;
	/** Of a plan that restores a guild: the permissions that a role has now. */
	permissionsOf?: ((roleId: string) => readonly string[]) | undefined;
	/** Lines about the plan as a whole. */
	remarks?: readonly string[] | undefined;
	/** Steps that this plan and the earlier one have are only counted, except deletions. */
	earlier?: { hash: string; plan: Plan } | undefined;
	maxBytes?: number | undefined;
}

/** The last lines name the plan's hash and the tool that applies it. */
export function planText(plan: Plan, options: PlanTextOptions): string {
	const { guildName, hash, memberName = (id) => id, remarks = [], earlier, maxBytes = maxPlanBytes } = options;
	const { steps, refusals, notes, duration, restore } = plan;
	const known = new Set(earlier?.plan.steps.map(contentOf));
	const shown = steps.filter((step) => step.action === "delete" || !known.has(contentOf(step)));
	const same = steps.length - shown.length;
	const times = new Set(steps.map((step) => timesOf([step])).filter(Boolean));
	const [doneAt] = times.size === 1 ? times : [];
	const head = `Plan for ${guildName}: ${countsText(steps, refusals)}${doneAt ? `, of what was done ${doneAt}` : ""}`;
	const whenDone = (some: readonly PlannedStep[]) => {
		const done = doneAt ? "" : timesOf(some);
		return done && ` (${done})`;
	};
	const end = [
		...(steps.length > 0 ? [duration] : []),
		...placesOfNew(
			steps,
			restore?.items.some(({ fields }) => typeof fields.position?.before === "number"),
		),
		...(restore?.remarks ?? []),
		...givenBack(steps, options),
		...remarks,
		`plan_hash=${hash}`,
		steps.length > 0
			? `Nothing was changed. ${restore ? "undo_actions" : "apply_guild"} with this plan_hash does exactly this. The plan is kept for a day.`
			: "There is nothing to do.",
	];
	const lines = fitting(
		[
			...(same > 0
				? [
						{
							line: `${countOf(same, "step")} as in the plan ${earlier?.hash}${shown.length > 0 ? ", and:" : "."}`,
							group: "earlier plan",
							isFirst: true,
						},
					]
				: []),
			...shown
				.filter(({ kind }) => kind !== "member")
				.map((step) => ({
					line: stepLine(withNames(step, options)) + whenDone([step]),
					group: `${step.action} ${step.kind}`,
					isFirst: step.action === "delete" || step.changes.some((change) => allowsNotable(change, step.action)),
				})),
			...assignLines(shown, memberName, whenDone).map((line) => ({ line, group: "assign role" })),
			...byReason("cannot", refusals).map((line) => ({ line, group: "cannot", isFirst: true })),
			...byReason("note", notes).map((line) => ({ line, group: "note", isFirst: true })),
		],
		maxBytes - bytesOf([head, ...end]),
	);
	return [head, ...lines, ...end].join("\n");
}

function assignLines(
	steps: readonly PlannedStep[],
	memberName: (id: string) => string,
	whenDone: (steps: readonly PlannedStep[]) => string,
): string[] {
	const assigned = steps.filter(({ kind }) => kind === "member");
	// The role may be a new one: "123/+role/Mods".
	const byRole = Map.groupBy(assigned, ({ action, targetId = "" }) => action + targetId.slice(targetId.indexOf("/")));
	return Array.from(byRole.values(), (group) => {
		const members = group.map(({ targetId = "" }) => memberName(targetId.split("/")[0] ?? ""));
		const [{ action, name } = { action: "assign", name: "" } as const] = group;
		return `${signs[action]} role ${oneField(name)} ${action === "delete" ? "from" : "to"} ${countOf(group.length, "member")}: ${namesText(members, maxMembers)}${whenDone(group)}`;
	});
}

/** When someone did what the steps undo, such as "11-24 12:03 UTC"; "" if they undo nothing. */
function timesOf(steps: readonly PlannedStep[]): string {
	const ids = steps.flatMap(({ undoes = [] }) => undoes).filter((id) => /^\d{17,20}$/.test(id));
	const times = ids.map((id) => time(SnowflakeUtil.timestampFrom(id)).slice(5, 16).replace("T", " ")).sort();
	const [first, last] = [times[0], times.at(-1)];
	return first ? `${first}${last === first ? "" : ` to ${last}`} UTC` : "";
}

function withNames(step: PlannedStep, { self, memberName = (id) => id }: PlanTextOptions): PlannedStep {
	const changes = step.changes.map((change) => {
		if (self && change.field === `access of ${self.id}`)
			return { ...change, field: `access of ${self.name} (this bot)` };
		if (change.field !== "pinged") return change;
		return { ...change, after: change.after.replaceAll(/<@!?(\d+)>/g, (_, id) => memberName(id)) };
	});
	return { ...step, changes };
}

function placesOfNew(steps: readonly PlannedStep[], hasPlaces = false): string[] {
	const creates = (kinds: readonly string[]) =>
		steps.some(({ action, kind }) => action === "create" && kinds.includes(kind));
	const orders = (kind: string) => steps.some((step) => step.action === "order" && step.kind === kind);
	const isInside = ({ action, kind, changes }: PlannedStep) =>
		action === "create" && kind === "channel" && changes[0]?.field === "category";
	const isColored = steps.some(
		({ action, kind, changes }) =>
			action === "create" && kind === "role" && changes.some(({ field }) => field === "color"),
	);
	const lowest = `, and are the lowest${isColored ? ": members keep the color of a higher role." : "."}`;
	return resultLines(
		creates(["role"]) && `New roles have the permissions shown, or none${orders("role") ? "." : lowest}`,
		creates(["channel", "category"]) &&
			!orders("channel") &&
			!hasPlaces &&
			"New channels are the last of their category, new categories the last.",
		steps.some(isInside) && "New channels have the access of their category, unless theirs is shown.",
		creates(["automod"]) && "New AutoMod rules are on, unless enabled false is shown.",
	);
}

/** Such as "create 3, change 1, cannot 2". */
export function countsText(steps: readonly Pick<PlannedStep, "action">[], refusals: readonly Refusal[]): string {
	const counts = Object.entries(countNames).map(
		([action, name]) => [name, steps.filter((step) => step.action === action).length] as const,
	);
	const shown = [...counts, ["cannot", refusals.length] as const]
		.filter(([, count]) => count > 0)
		.map(([name, count]) => `${name} ${count}`);
	return shown.length > 0 ? shown.join(", ") : "no changes";
}

/** Such as `~ channel #general: topic "a" → "b"`. */
export function stepLine(step: PlannedStep): string {
	const { action, kind } = step;
	const isInside = action === "create" && step.changes[0]?.field === "category";
	const [place] = isInside ? step.changes : [];
	const isAssigned = action === "assign";
	const changes = isAssigned ? [] : step.changes.slice(isInside ? 1 : 0);
	// Of very many, those that give what moderators may do are not left out.
	const gives = (change: FieldChange) => allowsNotable(change, action);
	const most = Math.max(maxShownChanges, changes.filter(gives).length);
	const kept = new Set(changes.toSorted((a, b) => Number(gives(b)) - Number(gives(a))).slice(0, most));
	const shown = changes.filter((change) => kept.has(change)).map((change) => changeText(change, action === "create"));
	const more = changes.length - shown.length;
	if (more > 0) shown.push(`… and ${countOf(more, "field")} more`);
	const thing = action === "order" ? `order of ${kind}s` : thingText(step);
	const where = place ? ` in ${valueText(place.after)}` : "";
	return `${signs[action]} ${thing}${where}${shown.length > 0 ? `: ${shown.join(", ")}` : ""}`;
}

/** Such as "channel #general". */
export function thingText({ kind, name, targetId }: Pick<PlannedStep, "kind" | "name" | "targetId">): string {
	const label = kind.replaceAll("_", " ");
	const shown = truncate(oneField(name), maxValueLength);
	if (kind === "member") return `role ${shown} of member ${targetId?.split("/")[0]}`;
	if (shown === "" || shown === label || shown === kind) return label;
	return `${label} ${kind === "channel" ? "#" : ""}${shown}`;
}

/** Whether all steps of `plan` are among those of `earlier`, and nothing else is refused. */
export function isPartOf(plan: Plan, earlier: Plan): boolean {
	const known = new Set(earlier.steps.map(contentOf));
	const refused = new Set(earlier.refusals.map(({ subject }) => subject));
	return (
		plan.steps.every((step) => known.has(contentOf(step))) && plan.refusals.every(({ subject }) => refused.has(subject))
	);
}

/** The things of the steps of `earlier` that are not in `plan`. */
export function doneSince(plan: Plan, earlier: Plan): string {
	const left = new Set(plan.steps.map(contentOf));
	const done = earlier.steps.filter((step) => !left.has(contentOf(step)));
	return done.length > 0 ? ` (${listFirst([...new Set(done.map(thingText))], maxDone)})` : "";
}

const contentOf = ({ id, action, kind, name, changes }: PlannedStep) =>
	JSON.stringify([id, action, kind, name, changes.map(({ field, before, after }) => [field, before, after])]);

function changeText(change: FieldChange, isNew: boolean): string {
	const { before, after } = change;
	// Quoted if a name in it could imitate other parts of the line.
	const field = /["→:\\]/.test(oneField(change.field)) ? quote(change.field) : change.field;
	const isRead = readFields.includes(field) || field.includes(".");
	const max = field === "pinged" ? Infinity : isRead ? maxReadLength : maxValueLength;
	const isLong = Math.max(before?.length ?? 0, after.length) > max;
	if (isLong && isOfPermissions(change.field)) {
		const { added, removed } = permissionChanges(change, isNew);
		const parts = [added.length > 0 && namedText("added", added), removed.length > 0 && namedText("removed", removed)];
		return `${field} ${before === undefined || isNew ? namesValue(added) : parts.filter(Boolean).join(", ")}`;
	}
	if (before === undefined || isNew) return `${field} ${valueText(after, 0, max)}`;
	const start = isLong ? differsFrom(before, after) - shownContext : 0;
	return `${field} ${valueText(before, start, max)} → ${valueText(after, start, max)}`;
}

const isOfPermissions = (field: string) => field === "permissions" || field.startsWith("access of ");

const shownNames = new Set(
	["VIEW_CHANNEL", ...permissionNames(powerfulPermissions)].flatMap((name) => [name, `-${name}`]),
);
const notableNames = new Set(permissionNames(powerfulPermissions));

function permissionChanges({ before, after }: FieldChange, isNew: boolean) {
	const old = new Set(isNew ? [] : before?.split(", "));
	const fresh = new Set(after.split(", "));
	return { added: [...fresh.difference(old)], removed: [...old.difference(fresh)] };
}

/** Somebody may have taken it away on purpose. */
function givenBack(steps: readonly PlannedStep[], { permissionsOf, memberName = (id) => id }: PlanTextOptions) {
	if (!permissionsOf) return [];
	const notable = (names: readonly string[]) => names.filter((name) => notableNames.has(name)).join(", ");
	const changeOf = ({ changes }: PlannedStep) => changes.find(({ field }) => field === "permissions");
	const given = steps.flatMap((step) => {
		const { action, kind, name, targetId = "" } = step;
		const change = action === "edit" && changeOf(step);
		const added = change ? notable(permissionChanges(change, false).added) : "";
		if (kind !== "member") return added ? `${added} to ${thingText(step)}` : [];
		const [member = "", role = ""] = targetId.split("/");
		const edit = steps.find((one) => (one.targetId ?? one.placeholder) === role && changeOf(one));
		const held = notable((edit && changeOf(edit)?.after.split(", ")) ?? permissionsOf(role));
		return action === "assign" && held ? `${name} with ${held} to ${memberName(member)}` : [];
	});
	return given.length > 0 ? [`Gives back what somebody may have taken on purpose: ${namesText(given)}.`] : [];
}

const allowsNotable = (change: FieldChange, action: PlannedStep["action"]) =>
	isOfPermissions(change.field) &&
	permissionChanges(change, action === "create").added.some((name) => notableNames.has(name));

const namedText = (label: string, names: readonly string[]) => `${label} ${namesValue(names)}`;

function namesValue(names: readonly string[]): string {
	const shown = names.filter((name) => shownNames.has(name));
	const others = names.filter((name) => !shownNames.has(name));
	let length = shown.join(", ").length;
	const fitting = others.filter((name) => {
		length += name.length + 2;
		return length <= maxValueLength;
	});
	const more = others.length - fitting.length;
	return JSON.stringify([...shown, ...fitting].join(", ") + (more > 0 ? ` and ${more} more` : ""));
}

function differsFrom(a: string, b: string): number {
	let index = 0;
	while (index < a.length && a[index] === b[index]) index++;
	return index;
}

/** Quoted unless one word or number, so that it cannot imitate the line. Leaves out many characters before `start`. */
function valueText(value: string, start = 0, max = maxValueLength): string {
	const part = start > shownContext ? `…${value.slice(start).toWellFormed()}` : value;
	const text = truncate(part, max);
	return /^[\w#@:.+-]+$/.test(text) ? text : quote(text);
}

export function refusalLine(label: "cannot" | "note", { subject, reason }: Refusal): string {
	return `${label}: ${truncate(oneField(subject), 2 * maxValueLength)}: ${oneLine(reason)}`;
}

function byReason(label: "cannot" | "note", refusals: readonly Refusal[]): string[] {
	const groups = Map.groupBy(refusals, ({ reason }) => reason);
	return Array.from(groups, ([reason, group]) =>
		refusalLine(label, { subject: namesText(group.map(({ subject }) => subject)), reason }),
	);
}

const maxNames = 10;
const maxMembers = 200;

/** Such as "a, b and 3 more". */
export function namesText(names: readonly string[], max = maxNames): string {
	return listFirst(names.map(oneField), max);
}

interface Entry {
	line: string;
	group: string;
	isFirst?: boolean;
}

/** In their order; a last line counts by group those that do not fit. */
export function fitting(entries: readonly Entry[], maxBytes: number): string[] {
	if (bytesOf(entries.map(({ line }) => line)) <= maxBytes) return entries.map(({ line }) => line);
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
	const others = entries.filter((entry) => !kept.has(entry));
	const byGroup = Map.groupBy(others, ({ group }) => group);
	const groups = [...byGroup].map(([group, { length }]) => `${group} ${length}`);
	return [
		...entries.filter((entry) => kept.has(entry)).map(({ line }) => line),
		`… and ${others.length} more: ${groups.join(", ")}`,
	];
}

function bytesOf(lines: readonly string[]): number {
	return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
}
