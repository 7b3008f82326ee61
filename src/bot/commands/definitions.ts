// The slash commands and menu commands that the bot registers with Discord, made from its actions.
// https://docs.discord.com/developers/interactions/application-commands#application-command-object

import {
	type APIApplicationCommandBasicOption,
	ApplicationCommandType,
	ApplicationIntegrationType,
	InteractionContextType,
	ApplicationCommandOptionType as Option,
	PermissionFlagsBits,
	type RESTPostAPIApplicationCommandsJSONBody,
	type RESTPostAPIChatInputApplicationCommandsJSONBody,
} from "discord.js";
import type { Permission } from "../../discord/permissions.ts";
import { maxReasonLength } from "../../discord/text.ts";
import type { Action, ActionOption } from "./action.ts";
import type { Command } from "./commands.ts";
import type { MenuHandler } from "./menus.ts";

export type Definition = RESTPostAPIApplicationCommandsJSONBody;

export interface Offered {
	actions: readonly Action[];
	menus: readonly MenuHandler[];
	/** Those with `slash` are also slash commands. */
	commands: readonly Command[];
}

export const helpCommand = { name: "help", description: "Show what you can use here" } as const;

// Discord accepts these fields only for commands of all guilds.
const inGuilds = {
	contexts: [InteractionContextType.Guild],
	integration_types: [ApplicationIntegrationType.GuildInstall],
};

export function definitionsOf(offered: Offered): Definition[] {
	const own = offered.commands.flatMap(({ slash }) =>
		slash
			? [
					{
						type: ApplicationCommandType.ChatInput as const,
						name: slash.name,
						description: slash.description,
						options: [{ ...slash.option, type: Option.String as const }],
						// Also in direct messages with the bot.
						...inGuilds,
						contexts: [InteractionContextType.Guild, InteractionContextType.BotDM],
					},
				]
			: [],
	);
	const menus = [
		...offered.actions.flatMap(({ menus = [], permission }) => menus.map((menu) => ({ ...menu, permission }))),
		...offered.menus.filter(({ type }) => type !== "slash"),
	].map(({ type, name, permission }) => ({
		type: type === "user" ? (ApplicationCommandType.User as const) : (ApplicationCommandType.Message as const),
		name,
		default_member_permissions: bitsOf(permission),
		...inGuilds,
	}));
	const slash = [
		...slashCommands(offered.actions),
		...offered.menus.flatMap((menu) => (menu.type === "slash" ? slashCommand(menu) : [])),
	];
	const all = [...own, ...slash, ...menus];
	if (slash.length === 0 && menus.length === 0) return all;
	return [{ type: ApplicationCommandType.ChatInput, ...helpCommand, ...inGuilds }, ...all];
}

function slashCommands(actions: readonly Action[]): RESTPostAPIChatInputApplicationCommandsJSONBody[] {
	const byCommand = Map.groupBy(actions, ({ name }) => name.split(" ")[0] ?? name);
	return [...byCommand].map(([name, group]) => {
		const [first] = group;
		const isGroup = group.some((action) => action.name.includes(" "));
		const options = isGroup
			? group.map((action) => ({
					type: Option.Subcommand as const,
					name: action.name.slice(name.length + 1),
					description: action.description,
					options: optionsOf(action),
				}))
			: group.flatMap(optionsOf);
		return {
			type: ApplicationCommandType.ChatInput as const,
			name,
			description: isGroup
				? group
						.map(({ description }) => description)
						.join("; ")
						.slice(0, 100)
				: (first?.description ?? name),
			options,
			default_member_permissions: bitsOf(first?.permission),
			...inGuilds,
		};
	});
}

function slashCommand({
	name,
	description,
	options,
	permission,
}: MenuHandler & { type: "slash" }): RESTPostAPIChatInputApplicationCommandsJSONBody {
	return {
		type: ApplicationCommandType.ChatInput,
		name,
		description,
		options: optionsOf({ options }),
		default_member_permissions: bitsOf(permission),
		...inGuilds,
	};
}

function bitsOf(permission: Permission | undefined): string | null {
	return permission === undefined ? null : String(PermissionFlagsBits[permission]);
}

function optionsOf({
	options,
}: {
	options: readonly Omit<ActionOption, "argument">[];
}): APIApplicationCommandBasicOption[] {
	const required = options.filter(({ required }) => required);
	const others = options.filter(({ required }) => !required);
	return [...required, ...others].map(toOption);
}

function toOption(option: Omit<ActionOption, "argument">): APIApplicationCommandBasicOption {
	const { kind, name, description, required = false, min, max } = option;
	const base = { name, description, required };
	const length = { ...(min !== undefined && { min_length: min }), ...(max !== undefined && { max_length: max }) };
	switch (kind) {
		case "user":
			return { ...base, type: Option.User };
		case "role":
			return { ...base, type: Option.Role };
		case "channel":
			return {
				...base,
				type: Option.Channel,
				...(option.channelTypes && { channel_types: [...option.channelTypes] as never }),
			};
		case "flag":
			return { ...base, type: Option.Boolean };
		case "integer":
			return {
				...base,
				type: Option.Integer,
				...(min !== undefined && { min_value: min }),
				...(max !== undefined && { max_value: max }),
			};
		case "case":
			return { ...base, type: Option.Integer, min_value: 1, autocomplete: true };
		case "choice":
			return { ...base, type: Option.String, choices: [...(option.choices ?? [])] };
		case "duration":
			return { ...base, type: Option.String, max_length: 40, autocomplete: true };
		case "reason":
			return { ...base, type: Option.String, max_length: maxReasonLength, ...length, autocomplete: true };
		case "message":
			return { ...base, type: Option.String, max_length: 200 };
		case "text":
			return { ...base, type: Option.String, ...length };
	}
}
