// The message that asks people to approve a tool call: who asks, the arguments and the plan in full, and two buttons. It
// pings nobody but the roles that may approve.

import {
	AttachmentBuilder,
	ButtonStyle,
	ComponentType,
	EmbedBuilder,
	type MessageCreateOptions,
	type MessageEditOptions,
} from "discord.js";
import { escapeInvisible, inlineText, truncate } from "../../discord/text.ts";
import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import { noMentions } from "../messages/split-message.ts";
import type { ApprovalRow, ApprovalState } from "../store/tables/approvals.ts";
import { textIn } from "./request-text.ts";

const maxInlineLength = 3_500;
const maxNameLength = 200;
const maxResultLength = 900;

export type Decision = "approve" | "deny";

const colours: Record<ApprovalState, number> = {
	pending: 0xe65100,
	approved: 0xe65100,
	running: 0xe65100,
	denied: 0x546e7a,
	expired: 0x546e7a,
	withdrawn: 0x546e7a,
	done: 0x2e7d32,
	failed: 0xc62828,
	unknown: 0xc62828,
};

const titles: Partial<Record<ApprovalState, string>> = {
	denied: "denied, not run",
	expired: "expired, not run",
	withdrawn: "withdrawn, not run: its key or connection has ended",
	done: "approved and done",
	failed: "failed",
	unknown: "approved, outcome unknown",
};

/** Undefined for the holder of the root key. */
export function principalOf({ principal }: Pick<ApprovalRow, "principal">): Principal | undefined {
	return principal === null ? undefined : JSON.parse(principal);
}

/** Arguments and plan do not fit in the message itself. */
export function needsFile(row: ApprovalRow): boolean {
	return blocksOf(row) === undefined;
}

/** `guildName`: where the call would act. `roles`: ids to mention. */
export function requestMessage(
	row: ApprovalRow,
	guildName: string | undefined,
	roles: readonly string[],
): MessageCreateOptions {
	const blocks = blocksOf(row);
	const embed = embedOf(row, guildName)
		.setTitle(`Approve ${row.tool}?`)
		.setDescription(
			blocks ?? "The arguments and what the call would do are in the attached file. Read it before you decide.",
		);
	const button = (style: ButtonStyle.Success | ButtonStyle.Danger, label: string, decision: Decision) => ({
		type: ComponentType.Button as const,
		style,
		label,
		customId: buttonId(decision, row),
	});
	const mentions = roles.map((id) => `<@&${id}>`).join(" ");
	return {
		...(mentions !== "" && { content: mentions }),
		embeds: [embed],
		files:
			blocks === undefined ? [new AttachmentBuilder(Buffer.from(textOf(row)), { name: `request-${row.id}.txt` })] : [],
		components: [
			{
				type: ComponentType.ActionRow,
				components: [button(ButtonStyle.Success, "Approve", "approve"), button(ButtonStyle.Danger, "Deny", "deny")],
			},
		],
		allowedMentions: { parse: [], roles: [...roles] },
	};
}

/** Shows the outcome and who decided, without buttons. */
export function endedMessage(row: ApprovalRow, guildName: string | undefined): MessageEditOptions {
	const embed = embedOf(row, guildName)
		.setTitle(`${row.tool}: ${titles[row.state] ?? row.state}`)
		.setDescription(blocksOf(row) ?? "The attached file has what was shown.");
	if (row.result !== null)
		embed.addFields({
			name: "Result",
			value: codeBlock(truncate(escapeInvisible(textIn(row.result)), maxResultLength)),
		});
	return { embeds: [embed], components: [], allowedMentions: noMentions };
}

/** For a message with an outdated plan. `link`: the message with the new one, if known. */
export function replacedMessage(link: string | undefined): MessageEditOptions {
	return {
		content: `What this call would do has changed, so nothing was done. ${link ? `The request was posted again: ${link}` : "The request is posted again."}`,
		components: [],
		allowedMentions: noMentions,
	};
}

function embedOf(row: ApprovalRow, guildName: string | undefined): EmbedBuilder {
	const { decided_by, guild_id, ended_at } = row;
	const inline = true;
	const at = (ms: number) => `<t:${Math.floor(ms / 1000)}:R>`;
	const embed = new EmbedBuilder()
		.setColor(colours[row.state])
		.addFields(
			{ name: "For", value: requesterText(row), inline },
			{ name: "Client", value: clientText(row), inline },
			{
				name: "Server",
				value: guild_id === null ? "none" : `${name(guildName ?? "unknown")} (ID: ${guild_id})`,
				inline,
			},
		);
	if (ended_at === null) embed.addFields({ name: "Expires", value: at(row.expires_at), inline });
	if (decided_by !== null)
		embed.addFields({
			name: row.state === "denied" ? "Denied by" : "Approved by",
			value: deciderText(decided_by),
			inline,
		});
	return embed.setFooter({ text: `Request ${row.id}` }).setTimestamp(row.created_at);
}

/** A mention, or words for the holder of MCP_AUTH_TOKEN. */
export function deciderText(decidedBy: string): string {
	return decidedBy === rootPrincipal.id ? "the holder of MCP_AUTH_TOKEN" : `<@${decidedBy}>`;
}

/** The root key, an API key or a client, and the person in whose name it acts. */
export function requesterText(row: ApprovalRow): string {
	const principal = principalOf(row);
	if (!principal || principal.id === "root") return "the holder of MCP_AUTH_TOKEN";
	const { person, id } = principal;
	const key = id.startsWith("key:") ? `the key ${name(principal.name)}` : "";
	if (!person) return key || name(principal.name);
	const who = `<@${person.id}> (${name(person.name || person.id)})`;
	return key ? `${who}, with ${key}` : who;
}

/** Chosen by the client itself. */
export function clientText({ client }: ApprovalRow): string {
	return name(client || "unknown");
}

function name(text: string): string {
	const shown = inlineText(text.slice(0, maxNameLength), 2 * maxNameLength);
	return /[\p{L}\p{N}]/u.test(shown) ? shown : "unknown";
}

/** Undefined if too long, or if backticks could end the blocks. */
function blocksOf(row: ApprovalRow): string | undefined {
	const parts = [argumentsOf(row), planOf(row)].filter((part) => part !== "");
	const isTooLong = parts.join("").length > maxInlineLength;
	if (isTooLong || parts.some((part) => part.includes("``"))) return undefined;
	return parts.map((part) => `\`\`\`\n${part}\n\`\`\``).join("\n");
}

/** Replaces backticks by a similar character, so that the text cannot end the block. */
function codeBlock(text: string): string {
	return `\`\`\`\n${text.replaceAll("`", "ˋ")}\n\`\`\``;
}

function textOf(row: ApprovalRow): string {
	return [
		`Tool: ${row.tool}`,
		`Server: ${row.guild_id ?? "none"}`,
		"",
		"Arguments:",
		argumentsOf(row),
		...(planOf(row) === "" ? [] : ["", "What it would do:", planOf(row)]),
		"",
	].join("\n");
}

/** Indented JSON, with invisible characters escaped. */
export function argumentsOf(row: Pick<ApprovalRow, "arguments">): string {
	return escapeInvisible(JSON.stringify(JSON.parse(row.arguments), null, 2));
}

/** With invisible characters escaped; "" without a dry run. */
export function planOf({ plan }: Pick<ApprovalRow, "plan">): string {
	const lines = JSON.parse(plan) as readonly string[] | null;
	return escapeInvisible(lines?.join("\n") ?? "");
}

function buttonId(decision: Decision, { id, token }: ApprovalRow): string {
	return `approval:${decision}:${id}.${token}`;
}

/** From the custom id of "Approve" or "Deny"; undefined for other buttons. */
export function readButtonId(customId: string): { decision: Decision; id: string; token: string } | undefined {
	const [, decision, id, token] = /^approval:(approve|deny):([0-9a-f]{12})\.([0-9a-f]{16})$/.exec(customId) ?? [];
	return id === undefined || token === undefined ? undefined : { decision: decision as Decision, id, token };
}
