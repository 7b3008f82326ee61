// Approvals in the gateway's console: listing the waiting requests, and deciding on them. The holder of MCP_AUTH_TOKEN
// sees all requests. A person sees their own requests and those on which they could decide in Discord.

import { PermissionFlagsBits } from "discord.js";
import { fetchMember } from "../../discord/find.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { nameText, truncate } from "../../discord/text.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Principal } from "../../lib/principal.ts";
import { readIds, waitingMethod } from "../../mcp/approval.ts";
import {
	consoleMethods,
	type DecisionResult,
	maxApprovalBytes,
	maxApprovals,
	maxApprovalsBytes,
	type WaitingApproval,
} from "../../mcp/console.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import { methodNotFound, type OtherMethod } from "../../mcp/server.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { render } from "../../texts/texts.ts";
import { type ApprovalRow, approvalRows, selectUnfinishedApprovals } from "../store/tables/approvals.ts";
import { guildsOf } from "../tool/admission.ts";
import { whyNotApprover } from "./approval-buttons.ts";
import { type Decider, type Deciding, type DecidingOptions, operator } from "./deciding.ts";
import { argumentsOf, planOf, principalOf, requesterText, shownBytes } from "./request-message.ts";
import { isAtConsole } from "./requests.ts";

const maxMessageLength = 5_000;

const notAllowed = "only people who may press its buttons in Discord can decide on it.";

export function createConsoleApprovals({
	settings,
	connection,
	select,
	store: { sql },
	requests,
	deciding,
	now = Date.now,
}: DecidingOptions & { deciding: Deciding }): Readonly<Record<string, OtherMethod>> {
	async function deciderOf(principal: Principal | undefined, method: string): Promise<Decider> {
		if (!principal) return operator;
		const { person } = principal;
		if (!person?.signedIn) throw methodNotFound(method);
		const { context } = select(principal);
		const guilds = await guildsOf(context, person.id);
		if (!guilds.some(({ signIn }) => signIn)) throw methodNotFound(method);
		return person;
	}

	/** Where it is posted in Discord, if it is. */
	async function mayPress(row: ApprovalRow, decider: Decider, isFresh: boolean): Promise<boolean> {
		if (decider === operator) return true;
		if (isAtConsole(row)) return isOwn(row, decider);
		const channel = connection.discord.channels.cache.get(row.channel_id);
		if (!channel || channel.isDMBased()) return false;
		const member = await fetchMember(channel.guild, decider.id, isFresh);
		if (!member?.permissionsIn(channel).has(PermissionFlagsBits.ViewChannel)) return false;
		await settings.ready();
		const { "approval.roles": approvers } = settings.of(channel.guild.id);
		return whyNotApprover(approvers, [...member.roles.cache.keys()], member.permissions) === undefined;
	}

	async function visible(decider: Decider) {
		const rows = await selectUnfinishedApprovals(sql);
		const pending = rows.filter(
			(row) => row.state === "pending" && row.expires_at > now() && !requests.withdrawn.has(row.id),
		);
		const seen: WaitingApproval[] = [];
		// Discord is asked at most once for a channel, however many requests it has.
		const mayPressIn = new Map<string, boolean>();
		for (const row of pending) {
			const place = row.channel_id || row.id;
			const may = mayPressIn.get(place) ?? (await mayPress(row, decider, false));
			mayPressIn.set(place, may);
			if (!may && !isOwn(row, decider)) continue;
			const own = deciding.whyOwn(row, decider);
			const why = may ? (whyTooLong(row) ?? (own && render(own, "en"))) : notAllowed;
			seen.push(describe(row, may, why ?? null));
		}
		return seen;
	}

	function describe(row: ApprovalRow, mayDeny: boolean, why: string | null): WaitingApproval {
		const guildName = connection.guild(row.guild_id ?? "")?.name;
		const isShort = whyTooLong(row) === undefined;
		const guild = row.guild_id === null ? null : { id: row.guild_id, name: (guildName ?? "unknown").slice(0, 200) };
		return {
			id: row.id,
			token: row.token,
			tool: row.tool,
			guild,
			requester: requesterText(row, "en", true),
			client: nameText(row.client, "unknown"),
			arguments: isShort ? argumentsOf(row) : "",
			plan: isShort ? planOf(row) : "",
			createdAt: row.created_at,
			expiresAt: row.expires_at,
			mayDeny,
			why,
		};
	}

	async function decide({ id, token, decision }: JsonObject, decider: Decider): Promise<DecisionResult> {
		if (typeof id !== "string" || typeof token !== "string") throw invalidParameters(["id, token: expected strings"]);
		if (decision !== "approve" && decision !== "deny") throw invalidParameters(["decision: expected approve or deny"]);
		const unknown: DecisionResult = { message: "This request no longer exists. Nothing was done.", done: false };
		const row = await approvalRows.first(sql, { id });
		if (!row) return unknown;
		if (!(await mayPress(row, decider, true)))
			return isOwn(row, decider)
				? { message: `You cannot decide: ${notAllowed} Nothing was done.`, done: false }
				: unknown;
		const tooLong = decision === "approve" ? whyTooLong(row) : undefined;
		if (tooLong !== undefined) return { message: `You cannot approve this call: ${tooLong}`, done: false };
		const given = { id, token, decision } as const;
		const { message, done } = await deciding.decide(given, decider);
		return { message: truncate(render(message, "en"), maxMessageLength), done };
	}

	const { approvals, decide: decideMethod } = consoleMethods;
	return {
		[approvals]: (_, { principal }) =>
			orRpcError(async () => {
				return { approvals: fitting(await visible(await deciderOf(principal, approvals))) };
			}),
		[decideMethod]: (params, { principal }) =>
			orRpcError(async () => decide(params, await deciderOf(principal, decideMethod))),
		[waitingMethod]: ({ gone }, { principal }) =>
			orRpcError(async () => {
				if (principal) throw methodNotFound(waitingMethod);
				return { waiting: await requests.withdrawOf(readIds(gone) ?? []) };
			}),
	};
}

function fitting(all: readonly WaitingApproval[]): WaitingApproval[] {
	let bytes = 0;
	return all.slice(0, maxApprovals).filter((one) => {
		bytes += bytesOf(one);
		return bytes <= maxApprovalsBytes;
	});
}

const isOwn = (row: ApprovalRow, { id }: Decider) => principalOf(row)?.person?.id === id;

const bytesOf = ({ arguments: args, plan }: Pick<WaitingApproval, "arguments" | "plan">) =>
	Buffer.byteLength(args) + Buffer.byteLength(plan);

function whyTooLong(row: ApprovalRow): string | undefined {
	return shownBytes(row) > maxApprovalBytes
		? "its request is too long to be shown here. Decide with the buttons of its message in Discord, which shows all of it."
		: undefined;
}

async function orRpcError(work: () => Promise<unknown>): Promise<string> {
	try {
		return JSON.stringify(await work());
	} catch (error) {
		const known = toToolError(error);
		if (!known || error instanceof RpcError) throw error;
		throw new RpcError(errorCode.internal, known.message);
	}
}
