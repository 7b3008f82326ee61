// The list that collects the steps of a difference: comparing fields, naming things, and the order of the steps.

import { everyone, type GuildDocument } from "../format/document.ts";
import { isPlaceholder, type Matched } from "../match/match.ts";
import { unknownPicture } from "../read/picture.ts";
import type { Restore } from "../restore.ts";
import type { ApiRequest, Difference, FieldChange, GuildState, Refusal, Step, StepGuard, StepKind } from "../steps.ts";
import { fillPlaceholders, placeholdersIn, rawOverwrites, textWith } from "./to-api.ts";
import { accessChanges, describeValue, sameValue } from "./values.ts";

export interface DifferenceOptions {
	/** Delete what the document does not list, in sections that it has. */
	prune: boolean;
	/** Of what was already created, by placeholder such as "+role/Mods". */
	ids?: ReadonlyMap<string, string>;
	/** Roles that the bot cannot move: its highest one and those above. */
	fixedRoles?: ReadonlySet<string>;
	/** Channels that get the access of their category (`Step.follows`); otherwise decided again. */
	following?: ReadonlySet<string>;
	/** Instead of the document. */
	restore?: Restore | undefined;
	/** Undefined if not known. */
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
	// They may ping new roles, whose members are known then.
	"messages",
	"deletions",
	// With a channel go its webhooks and events, which have steps of their own among the other deletions.
	"channel deletions",
	"bot",
] as const;
export type Phase = (typeof phases)[number];

type NewStep = Pick<Step, "action" | "kind" | "name"> &
	Partial<Pick<Step, "targetId" | "placeholder" | "changes" | "follows" | "note">> & {
		guard?: StepGuard | undefined;
		/** Default: by the action. */
		method?: ApiRequest["method"];
		path: ApiRequest["path"] | ((idOf: (idOrPlaceholder: string) => string) => ApiRequest["path"]);
		body?: unknown;
		arrange?(body: unknown, ids: ReadonlyMap<string, string>): unknown;
		picture?: ApiRequest["picture"] | undefined;
		reason?: string | undefined;
		/** Of a message. `text` is kept as JSON. */
		record?: { key: string; text: unknown } | undefined;
		/** Ids or placeholders. Default: all placeholders in the body. */
		needs?: readonly string[];
	};

interface Comparison<T> {
	/** With the values in the document. */
	values: Partial<T>;
	/** For users; of a new thing without default values. */
	changes: FieldChange[];
	isChanged: boolean;
}

/** With an id, or a placeholder such as "+role/Mods". */
export interface Thing {
	id?: string | undefined;
	name: string;
}

const methods = { create: "POST", edit: "PATCH", order: "PATCH", delete: "DELETE", assign: "PUT", ban: "PUT" } as const;

/** A section of the document that is a list, all of whose things become steps in the same way. */
type ListedPart = "roles" | "emojis" | "automod" | "events" | "webhooks";
type Listed<P extends ListedPart> = NonNullable<GuildDocument[P]>[number];

interface ListedSteps<P extends ListedPart> {
	kind: StepKind;
	/** For messages. Default: the kind. */
	what?: string;
	phase: Phase;
	/** Of the list; a thing's own is below it. */
	path: ApiRequest["path"];
	defaults?: Partial<Listed<P>>;
	ignored?(old: Listed<P> | undefined): readonly string[];
	/** Default: all can be deleted. */
	isDeletable?(old: Listed<P>): boolean;
	/** Called also for things without a change. Undefined: no step. */
	step(
		thing: Listed<P>,
		values: Partial<Listed<P>>,
		old: Listed<P> | undefined,
	): Partial<Pick<NewStep, "guard" | "path" | "body" | "picture" | "needs">> | undefined;
}

/** Never compared: identifies a thing, or only Discord sets it. */
const identity = ["id", "key", "managed"];

const keyedKinds: ReadonlySet<StepKind> = new Set(["role", "channel", "category", "emoji"]);

/** Steps may be added in any order. */
export class StepList {
	/** With ids, or placeholders such as "+role/Mods", in place of keys. */
	readonly wanted: GuildDocument;
	/** With ids in place of keys. */
	readonly current: GuildDocument;
	readonly ids: ReadonlyMap<string, string>;
	readonly fixedRoles: ReadonlySet<string>;
	readonly prune: boolean;
	/** Such as "/guilds/1". */
	readonly guildPath: `/${string}`;
	readonly #keys: ReadonlyMap<string, string>;
	readonly #placeholders: ReadonlyMap<string, string>;
	readonly #refusals: Refusal[];
	readonly #steps = new Map<Phase, Step[]>(phases.map((phase) => [phase, []]));

	constructor(
		private readonly matched: Matched,
		readonly state: GuildState,
		readonly options: DifferenceOptions,
	) {
		this.#refusals = [...matched.refusals];
		this.wanted = matched.wanted;
		this.current = matched.current;
		this.prune = options.prune;
		this.ids = options.ids ?? new Map();
		this.fixedRoles = options.fixedRoles ?? new Set();
		this.guildPath = `/guilds/${state.guild.id}`;
		this.#placeholders = new Map([...this.ids].map(([placeholder, id]) => [id, placeholder]));
		this.#keys = new Map([...matched.keys.roles, ...matched.keys.channels, ...matched.keys.emojis]);
	}

	/** For messages; texts that are no id or placeholder stay. */
	readonly nameOf = (id: string): string =>
		id === this.state.guild.id || id === everyone ? everyone : (this.matched.names.get(id) ?? id);

	/** A phase keeps the order of its steps. */
	add(phase: Phase, { path, body, arrange, picture, reason, record, ...step }: NewStep): void {
		const { action, kind, name, targetId, placeholder, guard, changes = [] } = step;
		const { method = methods[action], needs = placeholdersIn(body), ...shown } = step;
		const { channelId = "" } = guard ?? {};
		const target = placeholder ?? targetId ?? "";
		const subject = isPlaceholder(target) ? target.slice(1) : `${kind}/${this.withPlaceholders(target)}`;
		this.#steps.get(phase)?.push({
			...shown,
			id: `${action} ${subject}`,
			// Tells things of the same name apart, such as "Staff/general".
			name: keyedKinds.has(kind) ? (this.#keys.get(target) ?? name) : name,
			changes,
			needs: [...new Set([...needs, channelId].filter(isPlaceholder))].filter(
				(need) => need !== placeholder && !this.ids.has(need),
			),
			guard: { ...guard, fields: changes.map(({ field }) => field) },
			request: (given) => {
				// Not a copy for each of thousands of steps.
				const all = given === this.ids || this.ids.size === 0 ? given : new Map([...this.ids, ...given]);
				const idOf = (one: string) => (isPlaceholder(one) ? (all.get(one) ?? "0") : one);
				const filled = body === undefined ? undefined : fillPlaceholders(body, (one) => all.get(one));
				return {
					method,
					path: typeof path === "string" ? path : path(idOf),
					...(body !== undefined && { body: arrange ? arrange(filled, all) : filled }),
					...(picture && { picture }),
					...(reason && { reason }),
					...(record && {
						record: { channel_id: idOf(channelId), key: record.key, content: textWith(record.text, all) },
					}),
				};
			},
		});
	}

	/** Replaces the ids in a `targetId` of what was created from the document: a step's id must not change by that. */
	withPlaceholders(targetId: string): string {
		return targetId
			.split("/")
			.map((id) => this.#placeholders.get(id) ?? id)
			.join("/");
	}

	refuse(subject: string, reason: string): void {
		this.#refusals.push({ subject, reason });
	}

	/** Created from the document and deleted since: refused, since it must not be created again. */
	isGone({ id = "", name }: Thing, what: string): boolean {
		if (!this.ids.has(id)) return false;
		this.refuse(`${what} ${name}`, "it was created, and someone has deleted it since");
		return true;
	}

	/** `before` is undefined for a new thing. Fields that only one of both has are not compared. */
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
			if (value === undefined || value === unknownPicture || (before && old === undefined)) continue;
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

	/** Only with `prune`. */
	remove(kind: StepKind, { id = "", name }: Thing, below: ApiRequest["path"], phase: Phase = "deletions"): void {
		if (!this.prune) return;
		this.add(phase, {
			action: "delete",
			kind,
			name,
			targetId: id,
			guard: kind === "role" ? { roleIds: [id] } : {},
			path: `${below}/${id}`,
		});
	}

	/** Creates, edits and, with `prune`, deletes the things of a list. */
	addAll<P extends ListedPart>(part: P, of: ListedSteps<P>): void {
		const wanted: readonly Listed<P>[] | undefined = this.wanted[part];
		const current: readonly Listed<P>[] | undefined = this.current[part];
		if (!wanted || !current) return;
		const { kind, what = kind, phase } = of;
		const before = byId(current);
		for (const thing of wanted) {
			const { id = "", name } = thing;
			const old = before.get(id);
			if (!old && this.isGone(thing, what)) continue;
			const { values, changes, isChanged } = this.compare(old, thing, of.defaults, of.ignored?.(old));
			const step = of.step(thing, values, old);
			if (!step || (old && !isChanged)) continue;
			const target = old
				? ({ action: "edit", name: old.name, targetId: id, path: `${of.path}/${id}` } as const)
				: ({ action: "create", name, placeholder: id, path: of.path } as const);
			this.add(phase, { ...target, kind, changes, ...step });
		}
		const kept = new Set(wanted.map(({ id }) => id));
		for (const thing of current)
			if (!kept.has(thing.id) && (of.isDeletable?.(thing) ?? true)) this.remove(kind, thing, of.path);
	}

	/** In the order of phases, refusals without duplicates. */
	result(): Difference {
		const refusals = new Map(this.#refusals.map((one) => [JSON.stringify(one), one]));
		return { steps: [...this.#steps.values()].flat(), refusals: [...refusals.values()] };
	}
}

export function byId<T extends { id?: string | undefined }>(things: readonly T[] | undefined): ReadonlyMap<string, T> {
	return new Map(things?.map((thing) => [thing.id ?? "", thing]));
}
