// Role menus: messages with buttons or a select menu by which members give themselves roles. Part of the feature
// `moderation`. Presses are not recorded as moderation cases, because no moderator acts.

import { within } from "../../../lib/wait.ts";
import { type Feature, type FeatureOptions, Pending } from "../../commands/feature.ts";
import { createIsRestricted } from "../../commands/role-writer.ts";
import { createMenuBuilder } from "./menu-builder.ts";
import { createMenuTool } from "./menu-tool.ts";
import { type PressLimits, PressQueue } from "./press-queue.ts";
import { createPressHandler } from "./presses.ts";
import { createMenuRefresh } from "./refresh.ts";
import { reservedRoles } from "./takeable.ts";

const shutdownGraceMs = 1_500;

type RoleMenus = Required<Pick<Feature, "tools" | "menus" | "components" | "close">>;

export function createRoleMenus(options: FeatureOptions, limits?: PressLimits): RoleMenus {
	const { connection, mutex, log } = options;
	const reserved = reservedRoles(options.settings);
	const queue = new PressQueue(limits);
	const { refresh, settled } = createMenuRefresh({ mutex, log });
	const presses = createPressHandler({
		connection,
		mutex,
		isRestricted: createIsRestricted(options),
		reserved,
		queue,
		log,
		onPressed: refresh,
	});
	const builder = createMenuBuilder(options);
	const running = new Pending();
	return {
		tools: [createMenuTool(reserved)],
		menus: [builder.menu],
		components: [
			{ prefix: presses.prefix, run: (interaction, rest) => running.add(presses.run(interaction, rest)) },
			builder.component,
		],
		async close() {
			queue.close();
			await within(shutdownGraceMs, Promise.all([running.settled(), settled()]));
		},
	};
}
