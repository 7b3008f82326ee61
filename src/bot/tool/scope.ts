// What one principal sees of a bot: the context of its tool calls, limited to what the principal may use.

import type { Principal } from "../../lib/principal.ts";
import type { BotContext, BotTool } from "./context.ts";

/** Only with guilds within the principal's limits, and the tools in `offered`. */
export function scopeTo(
	principal: Principal,
	context: BotContext,
	{ allowed, listed, beyond }: Record<"allowed" | "listed" | "beyond", readonly BotTool[]>,
): BotContext {
	const { self, guildId, audit } = context;
	const { guilds: own } = principal;
	const scoped: BotContext = { ...context, principal, self: { ...self, tools: allowed, listed, beyond } };
	if (!own) return scoped;
	const guilds = intersect(context.guilds, own);
	return {
		...scoped,
		guilds,
		// An error that names it would reveal a guild outside the limits.
		guildId: guildId !== undefined && guilds.has(guildId) ? guildId : undefined,
		audit: { recent: (filter) => audit.recent({ ...filter, guildIds: [...guilds] }) },
	};
}

function intersect(some: ReadonlySet<string> | undefined, others: readonly string[]): ReadonlySet<string> {
	const set = new Set(others);
	return some ? some.intersection(set) : set;
}
