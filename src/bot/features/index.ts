// The list of features, in wiring order.

import { helpCommand } from "../commands/definitions.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import { donatorToolNames } from "../game/donator-tools.ts";
import { createGame } from "../game/game.ts";
import { verifySlashName } from "../game/verify-command.ts";
import { caseToolNames } from "../moderation/cases/case-tools.ts";
import { createModeration, moderationCommandNames, moderationToolNames } from "../moderation/moderation.ts";
import { purgeToolName } from "../moderation/purge/purge-tool.ts";
import { raidToolNames } from "../moderation/raid/raid-tools.ts";
import { reportToolNames } from "../moderation/reports/report-tools.ts";
import { roleMenuToolNames } from "../moderation/role-menus/role-menus.ts";
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
	const features = all.map((create) => create(options)).filter((feature) => feature !== undefined);
	return {
		commands: features.flatMap(({ commands = [] }) => commands),
		tools: features.flatMap(({ tools = [] }) => tools),
		actions: features.flatMap(({ actions = [] }) => actions),
		components: features.flatMap(({ components = [] }) => components),
		menus: features.flatMap(({ menus = [] }) => menus),
		async suggest(query) {
			for (const feature of features) if (feature.suggest) return feature.suggest(query);
			return [];
		},
		cases: features.find(({ cases }) => cases)?.cases,
		tempBans: features.find(({ tempBans }) => tempBans)?.tempBans,
		announcer: features.find(({ announcer }) => announcer)?.announcer,
		respond(request, path) {
			for (const feature of features) {
				const response = feature.respond?.(request, path);
				if (response) return response;
			}
			return undefined;
		},
		attach(client) {
			for (const feature of features) feature.attach?.(client);
		},
		start() {
			for (const feature of features) feature.start?.();
		},
		async close() {
			await Promise.all(features.map((feature) => feature.close?.()));
		},
	} satisfies Feature;
}
