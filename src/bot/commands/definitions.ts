// The slash commands and menu commands that the bot registers with Discord, made from its actions.
// https://docs.discord.com/developers/interactions/application-commands#application-command-object

import {
	type APIApplicationCommandBasicOption,
	type APIApplicationCommandOption,
	ApplicationCommandType,
	ApplicationIntegrationType,
	InteractionContextType,
	ApplicationCommandOptionType as Option,
	PermissionFlagsBits,
	type RESTPostAPIApplicationCommandsJSONBody,
	type RESTPostAPIChatInputApplicationCommandsJSONBody,
} from "discord.js";
import { maxReasonLength } from "../../discord/text.ts";
import type { ModeratorAction } from "../settings/grants.ts";
import type { Action, ActionOption } from "./action.ts";
import { type CommandPath, descriptionsOf, namesOf } from "./command-texts.ts";
import type { MenuHandler } from "./feature.ts";
import { permissionOf, type Restricted } from "./who-may.ts";

export type Definition = RESTPostAPIApplicationCommandsJSONBody;

export interface Offered {
	actions: readonly Action[];
	menus: readonly MenuHandler[];
	/** Such actions are shown to everyone, as Discord would hide them from the roles that may use them. */
	granted?(may: ModeratorAction): boolean;
}

export const helpCommand = { name: "help" } as const;

// Discord accepts these fields only for commands of all guilds.
const inGuilds = {
	contexts: [InteractionContextType.Guild],
	integration_types: [ApplicationIntegrationType.GuildInstall],
};

export function definitionsOf(offered: Offered): Definition[] {
	const menus = [
		...offered.actions.flatMap(({ menus = [], permission, may }) =>
			menus.map((menu) => ({ ...menu, permission, may })),
		),
		...offered.menus.filter(({ type }) => type !== "slash"),
	].map(({ type, name, permission, may }) => ({
		type: type === "user" ? (ApplicationCommandType.User as const) : (ApplicationCommandType.Message as const),
		...namesOf(["menu", name]),
		name,
		default_member_permissions: bitsOf({ permission, may }, offered),
		...inGuilds,
	}));
	const slash = [
		...[...Map.groupBy(offered.actions, ({ name }) => name.split(" ")[0]).values()].map((group) =>
			slashCommand(group, offered),
		),
		...offered.menus.flatMap((menu) => (menu.type === "slash" ? slashCommand([menu], offered) : [])),
	];
	const all = [...slash, ...menus];
	return all.length > 0 ? [chatInput([helpCommand.name]), ...all] : [];
}

interface Described {
	name: string;
	options: readonly Omit<ActionOption, "argument">[];
}

/** Several actions are subcommands: "purge latest" is a subcommand of "purge". */
function slashCommand(
	group: readonly (Described & Restricted & { inDms?: boolean })[],
	offered: Pick<Offered, "granted">,
): RESTPostAPIChatInputApplicationCommandsJSONBody {
	const [{ name, permission, may, inDms = false } = { name: "", permission: undefined }] = group;
	const [command = ""] = name.split(" ");
	return {
		...chatInput([command]),
		...(inDms && { contexts: [InteractionContextType.Guild, InteractionContextType.BotDM] }),
		options: group.flatMap((action): APIApplicationCommandOption[] => {
			const path = action.name.split(" ");
			if (path.length === 1) return optionsOf(action);
			return [{ ...fieldsOf(path), type: Option.Subcommand, options: optionsOf(action) }];
		}),
		default_member_permissions: bitsOf({ permission, may }, offered),
	};
}

function chatInput(path: CommandPath) {
	return { type: ApplicationCommandType.ChatInput as const, ...fieldsOf(path), ...inGuilds };
}

function fieldsOf(path: CommandPath) {
	return { ...namesOf(path), ...descriptionsOf(path), name: path.at(-1) ?? "" };
}

function bitsOf(command: Restricted, { granted }: Pick<Offered, "granted">): string | null {
	const permission = command.may && granted?.(command.may) ? undefined : permissionOf(command);
	return permission === undefined ? null : String(PermissionFlagsBits[permission]);
}

function optionsOf({ name, options }: Described): APIApplicationCommandBasicOption[] {
	const required = options.filter(({ required }) => required);
	const others = options.filter(({ required }) => !required);
	return [...required, ...others].map((option) => toOption([...name.split(" "), option.name], option));
}

function toOption(path: CommandPath, option: Omit<ActionOption, "argument">): APIApplicationCommandBasicOption {
	const { kind, required = false, min, max, choices = [], channelTypes, suggest } = option;
	const base = { ...fieldsOf(path), required };
	const limits = (of: "length" | "value") => ({
		...(min !== undefined && { [`min_${of}`]: min }),
		...(max !== undefined && { [`max_${of}`]: max }),
	});
	switch (kind) {
		case "user":
			return { ...base, type: Option.User };
		case "role":
			return { ...base, type: Option.Role };
		case "channel":
			return { ...base, type: Option.Channel, ...(channelTypes && { channel_types: [...channelTypes] as never }) };
		case "flag":
			return { ...base, type: Option.Boolean };
		case "integer":
			return { ...base, type: Option.Integer, ...limits("value") };
		case "case":
			return { ...base, type: Option.Integer, min_value: 1, autocomplete: true };
		case "choice":
			return {
				...base,
				type: Option.String,
				choices: choices.map((value) => ({ ...namesOf([...path, value]), value })),
			};
		case "duration":
			return { ...base, type: Option.String, max_length: 40, autocomplete: true };
		case "reason":
			return { ...base, type: Option.String, max_length: maxReasonLength, ...limits("length"), autocomplete: true };
		case "text":
			return { ...base, type: Option.String, ...limits("length"), ...(suggest && { autocomplete: true }) };
	}
}
