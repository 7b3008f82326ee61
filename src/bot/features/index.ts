// The list of features, in wiring order.

import { helpCommand } from "../commands/definitions.ts";
import { combineFeatures, type Feature, type FeatureOptions } from "../commands/feature.ts";
import { donatorToolNames } from "../game/donator-tools.ts";
import { createGame } from "../game/game.ts";
import { verifySlashName } from "../game/verify-command.ts";
import { caseToolNames } from "../moderation/cases/case-tools.ts";
import { createModeration, moderationCommandNames, moderationToolNames } from "../moderation/moderation.ts";
import { purgeToolName } from "../moderation/purge/purge-tool.ts";
import { raidToolNames } from "../moderation/raid/raid-tools.ts";
import { reportToolNames } from "../moderation/reports/report-tools.ts";
import { roleMenuToolNames } from "../moderation/role-menus/role-menus.ts";
import { InviteWatch } from "../people/invite-watch.ts";
import { tools } from "../tools/index.ts";
import { createAutoRole } from "./auto-role.ts";
import { createChat } from "./chat/chat.ts";
import { createJoinRole } from "./join-role.ts";
import { createWelcome } from "./welcome.ts";

type CreateFeature = (options: FeatureOptions) => Feature | undefined;

const all: readonly CreateFeature[] = [
	createGame,
	createAutoRole,
	createJoinRole,
	createChat,
	createWelcome,
	createModeration,
	(options) => new InviteWatch(options),
];

/** All MCP tools that the setting `deny` can name, including the tools of features that are off. */
export const deniableTools: readonly { name: string }[] = [
	...tools,
	...[
		...caseToolNames,
		...donatorToolNames,
		...moderationToolNames,
		purgeToolName,
		...raidToolNames,
		...reportToolNames,
		...roleMenuToolNames,
	].map((name) => ({ name })),
];

/** Names of all commands that the bot can register with Discord, including those of features that are off. */
export const knownCommands: readonly string[] = [verifySlashName, helpCommand.name, ...moderationCommandNames];

export function createFeatures(options: FeatureOptions) {
	return combineFeatures(all.map((create) => create(options)));
}
