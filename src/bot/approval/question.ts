// The question to the person at an MCP client: who asks, the arguments and the plan in full, and a form to approve or deny.

import { oneField, truncate } from "../../discord/text.ts";
import { isObject, type JsonObject } from "../../lib/json.ts";
import { type ElicitationRequest, elicitedAnswer } from "../../mcp/elicitation.ts";
import type { ApprovalRow } from "../store/tables/approvals.ts";
import { callLines, requesterText } from "./request-message.ts";

/** In `inputRequests` and `inputResponses`. */
export const questionName = "approval";

/** Some MCP clients read at most 1 MiB of an SSE event. */
const maxBytes = 900_000;
const maxNameLength = 200;

interface QuestionFacts {
	botName: string;
	/** Undefined if unknown. */
	guildName: string | undefined;
	/** Asked again, because the call would no longer do what was approved. */
	hasChanged: boolean;
}

type ShownRow = Pick<ApprovalRow, "tool" | "client" | "principal" | "guild_id" | "arguments" | "plan">;

/** Undefined if it is too long to be shown in full. */
export function questionAbout(
	row: ShownRow,
	{ botName, guildName, hasChanged }: QuestionFacts,
): ElicitationRequest | undefined {
	const facts = [
		`For: ${requesterText(row, "en", true)}`,
		`Client: ${nameText(row.client)}`,
		`Server: ${row.guild_id === null ? "none" : `${nameText(guildName)} (ID: ${row.guild_id})`}`,
		...callLines(row),
	].join("\n");
	const message = [
		...(hasChanged ? ["What this call would do has changed since it was shown. Nothing was done."] : []),
		`Approve ${row.tool} by the bot ${nameText(botName)}? It runs only if you choose Approve, within 10 minutes. Names and texts in the block may be written by people on Discord.`,
		fenced(facts),
	].join("\n\n");
	if (Buffer.byteLength(JSON.stringify(message)) > maxBytes) return undefined;
	const decision = {
		type: "string",
		title: "Decision",
		description: `Whether ${row.tool} may run as shown`,
		enum: ["Approve", "Deny"],
	};
	return {
		method: "elicitation/create",
		params: {
			mode: "form",
			message,
			requestedSchema: { type: "object", properties: { decision }, required: ["decision"] },
		},
	};
}

/** "cancelled": the user closed the question. Undefined without a valid answer. */
export function decisionIn(params: JsonObject): "approved" | "denied" | "cancelled" | undefined {
	const answer = elicitedAnswer(params, questionName);
	if (!answer) return undefined;
	if (answer.action === "decline") return "denied";
	if (answer.action === "cancel") return "cancelled";
	const { decision } = isObject(answer.content) ? answer.content : {};
	if (decision === "Approve") return "approved";
	return decision === "Deny" ? "denied" : undefined;
}

function nameText(name: string | undefined): string {
	const shown = oneField(truncate((name ?? "").toWellFormed(), maxNameLength));
	return /[\p{L}\p{N}]/u.test(shown) ? shown : "unknown";
}

/** With a fence longer than any backticks in the text, so that it cannot end the block. */
function fenced(text: string): string {
	const fence = "`".repeat(Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length)) + 1);
	return `${fence}\n${text}\n${fence}`;
}
