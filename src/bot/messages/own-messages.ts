// Editing messages that the bot or its webhooks sent. Discord keeps neither the old text nor an audit log entry.

import { type APIMessage, type Guild, PermissionFlagsBits, SnowflakeUtil } from "discord.js";
import { actingPerson } from "../../discord/acting-person.ts";
import { describeBits, personHas } from "../../discord/permissions.ts";
import { ToolError } from "../../lib/tool-error.ts";
import type { Said } from "../../texts/texts.ts";
import { asking } from "../results/result.ts";
import type { Audit } from "../tool/audit.ts";
import type { Plan } from "../tool/context.ts";

// Discord's clock and the bot's differ.
const clockToleranceMs = 600_000;

/**
 * Throws a ToolError unless the audit log says that it was sent in the person's name, or the person has
 * MANAGE_GUILD.
 */
export async function requireSender(
	guild: Guild,
	{ id }: Pick<APIMessage, "id">,
	audit: Pick<Audit, "recent">,
): Promise<void> {
	const person = actingPerson(guild);
	const { ManageGuild } = PermissionFlagsBits;
	if (!person || personHas(guild, undefined, ManageGuild)) return;
	const sentMs = SnowflakeUtil.timestampFrom(id);
	const [call] = await audit.recent({
		messageId: id,
		from: new Date(sentMs - clockToleranceMs),
		before: { at: new Date(sentMs + clockToleranceMs) },
		limit: 1,
	});
	if (call?.person === person.id) return;
	throw new ToolError(
		`The message ${id} was not sent in your name, so you need ${describeBits(ManageGuild)} to change it. Nothing was done.`,
	);
}

export function editPlan(
	changes: object,
	target: string,
	{ content }: Pick<APIMessage, "content">,
	{ link, ask, write }: { link: string; ask: Said; write: () => Promise<unknown> },
): Plan {
	const fields = Object.keys(changes).join(", ");
	const preview = `Would replace ${fields} of ${target}. What it says now would be lost.`;
	return {
		preview: asking(preview, ask),
		// An approval counts for the text that was there.
		basis: [preview, content],
		write,
		result: `Changed ${fields} of ${target}: ${link}`,
	};
}
