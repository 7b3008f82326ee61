// `help`: lists what a person may use in a channel, as slash commands or chat commands.

import { type GuildMember, type GuildTextBasedChannel, PermissionFlagsBits } from "discord.js";
import type { Permission } from "../../discord/permissions.ts";
import type { Action } from "./action.ts";
import { chatName, chatUsage } from "./chat-arguments.ts";
import { commandText, slashName } from "./command-texts.ts";
import type { Command } from "./commands.ts";
import { helpCommand } from "./definitions.ts";
import type { MenuHandler } from "./menus.ts";

/** In the guild, or the channel where the command is used. */
export type Holds = (permission: Permission) => boolean;

/** For listing and rate limits, not for authorization: the tools do that. */
export function holdsOf(member: GuildMember, channel: Pick<GuildTextBasedChannel, "permissionsFor"> | null): Holds {
	return (name) => {
		const bit = PermissionFlagsBits[name];
		if (member.permissions.has(bit)) return true;
		// null for a thread whose parent is not cached.
		return channel?.permissionsFor(member)?.has(bit) ?? false;
	};
}

export interface Helpful {
	prefix: string;
	actions: readonly Action[];
	commands: readonly Command[];
	menus: readonly MenuHandler[];
}

interface ChatLine extends Pick<Command, "name" | "usage"> {
	/** Default: `name`. */
	shown?: string;
	permission?: Permission | undefined;
}

export function chatHelp(
	{ prefix, actions, commands }: Omit<Helpful, "menus">,
	holds: Holds,
	locale: string | null,
): string {
	const all: ChatLine[] = [
		{ ...helpCommand, usage: "" },
		...commands,
		...actions.flatMap((action) =>
			action.chat === false ? [] : [{ ...action, shown: chatName(action), usage: chatUsage(action, locale) }],
		),
	];
	return all
		.filter((one) => isShown(one, holds))
		.map(({ name, shown = name, usage }) => {
			const line = [prefix, shown, usage].join(" ").trimEnd();
			return `\`${line}\`: ${commandText(name.split(" "), "description", locale)}`;
		})
		.join("\n");
}

export function slashHelp(
	{ actions, commands, menus }: Omit<Helpful, "prefix">,
	holds: Holds,
	locale: string | null,
): string {
	const all: Pick<Action, "name" | "permission">[] = [
		helpCommand,
		...commands.flatMap(({ slash }) => slash ?? []),
		...actions,
		...menus.filter((menu) => menu.type === "slash"),
	];
	return all
		.filter((one) => isShown(one, holds))
		.map(({ name }) => {
			const path = name.split(" ");
			return `\`${slashName(path, locale)}\`: ${commandText(path, "description", locale)}`;
		})
		.join("\n");
}

function isShown({ permission }: { permission?: Permission | undefined }, holds: Holds): boolean {
	return permission === undefined || holds(permission);
}
