// Context menu commands and slash commands that features implement themselves, because they do more than call one tool.

import type { ChatInputCommandInteraction, MessageContextMenuCommandInteraction } from "discord.js";
import type { ActionOption } from "./action.ts";
import type { Restricted } from "./who-may.ts";

/** `run` must check again who may use it, because administrators can change who sees it. */
export type MenuHandler = Restricted & {
	/** 1 to 32 characters, unique for its type; lower case for slash commands. */
	name: string;
} & (
		| {
				type: "message";
				/** Must defer, reply or show a form within 3 s, before any other request. A ToolError's text is shown. */
				run(interaction: MessageContextMenuCommandInteraction & { guildId: string }): Promise<void>;
		  }
		| {
				type: "slash";
				options: readonly Omit<ActionOption, "argument">[];
				/** Also in direct messages with the bot, where `guildId` is null. */
				inDms?: boolean;
				/** As for a message. */
				run(interaction: ChatInputCommandInteraction & { guildId: string }): Promise<void>;
		  }
	);
