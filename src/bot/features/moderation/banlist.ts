// `banlist`: lists temporary bans, soonest end first.

import { ToolError } from "../../../mcp/tool.ts";
import type { Command } from "../../commands/commands.ts";
import { inlineText } from "../../discord/text.ts";
import type { Store } from "../../store/store.ts";
import { selectTempBansOf } from "../../store/tables/temp-bans.ts";
import { formatEnd, formatUser } from "./moderation-log.ts";

const pageSize = 10;
const maxReasonLength = 80;

export function banlistCommand(
	prefix: string,
	{ sql }: Pick<Store, "sql">,
): Command {
	return {
		name: "banlist",
		usage: "[page]",
		description: "lists temporary bans",
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
			if (total === 0) return "There are no temporary bans.";
			const pages = Math.ceil(total / pageSize);
			if (rows.length === 0)
				return `Page ${page} does not exist: there are ${total} temporary ban(s) on ${pages} page(s).`;
			return [
				`${total} temporary ban(s), page ${page} of ${pages}, soonest end first:`,
				...rows.map(
					({ user_id, ends_at, moderator_id, reason, state }) =>
						`${formatUser(user_id)} until ${formatEnd(ends_at)}, by <@${moderator_id}>${reason ? `: ${inlineText(reason, maxReasonLength)}` : ""}${state === "asked" ? " (not yet confirmed)" : ""}`,
				),
				...(page < pages ? [`More: \`${prefix} banlist ${page + 1}\``] : []),
			].join("\n");
		},
	};
}
