// The slash commands of all applications.

import { PermissionFlagsBits as Permission } from "discord.js";
import type { Command, Guild } from "../state/entities.ts";
import { has } from "../state/permissions.ts";

/**
 * Selects slash commands of an application: the global ones, or, if `guild_id` is set, those registered in this guild.
 */
export interface Scope {
	readonly application_id: string;
	readonly guild_id?: string | undefined;
}

/** The fields of a slash command that its application sets. */
export type CommandDetails = Omit<
	Command,
	"id" | "application_id" | "guild_id" | "type" | "version"
>;

export class Commands {
	readonly #all = new Map<string, Command>();

	constructor(private readonly newId: () => string) {}

	/**
	 * The slash commands that an application has registered, oldest first: its global ones, or, if `guild_id` is set,
	 * those in this guild.
	 */
	in({ application_id, guild_id }: Scope): Command[] {
		return [...this.#all.values()].filter(
			(one) =>
				one.application_id === application_id && one.guild_id === guild_id,
		);
	}

	/**
	 * The slash commands of an application that work in a guild. A command registered in the guild hides a global command
	 * of the same name.
	 */
	usable(application_id: string, guild: Guild | undefined): Command[] {
		const own = guild ? this.in({ application_id, guild_id: guild.id }) : [];
		const everywhere = this.in({ application_id }).filter(
			({ name }) => !own.some((one) => one.name === name),
		);
		return [...own, ...everywhere];
	}

	add({ application_id, guild_id }: Scope, details: CommandDetails): Command {
		const command: Command = {
			id: this.newId(),
			application_id,
			type: 1,
			...(guild_id === undefined ? {} : { guild_id }),
			version: this.newId(),
			...details,
		};
		this.#all.set(command.id, command);
		return command;
	}

	/** Replaces the details of a slash command. If a field changes, the command gets a new `version`. */
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

/** Whether a guild member with these permissions may use a slash command. */
export function mayUse(command: Command, permissions: bigint): boolean {
	if (has(permissions, Permission.Administrator)) return true;
	const needed = command.default_member_permissions;
	return (
		has(permissions, Permission.UseApplicationCommands) &&
		needed !== "0" &&
		has(permissions, BigInt(needed ?? 0))
	);
}
