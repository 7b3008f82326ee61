// `banlist`: the bans that end by themselves, soonest first.

import { ToolError } from "../../../mcp/tool.ts";
import type { Command } from "../../commands/commands.ts";
import { shown } from "../../discord/text.ts";
import type { Store } from "../../store/store.ts";
import { selectTempBansOf } from "../../store/temp-bans.ts";
import { named, untilText } from "./moderation-log.ts";

const pageSize = 10;
/** How much of a reason is shown. */
const maxReason = 80;

export function banlistCommand(
	prefix: string,
	{ sql }: Pick<Store, "sql">,
): Command {
	return {
		name: "banlist",
		usage: "[page]",
		description: "shows the bans that have an end",
		permission: { name: "BanMembers", in: "guild" },
		async run({ guild }, rest) {
			const page = rest === "" ? 1 : /^\d{1,6}$/.test(rest) ? Number(rest) : 0;
			if (page < 1)
				throw new ToolError(
					`Write \`${prefix} banlist\`, or \`${prefix} banlist 2\` for the second page.`,
				);
			const { rows, total } = await selectTempBansOf(sql, guild.id, {
				limit: pageSize,
				offset: (page - 1) * pageSize,
			});
			if (total === 0) return "No ban has an end.";
			const pages = Math.ceil(total / pageSize);
			if (rows.length === 0)
				return `There are ${pages} page(s) with ${total} ban(s) in all.`;
			return [
				`${total} ban(s) with an end, page ${page} of ${pages}, those that end soonest first:`,
				...rows.map(
					({ user_id, ends_at, moderator_id, reason, state }) =>
						`${named(user_id)} until ${untilText(ends_at)}, by <@${moderator_id}>${reason ? `: ${shown(reason, maxReason)}` : ""}${state === "asked" ? " (not yet confirmed)" : ""}`,
				),
				...(page < pages ? [`More: \`${prefix} banlist ${page + 1}\``] : []),
			].join("\n");
		},
	};
}
