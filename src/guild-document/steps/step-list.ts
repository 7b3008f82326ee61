// The list that collects the steps of a difference: comparing fields, naming things, and the order of the steps.

import { everyone, type GuildDocument } from "../format/document.ts";
import { isPlaceholder, type Matched } from "../match/match.ts";
import type { ApiRequest, Difference, FieldChange, GuildState, Refusal, Step, StepGuard, StepKind } from "../steps.ts";
import { fillPlaceholders, rawOverwrites } from "./to-api.ts";
import { accessChanges, describeValue, sameValue } from "./values.ts";

export interface DifferenceOptions {
	/**
	 * Whether to delete roles, channels and so on that the guild document does not list. Sections that the document
	 * lacks, such as `roles`, are not touched.
	 */
	prune: boolean;
	/**
	 * Discord ids of the roles, channels and so on that were already created from the guild document, by placeholder such
	 * as "+role/Mods".
	 */
	ids?: ReadonlyMap<string, string>;
	/** Ids of the roles that the bot cannot move: those at and above its highest role. */
	fixedRoles?: ReadonlySet<string>;
	/**
	 * Ids of the channels that get the access of their category, as a plan has decided (`Step.follows`). Without it, it is
	 * decided again.
	 */
	following?: ReadonlySet<string>;
	/** Returns the ids of a member's roles; undefined if they are not known. */
	rolesOf?(memberId: string): readonly string[] | undefined;
}

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

type NewStep = Pick<Step, "action" | "kind" | "name"> &
	Partial<Pick<Step, "targetId" | "placeholder" | "changes" | "follows" | "note">> & {
		guard?: StepGuard;
		method: ApiRequest["method"];
		path(idOf: (idOrPlaceholder: string) => string): `/${string}`;
		body?: unknown;
		arrange?(body: unknown): unknown;
		picture?: ApiRequest["picture"] | undefined;
		reason?: string | undefined;
		/**
		 * Ids, or placeholders such as "+role/Mods", of what must exist before the step is carried out. Default: all
		 * placeholders in the request body.
		 */
		needs?: readonly string[];
	};

/** How an item of a guild document, such as a role, differs from the same item in the guild. */
export interface Comparison<T> {
	/** The fields that differ, with their values in the guild document. */
	values: Partial<T>;
	/** The fields that differ, formatted for users. For a new item, fields with their default value are left out. */
	changes: FieldChange[];
	isChanged: boolean;
}

/** A role, channel or other item with its id, or with a placeholder such as "+role/Mods" if it does not exist yet. */
export interface Thing {
	id?: string | undefined;
	name: string;
}

/** Fields that are never compared, because they identify an item or because only Discord sets them. */
const identity = ["id", "key", "managed"];

const keyedKinds: ReadonlySet<StepKind> = new Set(["role", "channel", "category", "emoji"]);

/**
 * Collects the steps (changes to a guild) that make a guild match a guild document, and the parts of the document that
 * cannot be applied. Steps may be added in any order.
 */
export class StepList {
	/** The guild document, with ids, or placeholders such as "+role/Mods", in place of keys. */
	readonly wanted: GuildDocument;
	/** The guild as it is now, as a guild document with ids in place of keys. */
	readonly current: GuildDocument;
	readonly ids: ReadonlyMap<string, string>;
	readonly fixedRoles: ReadonlySet<string>;
	readonly prune: boolean;
	/** Path of the guild in Discord's API, such as "/guilds/1". */
	readonly guildPath: `/${string}`;
	readonly #matched: Matched;
	readonly #keys: ReadonlyMap<string, string>;
	readonly #placeholders: ReadonlyMap<string, string>;
	readonly #refusals: Refusal[];
	readonly #steps = new Map<Phase, Step[]>(phases.map((phase) => [phase, []]));

	constructor(
		matched: Matched,
		readonly state: GuildState,
		readonly options: DifferenceOptions,
	) {
		this.#matched = matched;
		this.#refusals = [...matched.refusals];
		this.wanted = matched.wanted;
		this.current = matched.current;
		this.prune = options.prune;
		this.ids = options.ids ?? new Map();
		this.fixedRoles = options.fixedRoles ?? new Set();
		this.guildPath = `/guilds/${state.guild.id}`;
		this.#placeholders = new Map([...this.ids].map(([placeholder, id]) => [id, placeholder]));
		const { roles, channels, emojis } = matched.keys;
		this.#keys = new Map([...roles, ...channels, ...emojis]);
	}

	/**
	 * Returns the name that messages show for an id, or for a placeholder such as "+role/Mods". Returns other texts
	 * unchanged.
	 */
	readonly nameOf = (id: string): string =>
		id === this.state.guild.id || id === everyone ? everyone : (this.#matched.names.get(id) ?? id);

	/** Adds a step to a phase. The steps of a phase are carried out in the order in which they were added. */
	add(phase: Phase, step: NewStep): void {
		const { action, kind, name, targetId, placeholder } = step;
		const { follows, note } = step;
		const { method, path, body, picture, reason } = step;
		const { guard, changes = [] } = step;
		const { arrange = (filled: unknown) => filled } = step;
		const needs = step.needs ?? placeholdersIn(body);
		const target = placeholder ?? targetId ?? "";
		const subject = isPlaceholder(target) ? target.slice(1) : `${kind}/${this.#withPlaceholders(target)}`;
		this.#steps.get(phase)?.push({
			id: `${action} ${subject}`,
			action,
			kind,
			// Tells things of the same name apart, such as "Staff/general".
			name: keyedKinds.has(kind) ? (this.#keys.get(target) ?? name) : name,
			targetId,
			placeholder,
			changes,
			follows,
			note,
			needs: [...new Set(needs.filter(isPlaceholder))].filter((need) => need !== placeholder && !this.ids.has(need)),
			guard: { ...guard, fields: changes.map(({ field }) => field) },
			request: (given) => {
				const all = new Map([...this.ids, ...given]);
				const idOf = (one: string) => (isPlaceholder(one) ? (all.get(one) ?? "0") : one);
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

	/** Replaces the ids in a `targetId` of what was created from the document: a step's id must not change by that. */
	#withPlaceholders(targetId: string): string {
		return targetId
			.split("/")
			.map((id) => this.#placeholders.get(id) ?? id)
			.join("/");
	}

	/** Adds a refusal: a part of the guild document that cannot be applied, and the reason. */
	refuse(subject: string, reason: string): void {
		this.#refusals.push({ subject, reason });
	}

	/**
	 * Whether a role, channel or other item was created from the guild document and deleted since. If so, adds a refusal:
	 * the item must not be created again.
	 */
	isGone({ id = "", name }: Thing, what: string): boolean {
		if (!this.ids.has(id)) return false;
		this.refuse(`${what} ${name}`, "it was created, and someone has deleted it since");
		return true;
	}

	/**
	 * Compares the guild's item `before`, such as a role, with the guild document's item `after`. `before` is undefined
	 * if the item is new. If both are given, fields that only one of them has are not compared.
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

	/**
	 * Adds a step that deletes a role, channel or other item of the guild. Does nothing if deletions were not requested
	 * (`prune`).
	 */
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

	/**
	 * Adds steps that delete the existing items, such as roles, that the guild document does not list. Does nothing if
	 * deletions were not requested (`prune`).
	 */
	removeUnlisted(
		kind: StepKind,
		existing: readonly Thing[] = [],
		listed: readonly Thing[] = [],
		path: (id: string) => `/${string}`,
	): void {
		const kept = new Set(listed.map(({ id }) => id));
		for (const thing of existing) if (!kept.has(thing.id)) this.remove(kind, thing, path);
	}

	/**
	 * Returns all steps in the order of their phases, and without duplicates the refusals: the parts of the document that
	 * cannot be applied.
	 */
	result(): Difference {
		const refusals = new Map(this.#refusals.map((one) => [JSON.stringify(one), one]));
		return {
			steps: [...this.#steps.values()].flat(),
			refusals: [...refusals.values()],
		};
	}
}

/** Returns a map from ids to items. */
export function byId<T extends { id?: string | undefined }>(things: readonly T[] | undefined): ReadonlyMap<string, T> {
	return new Map(things?.map((thing) => [thing.id ?? "", thing]));
}

const maxNames = 20;

/**
 * Describes the new positions of the roles or channels `moved`, such as "a, b: below c". Neighbors are described
 * together.
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
