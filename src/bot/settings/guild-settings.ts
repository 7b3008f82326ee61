// The settings of each guild, in the store. A change takes effect at once. While the store is down, the last known settings
// stay in force.

import * as v from "valibot";
import { checkSettings, didYouMean, formatIssue, unknownKey } from "../../lib/config.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Said } from "../../texts/texts.ts";
import { Durable } from "../store/durable.ts";
import type { Store } from "../store/store.ts";
import {
	insertSettingVersion,
	type SettingVersion,
	selectCurrentSettings,
	settingVersionRows,
} from "../store/tables/setting-versions.ts";
import { allKeys, featureOff, isKey, keyOf, type SettingKey, type Values } from "./keys.ts";

/** JSON values by key; without those that are not set. May hold keys and values that only another version knows. */
export type Stored = Readonly<JsonObject>;

export interface GuildState {
	/** 0 if nothing was ever set. */
	version: number;
	stored: Stored;
	values: Values;
	/** What of it does not count, and is kept. */
	problems: readonly Problem[];
}

export interface Problem {
	key: string;
	message: string;
	/** For people. Default: the message. */
	said?: Said;
}

/** JSON values; undefined: not set. */
export interface Change {
	key: string;
	before: unknown;
	after: unknown;
}

/** Nothing was stored. */
export class InvalidSettings extends Error {
	override name = "InvalidSettings";

	constructor(readonly problems: readonly Problem[]) {
		super(problems.map(({ key, message }) => `${key}: ${message}`).join("\n"));
	}
}

/** Why `work` throws InvalidSettings; none if it does not. */
export function problemsIn(work: () => unknown): readonly Problem[] {
	try {
		work();
		return [];
	} catch (error) {
		if (error instanceof InvalidSettings) return error.problems;
		throw error;
	}
}

/** Who makes a change, and by which door, such as "set_settings". */
export interface Author {
	userId: string | null;
	door: string;
}

/** What was changed, and who did it. */
interface Changed {
	author: Author;
	changes: readonly Change[];
}

interface Revision extends Omit<SettingVersion, "settings" | "guild_id"> {
	changes: readonly Change[];
}

interface GuildSettingsOptions {
	store: Store;
	mutex: KeyedMutex;
	log: Log;
	/** Those that are false are switched off, and their keys cannot be set. */
	features?: Readonly<Partial<Record<string, boolean>>>;
	now?: () => number;
}

export class GuildSettings {
	readonly #guilds = new Map<string, GuildState>();
	readonly #found = new Map<string, readonly Problem[]>();
	readonly #listeners = new Set<(guildId: string, changed: Changed | undefined) => void>();
	readonly #loading = Promise.withResolvers<void>();
	readonly #work: Durable;
	#isLoaded = false;
	/** Those that can be set. */
	readonly keys: readonly SettingKey[];

	constructor(private readonly options: GuildSettingsOptions) {
		const { features = {} } = options;
		this.keys = allKeys.filter((key) => featureOff(key, features) === undefined);
		this.#work = new Durable({
			name: "settings of guilds",
			log: options.log,
			scan: async () =>
				this.#isLoaded
					? []
					: [{ key: "load", failure: "could not load the settings of guilds", run: () => this.load() }],
		});
	}

	get isLoaded(): boolean {
		return this.#isLoaded;
	}

	/** For the first time. Never rejects. */
	get loaded(): Promise<void> {
		return this.#loading.promise;
	}

	of(guildId: string): Values {
		return this.state(guildId).values;
	}

	state(guildId: string): GuildState {
		const state = this.#guilds.get(guildId) ?? unset;
		const found = this.#found.get(guildId) ?? [];
		return found.length > 0 ? { ...state, problems: [...state.problems, ...found] } : state;
	}

	/** What a part of the bot could not do, in place of what was noted before. */
	note(guildId: string, found: readonly Problem[]): void {
		this.#found.set(guildId, found);
	}

	/** Called after each change, and for each guild when its settings have been loaded; `changed` is undefined then. */
	onChange(listener: (guildId: string, changed: Changed | undefined) => void): void {
		this.#listeners.add(listener);
		for (const id of this.#guilds.keys()) listener(id, undefined);
	}

	/** What `wanted` would change; null: to the default. Throws InvalidSettings. */
	changes(guildId: string, wanted: Stored): readonly Change[] {
		return differences(this.state(guildId).stored, this.#merged(guildId, wanted));
	}

	/**
	 * Stores and applies `wanted`; null: to the default. Throws InvalidSettings. Rejects with StoreUnavailable. Returns what was
	 * changed.
	 */
	change(guildId: string, wanted: Stored, author: Author): Promise<readonly Change[]> {
		return this.options.mutex.withLock(`settings ${guildId}`, async () => {
			await this.ready();
			const { stored, version } = this.state(guildId);
			const merged = this.#merged(guildId, wanted);
			const changes = differences(stored, merged);
			if (changes.length === 0) return changes;
			const row: SettingVersion = {
				guild_id: guildId,
				version: version + 1,
				changed_at: (this.options.now ?? Date.now)(),
				changed_by: author.userId,
				door: author.door,
				settings: JSON.stringify(merged),
			};
			try {
				await this.options.store.transaction((sql) => insertSettingVersion(sql, row));
			} catch (error) {
				// It may have been stored.
				this.#isLoaded = false;
				this.#work.wake();
				throw error;
			}
			this.#apply(row, { author, changes });
			return changes;
		});
	}

	/** Newest first, at most 50. Rejects with StoreUnavailable. */
	async history(guildId: string): Promise<readonly Revision[]> {
		const rows = await settingVersionRows.all(this.options.store.sql, { guild_id: guildId }, "version DESC");
		return rows.flatMap(({ settings, guild_id: _, ...row }, index) => {
			const before = rows[index + 1];
			if (!before && row.version > 1) return [];
			return [{ ...row, changes: differences(parse(before?.settings ?? "{}"), parse(settings)) }];
		});
	}

	/** What to pass to `change` to get back the settings of a version; undefined if there is no such version. */
	async restoring(guildId: string, version: number): Promise<JsonObject | undefined> {
		const row = await settingVersionRows.first(this.options.store.sql, { guild_id: guildId, version });
		if (!row) return undefined;
		const changes = differences(this.state(guildId).stored, parse(row.settings));
		// What cannot be set stays as it is.
		const wanted = changes.filter(({ key }) => isKey(key) && this.keys.includes(key));
		return Object.fromEntries(wanted.map(({ key, after }) => [key, after ?? null]));
	}

	forget(guildId: string): void {
		this.#guilds.delete(guildId);
		for (const listener of this.#listeners) listener(guildId, undefined);
	}

	start(): void {
		this.#work.wake();
	}

	async close(): Promise<void> {
		await this.#work.close();
	}

	#merged(guildId: string, wanted: Stored): Stored {
		const { stored } = this.state(guildId);
		const unknown = Object.keys(wanted).filter((key) => !isKey(key) && !(wanted[key] === null && key in stored));
		const given = Object.entries({ ...stored, ...wanted }).filter(([, value]) => value !== null);
		const merged: Stored = Object.fromEntries(given);
		const { features = {} } = this.options;
		const problems = [
			...unknown.map((key) => ({ key, message: `${unknownKey}${didYouMean(key, this.keys)}` })),
			...Object.keys(wanted).flatMap((key) => {
				const off = isKey(key) && wanted[key] !== null ? featureOff(key, features) : undefined;
				return off ? [{ key, message: `the operator has switched off features.${off} in config.toml` }] : [];
			}),
			// A value of another version stays as it is.
			...read(merged).problems.filter(({ key }) => key in wanted && isKey(key)),
		];
		if (problems.length > 0) throw new InvalidSettings(problems);
		return merged;
	}

	/** Loads them unless that was done. Rejects with StoreUnavailable. */
	async ready(): Promise<void> {
		if (!this.#isLoaded) await this.load();
	}

	/** Rejects with StoreUnavailable. */
	async load(): Promise<void> {
		const rows = await selectCurrentSettings(this.options.store.sql);
		this.#isLoaded = true;
		for (const row of rows) if (row.version > this.state(row.guild_id).version) this.#apply(row);
		this.#loading.resolve();
	}

	#apply({ guild_id, version, settings }: SettingVersion, changed?: Changed): void {
		const stored = parse(settings);
		this.#guilds.set(guild_id, { version, stored, ...read(stored) });
		for (const listener of this.#listeners) listener(guild_id, changed);
	}
}

/** Keys and values that do not count get their default. */
export function read(stored: Stored): Pick<GuildState, "values" | "problems"> {
	const problems: Problem[] = Object.keys(stored).flatMap((key) =>
		isKey(key) ? [] : [{ key, message: "is unknown to this version of the bot, and kept" }],
	);
	const values = allKeys.map((key): [SettingKey, unknown] => {
		const { value: schema } = keyOf(key);
		const { settings, issues } = checkSettings(v.strictObject({ [key]: schema }), { [key]: stored[key] });
		if (settings) return [key, settings[key]];
		for (const { path, message } of issues)
			problems.push({ key, message: path.length > 1 ? formatIssue({ path: path.slice(1), message }) : message });
		return [key, v.getDefault(schema as never)];
	});
	return { values: Object.fromEntries(values) as unknown as Values, problems };
}

const unset: GuildState = { version: 0, stored: {}, ...read({}) };

function parse(settings: string): Stored {
	return JSON.parse(settings);
}

function differences(before: Stored, after: Stored): Change[] {
	return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
		Bun.deepEquals(before[key], after[key]) ? [] : [{ key, before: before[key], after: after[key] }],
	);
}
