// Objects of one kind in all guilds, by id. Each change is an event of Discord's Gateway and an entry in the audit log.

import type { Guild } from "./entities.ts";
import type { Verb } from "./events.ts";
import { type Attribution, apply, type Changes, type State } from "./state.ts";

export abstract class GuildObjects<T extends { readonly id: string; readonly guild_id: string }> {
	protected readonly all = new Map<string, T>();

	constructor(
		protected readonly state: State,
		private readonly noun: "AutoModerationRule" | "GuildScheduledEvent" | "StageInstance" | "Webhook",
	) {}

	protected abstract dispatch(verb: Verb, guild: Guild, one: T): void;

	/** The fields that the audit log has. */
	protected abstract logged(fields: Changes<T>): object;

	protected optionsOf(_one: T): Record<string, string> | undefined {
		return undefined;
	}

	in({ id }: Guild): T[] {
		return [...this.all.values()].filter(({ guild_id }) => guild_id === id);
	}

	/** The audit log has the fields of `given`. */
	protected insert(one: T, given: Changes<T>, by: Attribution | undefined): T {
		this.all.set(one.id, one);
		const guild = this.state.guildOf(one);
		this.dispatch("CREATE", guild, one);
		this.#audit("Create", guild, one, by, { after: this.logged(given) });
		return one;
	}

	edit(one: T, changes: Changes<T>, by?: Attribution): void {
		const before = this.logged(one);
		apply(one, changes);
		const guild = this.state.guildOf(one);
		this.dispatch("UPDATE", guild, one);
		this.#audit("Update", guild, one, by, { before, after: this.logged(changes) });
	}

	#audit(
		verb: "Create" | "Update" | "Delete",
		guild: Guild,
		one: T,
		by: Attribution | undefined,
		fields: object,
	): void {
		const options = this.optionsOf(one);
		this.state.audit(guild, by, `${this.noun}${verb}`, one.id, { ...fields, options });
	}

	remove(one: T, by?: Attribution): void {
		this.all.delete(one.id);
		const guild = this.state.guildOf(one);
		this.dispatch("DELETE", guild, one);
		this.#audit("Delete", guild, one, by, { before: this.logged(one) });
	}
}
