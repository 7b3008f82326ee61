// The slash commands of all applications: registering them, and which of them someone may use where.

import { RESTJSONErrorCodes as Code, PermissionFlagsBits } from "discord.js";
import {
	type CommandForm,
	maxCommands,
	refuseTooLarge,
} from "../../rest/command-fields.ts";
import { fieldFault, refusal } from "../../rest/errors.ts";
import type { Command, Guild } from "../state/entities.ts";
import { has } from "../state/permissions.ts";

/** Where commands are registered: in all guilds an application is in, or in one. */
export interface Scope {
	readonly application_id: string;
	readonly guild_id?: string | undefined;
}

type NewCommand = CommandForm & { name: string; description: string };

export class Commands {
	readonly #all = new Map<string, Command>();
	readonly #newId: () => string;

	constructor(newId: () => string) {
		this.#newId = newId;
	}

	/** The commands of this scope, oldest first. */
	in({ application_id, guild_id }: Scope): Command[] {
		return [...this.#all.values()].filter(
			(one) =>
				one.application_id === application_id && one.guild_id === guild_id,
		);
	}

	/** The command with this id; throws Discord's refusal when the scope has none. */
	get(scope: Scope, id: string): Command {
		const command = this.in(scope).find((one) => one.id === id);
		if (!command) throw refusal(Code.UnknownApplicationCommand);
		return command;
	}

	/** All that this application's people see in a guild: the guild's own commands, and the others that it does not hide. */
	usable(application_id: string, guild: Guild | undefined): Command[] {
		const own = guild ? this.in({ application_id, guild_id: guild.id }) : [];
		const everywhere = this.in({ application_id }).filter(
			({ name }) => !own.some((one) => one.name === name),
		);
		return [...own, ...everywhere];
	}

	/** Registers a command, in place of one with the same name. */
	put(scope: Scope, form: NewCommand): { command: Command; isNew: boolean } {
		refuseTooLarge(form);
		const known = this.in(scope).find(({ name }) => name === form.name);
		if (known) {
			const changes = said(form, silent, scope.guild_id);
			return { command: this.#replace(known, changes), isNew: false };
		}
		if (this.in(scope).length >= maxCommands)
			throw refusal(Code.MaximumNumberOfApplicationCommandsReached);
		const id = this.#newId();
		const { application_id, guild_id } = scope;
		const command: Command = {
			...{ id, application_id, type: 1 },
			...(guild_id === undefined ? {} : { guild_id }),
			version: this.#newId(),
			...said(form, silent, guild_id),
		};
		this.#all.set(id, command);
		return { command, isNew: true };
	}

	/** Registers these, and removes all others of the scope. Those that are as they were keep their version. */
	set(scope: Scope, forms: readonly NewCommand[]): Command[] {
		const names = new Set<string>();
		for (const [index, form] of forms.entries()) {
			if (names.has(form.name))
				throw fieldFault(
					"APPLICATION_COMMANDS_DUPLICATE_NAME",
					"Application command names must be unique",
					index,
				);
			names.add(form.name);
			refuseTooLarge(form);
		}
		for (const { id, name } of this.in(scope))
			if (!names.has(name)) this.#all.delete(id);
		return forms.map((form) => this.put(scope, form).command);
	}

	edit(command: Command, form: CommandForm): Command {
		const taken = this.in(command).some(
			(one) => one !== command && one.name === form.name,
		);
		if (taken)
			throw fieldFault(
				"APPLICATION_COMMANDS_DUPLICATE_NAME",
				"Application command names must be unique",
				"name",
			);
		refuseTooLarge({ ...command, ...said(form, command, command.guild_id) });
		return this.#replace(command, said(form, command, command.guild_id));
	}

	remove(command: Command): void {
		this.#all.delete(command.id);
	}

	#replace(command: Command, changes: ReturnType<typeof said>): Command {
		const before = { ...command };
		Object.assign(command, changes);
		if (!Bun.deepEquals(command, before)) command.version = this.#newId();
		return command;
	}
}

const silent = {
	name: "",
	name_localizations: null,
	description: "",
	description_localizations: null,
	options: [],
	default_member_permissions: null,
	nsfw: false,
	dm_permission: true,
	contexts: null,
	integration_types: [0],
} as const;

type Said = Omit<
	Command,
	"id" | "application_id" | "guild_id" | "type" | "version"
>;

/** What the form says of a command; what it does not say is as it was. */
function said(form: CommandForm, before: Said, guildId?: string): Said {
	const or = <T, U>(given: T | undefined, old: U) =>
		given === undefined ? old : given;
	const bits = form.default_member_permissions;
	return {
		name: form.name ?? before.name,
		name_localizations: or(form.name_localizations, before.name_localizations),
		description: form.description ?? before.description,
		description_localizations: or(
			form.description_localizations,
			before.description_localizations,
		),
		options: or(form.options, before.options) ?? [],
		default_member_permissions:
			typeof bits === "bigint"
				? String(bits)
				: or(bits, before.default_member_permissions),
		nsfw: form.nsfw ?? before.nsfw,
		// A guild's command is in that guild, and there is nothing to choose.
		...(guildId === undefined
			? {
					dm_permission: form.dm_permission ?? before.dm_permission ?? true,
					contexts: or(form.contexts, before.contexts ?? null),
					integration_types: form.integration_types ??
						before.integration_types ?? [0],
				}
			: {}),
	};
}

/** Whether someone with these permissions may use slash commands, and this one. */
export function mayUse(command: Command, permissions: bigint): boolean {
	if (has(permissions, PermissionFlagsBits.Administrator)) return true;
	const needed = command.default_member_permissions;
	return (
		has(permissions, PermissionFlagsBits.UseApplicationCommands) &&
		needed !== "0" &&
		has(permissions, BigInt(needed ?? 0))
	);
}
