// The list of features, in wiring order.

import { helpCommand } from "../commands/definitions.ts";
import { combineFeatures, type Feature } from "../commands/feature.ts";
import { createGame } from "../game/game.ts";
import { verifySlashName } from "../game/verify.ts";
import { createModeration, moderationCommandNames } from "../moderation/moderation.ts";
import { InviteWatch } from "../people/invite-watch.ts";
import { ChatPrivacy } from "../store/tables/privacy.ts";
import { tools } from "../tools/index.ts";
import { settingTools } from "../tools/settings.ts";
import { createAutoRole } from "./auto-role.ts";
import { type ChatFeatureOptions, createChat } from "./chat/chat.ts";
import { createJoinRole } from "./join-role.ts";
import { createLostSettings } from "./lost-settings.ts";
import { createMyData } from "./privacy/mydata.ts";
import { createRetention } from "./privacy/retention.ts";
import { createSettingsCommand } from "./settings-command.ts";
import { createTags } from "./tags.ts";
import { createWelcome } from "./welcome.ts";

const all: readonly ((options: ChatFeatureOptions) => Feature | undefined)[] = [
	() => ({ tools: settingTools }),
	createSettingsCommand,
	createTags,
	createLostSettings,
	createGame,
	createAutoRole,
	createJoinRole,
	createChat,
	createWelcome,
	createModeration,
	(options) => new InviteWatch(options),
	createRetention,
	createMyData,
];

const featureTools = [
	"create_role_menu",
	"edit_case",
	"get_settings",
	"import_cases",
	"list_cases",
	"list_donators",
	"list_reports",
	"list_temp_bans",
	"note_member",
	"purge",
	"raid_mode",
	"raid_status",
	"resolve_report",
	"set_settings",
	"sync_donators",
	"temp_ban",
	"warn_member",
];

/** All MCP tools that the setting `deny` can name, including the tools of features that are off. */
export const deniableTools: readonly { name: string }[] = [...tools, ...featureTools.map((name) => ({ name }))];

/** Names of all commands that the bot can register with Discord, including those of features that are off. */
export const knownCommands: readonly string[] = [
	verifySlashName,
	helpCommand.name,
	"ask",
	"mydata",
	"privacy",
	"routine",
	"settings",
	"setup",
	"tag",
	"tag-edit",
	...moderationCommandNames,
];

export function createFeatures(options: Omit<ChatFeatureOptions, "chatPrivacy">) {
	const chatPrivacy = new ChatPrivacy(options.store);
	return combineFeatures(all.map((create) => create({ ...options, chatPrivacy })));
}
