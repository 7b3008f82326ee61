// A part of a feature for each guild that has it on: made, replaced and closed as the guild's settings change.

import type { GuildSettings } from "./guild-settings.ts";
import type { Values } from "./keys.ts";

interface GuildPart {
	start?(): void;
	close(): Promise<void>;
}

interface PerGuildOptions<Given, One> {
	settings: GuildSettings;
	/** What the part needs of the settings; undefined if it is off. The part is replaced when this changes. */
	given(values: Values, guildId: string): Given | undefined;
	/** `isNew`: it was off before, and somebody switched it on. */
	create(guildId: string, given: Given, isNew: boolean): One;
}

export class PerGuild<Given, One extends GuildPart> {
	readonly #parts = new Map<string, { given: Given; part: One }>();
	readonly #closing = new Map<string, Promise<void>>();
	#isClosed = false;

	constructor(private readonly options: PerGuildOptions<Given, One>) {}

	start(): void {
		this.options.settings.onChange((guildId, changed) => this.#update(guildId, changed !== undefined));
	}

	of(guildId: string): One | undefined {
		return this.#parts.get(guildId)?.part;
	}

	/** In no order. */
	all(): One[] {
		return [...this.#parts.values()].map(({ part }) => part);
	}

	/** Also those that were replaced. */
	async close(): Promise<void> {
		this.#isClosed = true;
		for (const id of [...this.#parts.keys()]) this.#end(id);
		await Promise.all(this.#closing.values());
	}

	#update(guildId: string, isChange: boolean): void {
		const { settings, given: read, create } = this.options;
		if (this.#isClosed) return;
		const given = read(settings.of(guildId), guildId);
		if (Bun.deepEquals(given, this.#parts.get(guildId)?.given)) return;
		this.#end(guildId);
		// The former part may still store what the next one reads.
		const closing = this.#closing.get(guildId);
		if (closing) void closing.then(() => this.#update(guildId, false));
		else if (given !== undefined) {
			const part = create(guildId, given, isChange);
			this.#parts.set(guildId, { given, part });
			part.start?.();
		}
	}

	#end(guildId: string): void {
		const part = this.#parts.get(guildId)?.part;
		this.#parts.delete(guildId);
		if (!part) return;
		const closing = part.close().finally(() => this.#closing.delete(guildId));
		this.#closing.set(guildId, closing);
	}
}
