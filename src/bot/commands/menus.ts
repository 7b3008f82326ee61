// Context menu commands and slash commands that features implement themselves, because they do more than call one tool.

import type {
	ChatInputCommandInteraction,
	MessageContextMenuCommandInteraction,
	UserContextMenuCommandInteraction,
} from "discord.js";
import type { Permission } from "../../discord/permissions.ts";
import type { ActionOption } from "./action.ts";

/** A context menu command of a user or message, or a slash command, that a feature implements itself. */
export type MenuHandler = {
	/**
	 * Name of the command, such as "Report": 1 to 32 characters, unique for its type; in lower case for slash commands.
	 */
	name: string;
	/**
	 * Discord permission that people need to see the command. `run` must check it again, because administrators can
	 * change who sees a command.
	 */
	permission?: Permission;
} & (
	| {
			type: "user";
			/**
			 * Handles the command in a guild. Must defer, reply or show a form within 3 s, before any other request.
			 * The text of a thrown ToolError or Discord API error is shown to the person in an ephemeral message.
			 */
			run(interaction: UserContextMenuCommandInteraction & { guildId: string }): Promise<void>;
	  }
	| {
			type: "message";
			/** Handles the command in a guild, under the same rules as `run` of a user's context menu. */
			run(interaction: MessageContextMenuCommandInteraction & { guildId: string }): Promise<void>;
	  }
	| {
			type: "slash";
			/** Description of the slash command: at most 100 characters. */
			description: string;
			options: readonly Pick<ActionOption, "name" | "description" | "kind" | "required" | "min" | "max">[];
			/** Handles the command in a guild, under the same rules as `run` of a user's context menu. */
			run(interaction: ChatInputCommandInteraction & { guildId: string }): Promise<void>;
	  }
);
