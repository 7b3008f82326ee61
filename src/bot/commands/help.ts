// `help`: lists what a person may use in a channel, as slash commands or chat commands.

import { type GuildMember, type GuildTextBasedChannel, PermissionFlagsBits } from "discord.js";
import type { Permission } from "../../discord/permissions.ts";
import type { Action } from "./action.ts";
import { chatName, chatUsage } from "./chat-arguments.ts";
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

interface ChatLine extends Pick<Command, "name" | "usage" | "description"> {
	permission?: Permission | undefined;
}

export function chatHelp({ prefix, actions, commands }: Omit<Helpful, "menus">, holds: Holds): string {
	const shown: ChatLine[] = [
		{ ...helpCommand, usage: "" },
		...commands,
		...actions.flatMap((action) =>
			action.chat === false ? [] : [{ ...action, name: chatName(action), usage: chatUsage(action) }],
		),
	];
	return shown
		.filter((one) => isShown(one, holds))
		.map(({ name, usage, description }) => `\`${[prefix, name, usage].join(" ").trimEnd()}\`: ${sentence(description)}`)
		.join("\n");
}

export function slashHelp({ actions, commands, menus }: Omit<Helpful, "prefix">, holds: Holds): string {
	const all: Pick<Action, "name" | "description" | "permission">[] = [
		helpCommand,
		...commands.flatMap(({ slash }) => slash ?? []),
		...actions,
		...menus.filter((menu) => menu.type === "slash"),
	];
	return all
		.filter((one) => isShown(one, holds))
		.map(({ name, description }) => `\`/${name}\`: ${sentence(description)}`)
		.join("\n");
}

function isShown({ permission }: { permission?: Permission | undefined }, holds: Holds): boolean {
	return permission === undefined || holds(permission);
}

function sentence(description: string): string {
	return `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, "")}.`;
}
