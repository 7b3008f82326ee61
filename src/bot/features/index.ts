// The list of features, in wiring order.

import type { Feature, FeatureOptions } from "../commands/feature.ts";
import type { NamedTool } from "../config/tool-choice.ts";
import { donatorToolNames } from "../game/donator-tools.ts";
import { createGame } from "../game/game.ts";
import { tools } from "../tools/index.ts";
import { createAutoRole } from "./auto-role.ts";
import { createChat } from "./chat/chat.ts";
import { createJoinRole } from "./join-role.ts";
import { createModeration } from "./moderation/moderation.ts";
import { createWelcome } from "./welcome.ts";

/** Creates one feature of the bot; returns undefined when the configuration turns the feature off. */
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
export const deniableTools: readonly NamedTool[] = [
	...tools,
	...donatorToolNames.map((name) => ({ name })),
];

/** Creates all features that the configuration turns on, combined into a single Feature. */
export function createFeatures(options: FeatureOptions) {
	const features = all
		.map((create) => create(options))
		.filter((feature) => feature !== undefined);
	return {
		commands: features.flatMap(({ commands = [] }) => commands),
		tools: features.flatMap(({ tools = [] }) => tools),
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
