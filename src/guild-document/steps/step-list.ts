// The list that collects the steps of a difference: comparing fields, naming things, and the order of the steps.

import { everyone, type GuildDocument } from "../format/document.ts";
import { isPlaceholder, type Matched } from "../match/match.ts";
import { keysInGuild } from "../read/export.ts";
import type {
	ApiRequest,
	Difference,
	FieldChange,
	GuildState,
	Refusal,
	Step,
	StepGuard,
	StepKind,
} from "../steps.ts";
import { fillPlaceholders, rawOverwrites } from "./to-api.ts";
import { accessChanges, describeValue, sameValue } from "./values.ts";

export interface DifferenceOptions {
	/** Whether to delete what the document does not list, in the parts that it has. */
	prune: boolean;
	/** Ids of what a running job has created, by placeholder. */
	ids?: ReadonlyMap<string, string>;
	/** Ids of the roles that the account that carries out the steps cannot move: those at and above its highest role. */
	fixedRoles?: ReadonlySet<string>;
}

/** The order in which steps are carried out: what others refer to comes first, deletions come last. */
const phases = [
	"settings",
	"roles",
	"role order",
	"emojis",
	"onboarding without hidden channels",
	"categories",
	"channels",
	"community",
	"community channels",
	"channel settings",
	"channel order",
	"rest",
	"members",
	"deletions",
	// With a channel go its webhooks and events, which have steps of their own among the other deletions.
	"channel deletions",
] as const;
export type Phase = (typeof phases)[number];

/** A step before it is added to the list. */
type NewStep = Pick<Step, "action" | "kind" | "name"> &
	Partial<Pick<Step, "targetId" | "placeholder" | "changes">> & {
		guard?: StepGuard;
		method: ApiRequest["method"];
		/** Returns the path of the request. `idOf` converts a placeholder to an id, and leaves ids as they are. */
		path(idOf: (idOrPlaceholder: string) => string): `/${string}`;
		/** In it, placeholders stand for the ids of things that do not exist yet. */
		body?: unknown;
		/** Changes the body after its placeholders were replaced. */
		arrange?(body: unknown): unknown;
		picture?: ApiRequest["picture"] | undefined;
		reason?: string | undefined;
		/** Ids and placeholders of what must exist before the step. By default all in the body. */
		needs?: readonly string[];
	};

/** The fields in which a thing of the document differs from that of the guild. */
export interface Comparison<T> {
	/** The fields that differ, with the document's values. */
	values: Partial<T>;
	/** The same for people. Those of a new thing leave out fields with their default value. */
	changes: FieldChange[];
	isChanged: boolean;
}

/** Something with an id and a name, in a document that `matchDocument` has returned. */
export interface Thing {
	id?: string | undefined;
	name: string;
}

/** Fields that are never compared: they identify a thing, or only Discord sets them. */
const identity = ["id", "key", "managed"];

/** The kinds of things that have keys. */
const keyedKinds: ReadonlySet<StepKind> = new Set([
	"role",
	"channel",
	"category",
	"emoji",
]);

/** Collects the steps that make a guild like a document, in any order, and what cannot be done. */
export class StepList {
	/** The document, with ids and placeholders in place of names. */
	readonly wanted: GuildDocument;
	/** The guild, as a document with ids in place of names. */
	readonly current: GuildDocument;
	readonly ids: ReadonlyMap<string, string>;
	readonly fixedRoles: ReadonlySet<string>;
	readonly prune: boolean;
	/** Path of the guild in Discord's API. */
	readonly guildPath: `/${string}`;
	readonly #matched: Matched;
	/** What an export calls the roles, channels and emoji of the guild, by id. */
	readonly #keys: ReadonlyMap<string, string>;
	readonly #refusals: Refusal[];
	readonly #steps = new Map<Phase, Step[]>(phases.map((phase) => [phase, []]));

	constructor(
		matched: Matched,
		readonly state: GuildState,
		options: DifferenceOptions,
	) {
		this.#matched = matched;
		this.#refusals = [...matched.refusals];
		this.wanted = matched.wanted;
		this.current = matched.current;
		this.prune = options.prune;
		this.ids = options.ids ?? new Map();
		this.fixedRoles = options.fixedRoles ?? new Set();
		this.guildPath = `/guilds/${state.guild.id}`;
		const { roles, channels, emojis } = keysInGuild(this.current);
		this.#keys = new Map([...roles, ...channels, ...emojis]);
	}

	/** Returns the name of a thing for people, by its id or placeholder. Other texts are returned as they are. */
	readonly nameOf = (id: string): string =>
		id === this.state.guild.id || id === everyone
			? everyone
			: (this.#matched.names.get(id) ?? id);

	/** Adds a step. Steps of the same phase are carried out in the order in which they were added. */
	add(phase: Phase, step: NewStep): void {
		const { action, kind, name, targetId, placeholder } = step;
		const { method, path, body, picture, reason } = step;
		const { guard, changes = [] } = step;
		const { arrange = (filled: unknown) => filled } = step;
		const needs = step.needs ?? placeholdersIn(body);
		const target = placeholder ?? targetId ?? "";
		const subject = isPlaceholder(target)
			? target.slice(1)
			: `${kind}/${target}`;
		this.#steps.get(phase)?.push({
			id: `${action} ${subject}`,
			action,
			kind,
			// Tells things of the same name apart, such as "Staff/general".
			name: keyedKinds.has(kind) ? (this.#keys.get(target) ?? name) : name,
			targetId,
			placeholder,
			changes,
			needs: [...new Set(needs.filter(isPlaceholder))].filter(
				(need) => need !== placeholder && !this.ids.has(need),
			),
			guard: { ...guard, fields: changes.map(({ field }) => field) },
			request: (given) => {
				const all = new Map([...this.ids, ...given]);
				const idOf = (one: string) =>
					isPlaceholder(one) ? (all.get(one) ?? "0") : one;
				return {
					method,
					path: path(idOf),
					...(body !== undefined && {
						body: arrange(fillPlaceholders(body, all)),
					}),
					...(picture && { picture }),
					...(reason && { reason }),
				};
			},
		});
	}

	/** Adds something of the document that nobody can do, and why. */
	refuse(subject: string, reason: string): void {
		this.#refusals.push({ subject, reason });
	}

	/** Whether the job has created this, and someone has deleted it since. Then it is refused, not created again. */
	isGone({ id = "", name }: Thing, what: string): boolean {
		if (!this.ids.has(id)) return false;
		this.refuse(
			`${what} ${name}`,
			"it was created, and someone has deleted it since",
		);
		return true;
	}

	/**
	 * Compares a thing of the guild with that of the document; `before` is undefined if it is new. Fields that `after`
	 * leaves out are not compared, and neither are those that `before` leaves out, because their value is unknown.
	 */
	compare<T extends object>(
		before: T | undefined,
		after: T,
		defaults: Partial<T> = {},
		ignored: readonly string[] = [],
	): Comparison<T> {
		const values: Partial<T> = {};
		const changes: FieldChange[] = [];
		for (const field of Object.keys(after) as (keyof T & string)[]) {
			const value = after[field];
			const old = before?.[field];
			if (identity.includes(field) || ignored.includes(field)) continue;
			if (value === undefined || (before && old === undefined)) continue;
			if (before && sameValue(field, old, value)) continue;
			values[field] = value;
			const isDefault = !before && sameValue(field, value, defaults[field]);
			if (field === "overwrites")
				changes.push(
					...accessChanges(
						rawOverwrites((old ?? []) as [], this.state.guild.id),
						rawOverwrites(value as [], this.state.guild.id),
						this.nameOf,
					),
				);
			else if (before || (field !== "name" && !isDefault))
				changes.push({
					field,
					before: before && describeValue(old, this.nameOf),
					after: describeValue(value, this.nameOf),
				});
		}
		return { values, changes, isChanged: Object.keys(values).length > 0 };
	}

	/** Adds the deletion of a thing of the guild, if the difference is to delete at all. */
	remove(
		kind: StepKind,
		{ id = "", name }: Thing,
		path: (id: string) => `/${string}`,
		phase: Phase = "deletions",
	): void {
		if (!this.prune) return;
		this.add(phase, {
			action: "delete",
			kind,
			name,
			targetId: id,
			guard: kind === "role" ? { roleIds: [id] } : {},
			method: "DELETE",
			path: () => path(id),
		});
	}

	/** Adds the deletions of the things of the guild that the document does not list. */
	removeUnlisted(
		kind: StepKind,
		existing: readonly Thing[] = [],
		listed: readonly Thing[] = [],
		path: (id: string) => `/${string}`,
	): void {
		const kept = new Set(listed.map(({ id }) => id));
		for (const thing of existing)
			if (!kept.has(thing.id)) this.remove(kind, thing, path);
	}

	/** Returns the steps in the order in which they must be carried out, and each refusal once. */
	result(): Difference {
		const refusals = new Map(
			this.#refusals.map((one) => [JSON.stringify(one), one]),
		);
		return {
			steps: [...this.#steps.values()].flat(),
			refusals: [...refusals.values()],
		};
	}
}

/** Returns the things of a list by their ids. */
export function byId<T extends { id?: string | undefined }>(
	things: readonly T[] | undefined,
): ReadonlyMap<string, T> {
	return new Map(things?.map((thing) => [thing.id ?? "", thing]));
}

/** Maximum number of names in one place of an order. */
const maxNames = 20;

/**
 * Describes where the `moved` things are in an order: those that follow one another together, and what they are below.
 */
export function placesIn(
	order: readonly string[],
	moved: readonly string[],
	nameOf: (id: string) => string,
): FieldChange[] {
	const isMoved = new Set(moved);
	const runs: { above: string | undefined; ids: string[] }[] = [];
	for (const [index, id] of order.entries()) {
		const above = order[index - 1];
		if (!isMoved.has(id)) continue;
		if (above !== undefined && isMoved.has(above)) runs.at(-1)?.ids.push(id);
		else runs.push({ above, ids: [id] });
	}
	return runs.map(({ above, ids }) => {
		const more = ids.length - maxNames;
		const names = ids.slice(0, maxNames).map(nameOf).join(", ");
		return {
			field: more > 0 ? `${names} and ${more} more` : names,
			after: above === undefined ? "at the top" : `below ${nameOf(above)}`,
		};
	});
}

/** Returns the placeholders in the id fields of a request body. */
function placeholdersIn(body: unknown): string[] {
	const found: string[] = [];
	// The table of ids is asked for each placeholder that stands for an id.
	const ids = {
		has: () => true,
		get: (placeholder: string) => {
			found.push(placeholder);
			return placeholder;
		},
	};
	fillPlaceholders(body, ids as unknown as ReadonlyMap<string, string>);
	return found;
}
