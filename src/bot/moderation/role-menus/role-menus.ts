// Role menus: messages with buttons or a select menu by which members give themselves roles. Part of the feature
// `moderation`. Presses are not recorded as moderation cases, because no moderator acts.

import { type APIMessage, type Guild, type Message, Routes } from "discord.js";
import { toToolError } from "../../../discord/rest/errors.ts";
import { inBackground } from "../../../discord/rest/rest.ts";
import { refreshed } from "../../../discord/role-menu.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { within } from "../../../lib/wait.ts";
import { type Feature, type FeatureOptions, Pending } from "../../commands/feature.ts";
import { createIsRestricted } from "../../commands/role-writer.ts";
import { reservedRoles } from "./choice.ts";
import { createMenuBuilder } from "./menu-builder.ts";
import { createMenuTool } from "./menu-tool.ts";
import { type PressLimits, PressQueue } from "./press-queue.ts";
import { createPressHandler } from "./presses.ts";

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

const intervalMs = 60_000;
const maxMenus = 1_000;

/**
 * After a press, edits a menu whose roles were renamed or deleted. The bot has no list of menus, so a menu that nobody
 * uses keeps its labels. `refresh` never throws.
 */
function createMenuRefresh({ mutex, log }: Pick<FeatureOptions, "mutex" | "log">) {
	const attempts = new LruMap<string, number>(maxMenus);
	const running = new Pending();

	function mayTry(messageId: string): boolean {
		const now = performance.now();
		if ((attempts.get(messageId) ?? -Infinity) + intervalMs > now) return false;
		attempts.set(messageId, now);
		return true;
	}

	async function edit(guild: Guild, { id, channelId }: Message): Promise<void> {
		const { rest } = guild.client;
		const route = Routes.channelMessage(channelId, id);
		// A moderator may have replaced the menu since the press.
		const { components } = (await rest.get(route)) as APIMessage;
		const current = refreshedIn(guild, components);
		if (!current) return;
		// Without allowed_mentions, Discord would parse the mentions in the existing text again.
		const body = { components: current, allowed_mentions: { parse: [] } };
		await rest.patch(route, { body });
	}

	return {
		/** Edits the message of a role menu in the background if its labels are outdated. Never throws. */
		refresh(message: Message): void {
			const { id, guild } = message;
			if (!guild) return;
			const shown = message.components.map((one) => one.toJSON());
			const isCurrent = !refreshedIn(guild, shown as Components);
			if (isCurrent || !mayTry(id)) return;
			const work = mutex.withLock(id, () => inBackground(() => edit(guild, message)));
			void running.add(work.catch((error) => logFailure({ guild: guild.id, message: id }, error)));
		},
		settled: () => running.settled(),
	};

	function logFailure(fields: Record<string, string>, error: unknown): void {
		const reason = toToolError(error)?.message;
		if (reason === undefined) log.error("could not update a role menu: internal error", { ...fields, error });
		else log.warn("could not update a role menu", { ...fields, reason });
	}
}

type Components = APIMessage["components"];

function refreshedIn(guild: Guild, components: Components) {
	return refreshed(components, (id) => guild.roles.cache.get(id)?.name);
}
