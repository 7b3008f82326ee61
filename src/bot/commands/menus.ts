// Context menu commands and slash commands that features implement themselves, because they do more than call one tool.

import type { ChatInputCommandInteraction, MessageContextMenuCommandInteraction } from "discord.js";
import type { Permission } from "../../discord/permissions.ts";
import type { ActionOption } from "./action.ts";

export type MenuHandler = {
	/** 1 to 32 characters, unique for its type; lower case for slash commands. */
	name: string;
	/** To see the command. `run` must check it again, because administrators can change who sees it. */
	permission?: Permission;
} & (
	| {
			type: "message";
			/** Must defer, reply or show a form within 3 s, before any other request. A ToolError's text is shown. */
			run(interaction: MessageContextMenuCommandInteraction & { guildId: string }): Promise<void>;
	  }
	| {
			type: "slash";
			options: readonly Omit<ActionOption, "argument">[];
			/** As for a message. */
			run(interaction: ChatInputCommandInteraction & { guildId: string }): Promise<void>;
	  }
);
