// The message that asks people to approve a tool call: what would happen in a sentence of the bot's own, and buttons. One of
// them shows the arguments and the plan in full. It pings nobody but the roles that may approve.

import {
	AttachmentBuilder,
	ButtonStyle,
	EmbedBuilder,
	type MessageCreateOptions,
	type MessageEditOptions,
} from "discord.js";
import { escapeInvisible, inlineText, nameText, truncate } from "../../discord/text.ts";
import type { JsonObject } from "../../lib/json.ts";
import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import { textIn } from "../../mcp/tool.ts";
import { type Language, type Say, said, sayIn, type TextKey } from "../../texts/texts.ts";
import { buttonRow } from "../messages/buttons.ts";
import { noMentions } from "../messages/split-message.ts";
import type { ApprovalRow, ApprovalState } from "../store/tables/approvals.ts";

const maxInlineLength = 3_500;
const maxNameLength = 200;
const maxResultLength = 900;
const maxSummaryLength = 1_500;
const maxMentions = 10;

export const buttonPrefix = "approval";

export type Decision = "approve" | "deny";
type PressedButton = Decision | "details";

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

export interface ShownRequest {
	row: ApprovalRow;
	title: string;
	guildName: string | undefined;
	/** Of the server in which it is posted. */
	language: Language;
}

/** First line of a plan that only names what stands in the arguments. */
export const namesHeading = "The ids in the arguments:";

/** Undefined for the holder of the root key. */
export function principalOf({ principal }: Pick<ApprovalRow, "principal">): Principal | undefined {
	return principal === null ? undefined : JSON.parse(principal);
}

/** Arguments and plan do not fit in the message itself. */
export function needsFile(row: ApprovalRow): boolean {
	return blocksOf(row) === undefined;
}

/** `roles`: ids to mention. */
export function requestMessage(request: ShownRequest, roles: readonly string[]): MessageCreateOptions {
	const { row, language } = request;
	const say = sayIn(language);
	const text = [...sentencesOf(request), `-# ${say("approval.look")}`].join("\n");
	const embed = embedOf(request)
		.setTitle(say("approval.title", { tool: request.title }))
		.setDescription(text);
	const mentions = roles.map((id) => `<@&${id}>`).join(" ");
	return {
		...(mentions !== "" && { content: mentions }),
		embeds: [embed],
		components: [buttonsOf(row, say, ["approve", "deny", "details"])],
		allowedMentions: { parse: [], roles: [...roles] },
	};
}

/** Shows the outcome and who decided; of the buttons, Details stays. */
export function endedMessage(request: ShownRequest): MessageEditOptions {
	const { row, language, title } = request;
	const say = sayIn(language);
	const { state } = row;
	const isOpen = state === "pending" || state === "approved" || state === "running";
	const embed = embedOf(request)
		.setTitle(isOpen ? title : say(`approval.ended.${state}.title`, { tool: title }))
		.setDescription(sentencesOf(request).join("\n"));
	return { embeds: [embed], components: [buttonsOf(row, say, ["details"])], allowedMentions: noMentions };
}

/** For a message with an outdated plan. */
export function replacedMessage(language: Language): MessageEditOptions {
	return { content: sayIn(language)("approval.replaced"), components: [], allowedMentions: noMentions };
}

/** The arguments and the plan in full, as a file if they are too long, and the result. */
export function detailsMessage(row: ApprovalRow, say: Say) {
	const blocks = blocksOf(row);
	const embed = new EmbedBuilder()
		.setTitle(row.tool)
		.setColor(colours[row.state])
		.setDescription(blocks ?? say("approval.file"))
		.setFooter({ text: say("approval.request", { id: row.id }) });
	if (row.result !== null)
		embed.addFields({
			name: say("approval.result.field"),
			value: codeBlock(truncate(escapeInvisible(textIn(row.result)), maxResultLength)),
		});
	const file = () => {
		const lines = [`Tool: ${row.tool}`, `Server: ${row.guild_id ?? "none"}`, ...callLines(row), ""];
		return new AttachmentBuilder(Buffer.from(lines.join("\n")), { name: `request-${row.id}.txt` });
	};
	return { embeds: [embed], files: blocks === undefined ? [file()] : [], allowedMentions: noMentions };
}

const styles: Record<PressedButton, ButtonStyle.Success | ButtonStyle.Danger | ButtonStyle.Secondary> = {
	approve: ButtonStyle.Success,
	deny: ButtonStyle.Danger,
	details: ButtonStyle.Secondary,
};

function buttonsOf(row: ApprovalRow, say: Say, buttons: readonly PressedButton[]) {
	const idOf = (button: PressedButton) => `${buttonPrefix}:${button}:${row.id}.${row.token}`;
	return buttonRow(buttons.map((one) => ({ id: idOf(one), label: say(`approval.${one}.button`), style: styles[one] })));
}

/** The tool, its caller, the users and things in its arguments, and a summary of its dry run. */
function sentencesOf({ row, title, language }: ShownRequest): string[] {
	const say = sayIn(language);
	const values = { tool: inlineText(title, maxNameLength), who: requesterText(row, language) };
	const things = mentionsIn(JSON.parse(row.arguments));
	const shown = things.slice(0, maxMentions).join(" ");
	const more = things.length - maxMentions;
	const sentence =
		things.length === 0
			? say("approval.sentence", values)
			: say("approval.sentence.about", {
					...values,
					things: more > 0 ? said("approval.things.more", { things: shown, more }) : shown,
				});
	const quoted = truncate(row.summary, maxSummaryLength).split("\n");
	return [sentence, ...quoted.filter((line) => line !== "").map((line) => `> ${line.replace(/^> /, "")}`)];
}

const mentionMarks: readonly [name: RegExp, mark: string][] = [
	[/^(?:user|member)_ids?$/, "@"],
	[/^(?:channel|thread)_ids?$/, "#"],
	[/^role_ids?$/, "@&"],
];

/** Of people, channels and roles whose ids are arguments. */
export function mentionsIn(args: JsonObject): string[] {
	const all = Object.entries(args).flatMap(([name, value]) => {
		const [, mark] = mentionMarks.find(([pattern]) => pattern.test(name)) ?? [];
		if (mark === undefined) return [];
		const ids = [value].flat().filter((id) => typeof id === "string" && /^\d{17,20}$/.test(id));
		return ids.map((id) => `<${mark}${id}>`);
	});
	return [...new Set(all)];
}

function embedOf({ row, guildName, language }: ShownRequest): EmbedBuilder {
	const { decided_by, guild_id, ended_at, state } = row;
	const say = sayIn(language);
	const field = (name: FieldKey, value: string) => ({ name: say(name), value, inline: true });
	const at = (ms: number) => `<t:${Math.floor(ms / 1000)}:R>`;
	const embed = new EmbedBuilder()
		.setColor(colours[state])
		.addFields(
			field("approval.for.field", requesterText(row, language)),
			field("approval.client.field", nameText(row.client, say("approval.unknown"))),
			field(
				"approval.server.field",
				guild_id === null ? say("approval.server.none") : nameText(guildName ?? "", say("approval.unknown")),
			),
		);
	if (ended_at === null) embed.addFields(field("approval.expires.field", at(row.expires_at)));
	if (decided_by !== null)
		embed.addFields(
			field(
				state === "denied" ? "approval.denied-by.field" : "approval.approved-by.field",
				decided_by === rootPrincipal.id ? say("approval.by.root") : `<@${decided_by}>`,
			),
		);
	return embed.setTimestamp(row.created_at);
}

type FieldKey = Extract<TextKey, `approval.${string}.field`>;

/** The root key, an API key or a client, and the person in whose name it acts. */
export function requesterText(row: Pick<ApprovalRow, "principal">, language: Language, isNamed = false): string {
	const say = sayIn(language);
	const principal = principalOf(row);
	if (!principal || principal.id === "root") return say("approval.for.root");
	const { person, id } = principal;
	const isKey = id.startsWith("key:");
	const nameOf = (name: string) => nameText(name, say("approval.unknown"));
	const key = nameOf(principal.name);
	if (!person) return isKey ? say("approval.for.key", { key }) : key;
	const who = isNamed ? `${nameOf(person.name || person.id)} (${person.id})` : `<@${person.id}>`;
	return isKey ? say("approval.for.person-with-key", { who, key }) : who;
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

/** The arguments, and the plan if there is one. */
export function callLines(row: Pick<ApprovalRow, "arguments" | "plan">): string[] {
	const plan = planOf(row);
	return ["", "Arguments:", argumentsOf(row), ...(plan === "" ? [] : ["", "What it would do:", plan])];
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

/** Of the arguments and the plan. */
export const shownBytes = (row: Pick<ApprovalRow, "arguments" | "plan">) =>
	Buffer.byteLength(argumentsOf(row)) + Buffer.byteLength(planOf(row));

/** Without the prefix. */
export function readButtonId(rest: string): { button: PressedButton; id: string; token: string } | undefined {
	const [, button, id, token] = /^(approve|deny|details):([0-9a-f]{12})\.([0-9a-f]{16})$/.exec(rest) ?? [];
	return id === undefined || token === undefined ? undefined : { button: button as PressedButton, id, token };
}
