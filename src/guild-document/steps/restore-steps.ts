// Steps that set back what someone changed (`Restore`), as far as the guild is still as they left it.

import { isPlaceholder } from "../match/match.ts";
import { compareIds } from "../names/ids.ts";
import { permissionNames, thingsOf } from "../read/from-api.ts";
import type { Restore, RestoredField, RestoreItem } from "../restore.ts";
import type { ApiRequest, Difference, FieldChange, GuildState, Refusal, Step, StepKind } from "../steps.ts";
import { fillPlaceholders, overwritesBody, placeholdersIn, rawOverwritesOf } from "./to-api.ts";
import { accessChanges } from "./values.ts";

type Values = Readonly<Record<string, unknown>>;

/** Harm nobody by being gone, and can do harm as long as they exist. */
const alwaysUndone: ReadonlySet<StepKind> = new Set(["ban", "invite", "webhook"] as const);
const segments: Partial<Record<StepKind, string>> = {
	everyone: "roles",
	category: "channels",
	automod: "auto-moderation/rules",
	event: "scheduled-events",
	person: "members",
};
const outsideGuilds: ReadonlySet<StepKind> = new Set(["channel", "category", "webhook", "invite"] as const);
const overwrites = "(overwrite_changes: true sets it back, too)";
const changedSince = `others have changed it since, so it is left alone ${overwrites}`;
const getsNothing = "the account that is undone gets nothing back";

/** `ids`: of what was already created, by placeholder such as "+role/123" with the old id. */
export function restoreDifference(
	restore: Restore,
	state: GuildState,
	ids: ReadonlyMap<string, string> = new Map(),
): Difference {
	const restoration = new Restoration(restore, state, ids);
	for (const item of restore.items) restoration.add(item);
	return restoration;
}

class Restoration implements Difference {
	readonly steps: Step[] = [];
	readonly refusals: Refusal[];
	readonly notes: Refusal[] = [];
	readonly kept: Set<string>;
	readonly #recreated: ReadonlySet<string>;
	/** Ids of what was created and is deleted. */
	readonly #removed: ReadonlySet<string>;
	readonly #names: ReadonlyMap<string, string>;

	constructor(
		private readonly restore: Restore,
		private readonly state: GuildState,
		private readonly ids: ReadonlyMap<string, string>,
	) {
		this.refusals = [...restore.impossible];
		this.kept = new Set(restore.kept);
		const deleted = restore.items.filter(({ fields }) => fields.exists?.before === true);
		this.#recreated = new Set(deleted.map(placeholderOf));
		const created = restore.deleteCreated ? restore.items.filter(({ fields }) => fields.exists?.before === false) : [];
		this.#removed = new Set(created.map(({ id }) => id));
		this.#names = new Map([
			...deleted.map((item) => [placeholderOf(item), item.name] as const),
			...[...state.guild.roles, ...state.channels].map(({ id, name }) => [id, name ?? id] as const),
		]);
	}

	add(item: RestoreItem): void {
		const { kind, id, fields } = item;
		const now = this.#valuesOf(kind, id);
		if (now === "unread") this.#refuse(item, "the bot cannot read what there is now");
		else if (fields.exists && fields.exists.before !== Boolean(now) && this.#isDecided(item, fields.exists)) return;
		else if (fields.exists?.before === false) this.#remove(item, now);
		else if (fields.exists) this.#recreate(item, now);
		else if (!now && Object.values(fields).every(({ before }) => before === false)) this.#note(item, "already gone");
		else if (!now) this.#refuse(item, "is not in the guild any more");
		else if (kind === "member") this.#restoreRoles(item, now);
		else this.#restoreFields(item, now);
	}

	#refuse({ kind, name, fields }: RestoreItem, reason: string, kept = Object.values(fields)): void {
		this.refusals.push({ subject: `${kind} ${name}`, reason });
		for (const id of kept.flatMap(({ entries }) => entries)) this.kept.add(id);
	}

	/** Then it is refused. */
	#isDecided(item: RestoreItem, field: RestoredField, of = ""): boolean {
		if (field.since === undefined || this.restore.overwriteChanges) return false;
		this.#refuse(item, `${of}not undone, because ${field.since} decided since ${overwrites}`, [field]);
		return true;
	}

	#note({ kind, name }: RestoreItem, reason: string): void {
		this.notes.push({ subject: `${kind} ${name}`, reason });
	}

	/** As in Discord's API. */
	#valuesOf(kind: StepKind, id: string): Values | undefined | "unread" {
		const { guild, people, invites } = this.state;
		if (kind === "settings") return { ...guild };
		if (kind === "person" || kind === "member") return people?.get(id) as Values | undefined;
		if (kind === "invite") return invites?.has(id) ? {} : undefined;
		const list = thingsOf(this.state, kind);
		return list ? (list.find((thing) => thing.id === id) as Values | undefined) : "unread";
	}

	#add(
		action: Step["action"],
		item: RestoreItem,
		request: Omit<ApiRequest, "path"> & { path: string; idInPath?: string },
		more: Partial<Omit<Step, "request">> = {},
	): void {
		const { kind, id, name, fields } = item;
		const undoes = Object.values(fields).flatMap(({ entries }) => entries);
		const { idInPath = "", path, ...sent } = request;
		const needs = [...placeholdersIn(request.body), idInPath].filter((one) => isPlaceholder(one) && !this.ids.has(one));
		const own = action === "create" ? { placeholder: placeholderOf(item) } : { targetId: id };
		const step = { action, kind, name, ...own, changes: [], undoes };
		this.steps.push({
			id: `${action} ${kind}/${more.targetId ?? id}`,
			...step,
			...more,
			needs: [...new Set(needs)],
			guard: { ...more.guard, fields: more.changes?.map(({ field }) => field) ?? [] },
			request: (given) => {
				const all = new Map([...this.ids, ...given]);
				const whole = path + (isPlaceholder(idInPath) ? (all.get(idInPath) ?? "0") : idInPath);
				return { ...sent, path: whole as ApiRequest["path"], body: fillPlaceholders(sent.body, (one) => all.get(one)) };
			},
		});
	}

	#pathOf({ kind, id }: RestoreItem, isNew = false): string {
		const guild = `/guilds/${this.state.guild.id}`;
		if (kind === "settings") return guild;
		return `${outsideGuilds.has(kind) && !isNew ? "" : guild}/${segments[kind] ?? `${kind}s`}${isNew ? "" : `/${id}`}`;
	}

	#remove(item: RestoreItem, now: Values | undefined): void {
		const { kind, id } = item;
		const guard = kind === "role" ? { roleIds: [id] } : {};
		if (!now) this.#note(item, kind === "ban" ? "already lifted" : "already gone");
		else if (alwaysUndone.has(kind) || this.restore.deleteCreated)
			this.#add("delete", this.#withMembers(item), { method: "DELETE", path: this.#pathOf(item) }, { guard });
		else this.#refuse(item, "was created or added; delete_created: true deletes it with all that others put there");
	}

	/** A deleted role is taken from its members without steps of their own. */
	#withMembers(item: RestoreItem): RestoreItem {
		const given = this.restore.items.flatMap(({ kind, fields }) =>
			kind === "member" && item.kind === "role" ? (fields[`role:${item.id}`] ?? []) : [],
		);
		const entries = given.flatMap(({ before, entries }) => (before ? [] : entries));
		return { ...item, fields: { ...item.fields, members: { before: null, after: null, entries } } };
	}

	#recreate(item: RestoreItem, now: Values | undefined): void {
		const { kind, fields } = item;
		const deletedBy = fields.exists?.entries[0] ?? "";
		const things = thingsOf(this.state, kind);
		const same = things?.find((one) => one.name === fields.name?.before && compareIds(one.id, deletedBy) > 0);
		if (this.ids.has(placeholderOf(item))) return;
		if (kind === "ban" && now) this.#note(item, "already banned again");
		else if (kind === "ban") this.#add("ban", item, { method: "PUT", path: this.#pathOf(item), body: {} });
		else if (same) this.#note(item, `already there again (ID: ${same.id})`);
		else this.#restoreFields(item);
	}

	/** Or its placeholder; undefined if it was deleted and is not created again. */
	#idNow(kind: StepKind, id: string): string | undefined {
		if (this.#names.has(id)) return id;
		const placeholder = `+${kind}/${id}`;
		return this.ids.get(placeholder) ?? (this.#recreated.has(placeholder) ? placeholder : undefined);
	}

	readonly #nameOf = (id: string): string =>
		id === this.state.guild.id ? "@everyone" : (this.#names.get(id) ?? this.state.people?.get(id)?.user.username ?? id);

	#restoreRoles(item: RestoreItem, { roles }: Values): void {
		for (const [field, values] of Object.entries(item.fields)) {
			const { before } = values;
			const old = field.slice("role:".length);
			const role = this.#idNow("role", old);
			const own = { ...item, name: this.#nameOf(role ?? old), fields: { [field]: values } };
			const of = `of ${item.name}: `;
			if (role !== undefined && this.#removed.has(old)) continue;
			if (role === undefined && before) this.#refuse(own, `${of}the role does not exist any more`);
			else if (role === undefined) this.#note(own, `${of}already gone`);
			else if ((roles as string[]).includes(role) === before) this.#note(own, `${of}already as before`);
			else if (this.#isDecided(own, values, of)) continue;
			else if (before && this.restore.actors.includes(item.id)) this.#refuse(own, of + getsNothing);
			else {
				const [action, method] = before ? (["assign", "PUT"] as const) : (["delete", "DELETE"] as const);
				// With the old id: a step's id must not change when its role is created.
				const more = { targetId: `${item.id}/${old}`, guard: { roleIds: [role] } };
				const change = { field: "role", after: own.name };
				const request = { method, path: `${this.#pathOf(item)}/roles/`, idInPath: role };
				this.#add(action, own, request, { ...more, changes: before ? [change] : [] });
			}
		}
	}

	/** `now`: undefined if it is created again. */
	#restoreFields(item: RestoreItem, now?: Values): void {
		const { kind, id } = item;
		const { exists: _, ...fields } = item.fields;
		const before = new Map(rawOverwritesOf((now ?? {}) as never).map((one) => [one.id, one]));
		const after = new Map(before);
		const body: Record<string, unknown> = {};
		const changes: FieldChange[] = [];
		const undone: Record<string, RestoredField> = now ? {} : item.fields;
		let isBefore = now !== undefined;
		for (const [field, values] of Object.entries(fields)) {
			const [part = "", type, target = ""] = field.split(":");
			const isOverwrite = type !== undefined;
			const [old, set] = [values.before, values.after].map((one) => (isOverwrite ? (one ?? "0") : one));
			const isParent = field === "parent_id" && values.before != null;
			const kindOfOld = isParent ? "category" : type === "0" ? "role" : undefined;
			const thing = kindOfOld ? this.#idNow(kindOfOld, isParent ? String(old) : target) : target;
			const value = isOverwrite ? String(before.get(thing ?? "")?.[part as "allow"] ?? 0) : now?.[field];
			if (!values.impossible && field !== "position" && isSame(value, (isParent && thing) || old)) continue;
			isBefore = false;
			const label = isOverwrite ? `${part} of ${this.#nameOf(target)}` : labelOf(field);
			const isChanged = now && !isSame(value, set) && !this.restore.overwriteChanges;
			const why =
				(values.impossible && `: ${values.impossible}`) ||
				(isChanged && ` is now ${this.#textOf(field, value)}: ${changedSince}`) ||
				(thing === undefined && ": what it was does not exist any more");
			if (why && now) this.#refuse(item, label + why, [values]);
			if (why || thing === undefined) continue;
			undone[field] = values;
			if (isOverwrite) {
				const present = after.get(thing) ?? { id: thing, type: Number(type) as 0 | 1, allow: 0n, deny: 0n };
				const wanted = BigInt(String(old));
				const isActor = this.restore.actors.includes(thing);
				const limited = part === "allow" ? wanted & present.allow : wanted | present.deny;
				if (isActor && limited !== wanted)
					this.#refuse(item, `access of ${this.#nameOf(thing)}: ${getsNothing}`, now ? [values] : []);
				const overwrite = { ...present, [part]: isActor ? limited : wanted };
				after.set(thing, overwrite);
				// The other half stays if others have changed it.
				if ((values.before === null || isActor) && !(overwrite.allow | overwrite.deny)) after.delete(thing);
				continue;
			}
			body[field] = thing || (old ?? emptyLike(value));
			const [from, to = ""] = [value ?? emptyLike(old), body[field]].map((one) => this.#textOf(field, one));
			const isShown = now || !["name", "type", "position"].includes(field);
			if (isShown) changes.push({ field: label, ...(now && { before: from }), after: to });
		}
		if (isBefore) this.#note(item, "already as before");
		const overwrites = { before: [...before.values()], after: [...after.values()] };
		const access = accessChanges(overwrites.before, overwrites.after, this.#nameOf);
		if (access.length > 0) body.permission_overwrites = overwritesBody(overwrites.after);
		if (now && changes.length + access.length === 0) return;
		const guard = {
			...((kind === "role" || kind === "everyone") && { roleIds: [now ? id : placeholderOf(item)] }),
			...(access.length > 0 && { overwrites }),
			...((body.parent_id !== undefined || (!now && kind === "channel")) && { parentId: String(body.parent_id ?? "") }),
		};
		const request = { method: now ? "PATCH" : "POST", path: this.#pathOf(item, !now), body } as const;
		const own = { ...item, fields: undone };
		this.#add(now ? "edit" : "create", own, request, { changes: [...changes, ...access], guard });
	}

	/** For people. */
	#textOf(field: string, value: unknown): string {
		if (value === null || value === undefined || value === "") return "none";
		if (field === "permissions" || field.includes(":")) return permissionNames(String(value)).join(", ") || "none";
		if (field.endsWith("_id")) return this.#nameOf(String(value));
		return typeof value === "object" ? JSON.stringify(value) : String(value);
	}
}

const placeholderOf = ({ kind, id }: Pick<RestoreItem, "kind" | "id">) => `+${kind}/${id}`;

const labels: Readonly<Record<string, string>> = {
	rate_limit_per_user: "slowmode_seconds",
	parent_id: "category",
	communication_disabled_until: "timeout",
	nick: "nickname",
};
const labelOf = (field: string) => labels[field] ?? field;

/** Discord leaves out empty values in the audit log, and an ended timeout is none. */
function normal(value: unknown): unknown {
	if (value === undefined || value === "" || value === false || value === 0) return null;
	if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT/.test(value)) return value;
	const at = Date.parse(value);
	return at > Date.now() ? at : null;
}

export const isSame = (a: unknown, b: unknown): boolean => Bun.deepEquals(normal(a), normal(b));

const emptyLike = (value: unknown) => (typeof value === "boolean" ? false : typeof value === "number" ? 0 : null);
