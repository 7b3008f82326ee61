// Keeps the labels of role menus current: after a press, a menu whose roles were renamed or deleted is edited. The bot has
// no list of menus, so a menu that nobody uses keeps its labels.

import { type APIMessage, type Guild, type Message, Routes } from "discord.js";
import { toToolError } from "../../../discord/rest/errors.ts";
import { inBackground } from "../../../discord/rest/rest.ts";
import { refreshed } from "../../../discord/role-menu.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { type FeatureOptions, Pending } from "../../commands/feature.ts";

const intervalMs = 60_000;
const maxMenus = 1_000;

/** Creates an updater for role menus, which edits messages whose labels are outdated. `refresh` never throws. */
export function createMenuRefresh({ mutex, log }: Pick<FeatureOptions, "mutex" | "log">) {
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
