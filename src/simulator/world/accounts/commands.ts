// The commands of all applications: slash commands, and those in the context menus of users and messages.
//
// A gap: A guild has no command permissions, and the number of new commands a day is not limited. Every bot counts as invited with `applications.commands`.

import { InteractionContextType } from "discord.js";
import type { Command, Guild } from "../state/entities.ts";
import { has } from "../state/permissions.ts";

export interface Scope {
	application_id: string;
	guild_id?: string | undefined;
}

export type CommandDetails = Omit<Command, "id" | "application_id" | "guild_id" | "version">;

export class Commands {
	readonly #all = new Map<string, Command>();

	constructor(private readonly newId: () => string) {}

	/** Oldest first. */
	in({ application_id, guild_id }: Scope): Command[] {
		return [...this.#all.values()].filter((one) => one.application_id === application_id && one.guild_id === guild_id);
	}

	/**
	 * The commands of an application that work in a guild, or in direct messages if `guild` is undefined: first those
	 * registered in the guild, then the global ones. Two of them can have the same name, and people see both:
	 * https://github.com/discord/discord-api-docs/issues/3885
	 */
	usable(application_id: string, guild: Guild | undefined): Command[] {
		const own = guild ? this.in({ application_id, guild_id: guild.id }) : [];
		return [...own, ...this.in({ application_id }).filter((command) => worksIn(command, guild))];
	}

	add(scope: Scope, details: CommandDetails): Command {
		const { application_id, guild_id } = scope;
		const command: Command = {
			id: this.newId(),
			application_id,
			...(guild_id !== undefined && { guild_id }),
			version: this.newId(),
			...details,
		};
		this.#all.set(command.id, command);
		return command;
	}

	edit(command: Command, details: CommandDetails): Command {
		const before = { ...command };
		Object.assign(command, details);
		if (!Bun.deepEquals(command, before)) command.version = this.newId();
		return command;
	}

	remove(command: Command): void {
		this.#all.delete(command.id);
	}
}

export function isSame(a: Pick<Command, "name" | "type">, b: Pick<Command, "name" | "type">): boolean {
	return a.name === b.name && a.type === b.type;
}

/** https://docs.discord.com/developers/interactions/application-commands#interaction-contexts */
function worksIn({ contexts, dm_permission }: Command, guild: Guild | undefined): boolean {
	if (contexts) return contexts.includes(guild ? InteractionContextType.Guild : InteractionContextType.BotDM);
	return guild !== undefined || dm_permission !== false;
}

export function mayUse(command: Command, permissions: bigint): boolean {
	if (has(permissions, "Administrator")) return true;
	const needed = command.default_member_permissions;
	return has(permissions, "UseApplicationCommands") && needed !== "0" && has(permissions, BigInt(needed ?? 0));
}
