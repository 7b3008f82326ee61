// Answers the MCP request guildhall/audited-calls, with which the gateway's console reads the bot's audit log: all calls for
// the holder of the root key, for a person only their own.

import { AuditLogEvent, type Guild, PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import type { Connection } from "../../discord/connection/connection.ts";
import { channelLabel, roleLabel, userLabel } from "../../discord/describe.ts";
import { officialName } from "../../discord/permissions.ts";
import { oneField } from "../../discord/text.ts";
import { type AuditedCallDetails, consoleMethods, maxAuditedCalls } from "../../mcp/console.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import { methodNotFound, type OtherMethod } from "../../mcp/server.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import type { Store } from "../store/store.ts";
import { type ApprovalRow, approvalRows } from "../store/tables/approvals.ts";
import type { ToolCallFilter, ToolCallRow } from "../store/tables/tool-calls.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import type { Audit, DiscordWork } from "../tool/audit.ts";

const maxNames = 100;
/** Whose names contain what is searched for. */
const maxNamed = 200;
const time = v.pipe(v.number(), v.safeInteger());
const params = v.strictObject({
	from: time,
	before: time,
	beforeId: v.optional(v.pipe(v.string(), v.maxLength(100))),
	request: v.optional(v.pipe(v.string(), v.maxLength(200))),
	search: v.optional(v.pipe(v.string(), v.maxLength(200))),
	kind: v.optional(v.picklist(["changed", "refused", "failed", "approval"])),
	limit: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(maxAuditedCalls)),
	hours: v.optional(v.boolean(), false),
});

interface AuditedCallsOptions {
	audit: Pick<Audit, "recent" | "hours">;
	store: Pick<Store, "sql">;
	connection: Connection;
}

/** In the words of the gateway. Of an entry about an approval: how that stands now. */
function outcomeOf({ tool, outcome, arguments: text }: ToolCallRow, approval: ApprovalRow | undefined): string {
	if (tool !== "approval") return outcome === "error" ? "failed" : outcome;
	const state: string = approval?.state ?? JSON.parse(text).event;
	if (["denied", "expired", "withdrawn"].includes(state)) return state;
	return state === "pending" || /asked|requested/.test(state) ? "waiting" : "approved";
}

const outcomesOf = {
	changed: undefined,
	approval: undefined,
	refused: ["refused"],
	failed: ["failed", "error"],
} as const;

const auditActions = new Set(Object.keys(AuditLogEvent).map(officialName));
const verbs: Record<string, string> = { POST: "CREATE", PATCH: "UPDATE", DELETE: "DELETE" };
const actionNames: Record<string, string> = {
	"POST bulk-ban": "MEMBER_BAN_ADD",
	"POST bulk-delete": "MESSAGE_BULK_DELETE",
	"PUT pins": "MESSAGE_PIN",
	"DELETE pins": "MESSAGE_UNPIN",
	"POST scheduled-events": "GUILD_SCHEDULED_EVENT_CREATE",
	"POST rules": "AUTO_MODERATION_RULE_CREATE",
};
const targetIn =
	/^(?:\/guilds\/\d+\/(?!templates)[a-z/-]+|\/guilds|\/channels|\/webhooks)\/(\d+)(?:\/(?:roles|permissions)\/\d+)?$/;

/**
 * Arguments of get_audit_log for what the requests have changed: entries of the bot by their targets or, where the path does not
 * name it, by the action.
 */
function recordsOf(discord: string | null, bot = ""): Record<string, string[]>[] {
	const { requests }: Pick<DiscordWork, "requests"> = JSON.parse(discord ?? '{"requests":[]}');
	const changes = requests.filter(({ method, status = 500 }) => method !== "GET" && status < 400);
	const targets = new Set(changes.flatMap(({ path }) => targetIn.exec(path)?.[1] ?? []));
	const actions = changes.flatMap(({ method, path }) => {
		const noun = /([a-z-]+)(?:\/\d+)?$/.exec(path)?.[1] ?? "";
		const action = actionNames[`${method} ${noun}`] ?? `${noun.slice(0, -1).toUpperCase()}_${verbs[method]}`;
		return targetIn.test(path) || !auditActions.has(action) ? [] : action;
	});
	return [
		...(targets.size > 0 ? [{ user_ids: [bot], ...(targets.size <= 10 && { target_ids: [...targets] }) }] : []),
		...(actions.length > 0 ? [{ user_ids: [bot], action_type: [...new Set(actions)] }] : []),
	];
}

export function createAuditedCalls({ audit, store, connection }: AuditedCallsOptions): OtherMethod {
	return async (given, { principal }) => {
		if (principal && !principal.person?.signedIn) throw methodNotFound(consoleMethods.auditedCalls);
		const parsed = v.safeParse(params, given);
		if (!parsed.success) throw invalidParameters(parsed.issues.map((one) => `${v.getDotPath(one)}: ${one.message}`));
		const { from, before, beforeId, request, search, kind, limit, hours } = parsed.output;
		const person = principal?.person?.id;
		const filter: ToolCallFilter = {
			requestId: request,
			search,
			named: search ? idsNamed(search, person) : [],
			person,
			outcomes: kind && outcomesOf[kind],
			changes: kind === "changed",
			tool: kind === "approval" ? kind : undefined,
			from: new Date(from),
			before: { at: new Date(before), id: beforeId },
			limit,
		};
		try {
			const rows = await audit.recent(filter);
			const requests = rows.flatMap(({ request_id }) => request_id ?? []);
			const approvals = requests.length === 0 ? [] : await approvalRows.all(store.sql, { request_id: requests });
			const calls = rows.map((row) => describe(row, approvals, person));
			return JSON.stringify({ calls, hours: hours ? await audit.hours(filter) : [] });
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			throw new RpcError(errorCode.internal, error.message);
		}
	};

	function describe(
		row: ToolCallRow,
		approvals: readonly ApprovalRow[],
		viewer: string | undefined,
	): AuditedCallDetails {
		const { id, tool, effect, milliseconds, client, key, person, answer, discord } = row;
		const approval = approvals.find(({ request_id }) => request_id !== null && request_id === row.request_id);
		const by = approval?.decided_by ?? null;
		const decidedAt = approval?.decided_at == null ? null : Number(approval.decided_at);
		const ids = [row.guild_id, person, by, row.arguments, answer, discord].join(" ").match(/\d{17,20}/g) ?? [];
		const guild = row.guild_id === null ? undefined : connection.guild(row.guild_id);
		const names = [...new Set(ids)].slice(0, maxNames).flatMap((one) => {
			const name = nameOf(one, guild, viewer);
			return name === undefined ? [] : [[one, name.slice(0, 300)] as const];
		});
		return {
			...{ id, tool, effect, client, key, person, answer, discord },
			outcome: outcomeOf(row, approval),
			request: row.request_id,
			at: Number(row.at),
			ms: Number(milliseconds),
			guild: row.guild_id,
			message: row.message_id,
			arguments: row.arguments,
			approval: approval
				? { state: approval.state, by, waited: decidedAt && decidedAt - Number(approval?.created_at) }
				: null,
			changes: recordsOf(discord, connection.user?.id),
			names: Object.fromEntries(names),
		};
	}

	/** The shortest names first. */
	function idsNamed(text: string, viewer: string | undefined): string[] {
		const wanted = text.toLowerCase();
		const found = connection.guilds.flatMap((guild) => {
			const lists = [guild.channels, guild.roles, guild.members].map(({ cache }) => [...cache.keys()]);
			return [guild.id, ...lists.flat()].flatMap((id) => {
				const name = nameOf(id, guild, viewer) ?? "";
				return name.toLowerCase().includes(wanted) ? { id, length: name.length } : [];
			});
		});
		const sorted = found.sort((one, other) => one.length - other.length).map(({ id }) => id);
		return [...new Set(sorted)].slice(0, maxNamed);
	}

	/** A person learns only the names of their guild, and of channels that they see. */
	function nameOf(id: string, guild: Guild | undefined, viewer: string | undefined): string | undefined {
		const member = viewer === undefined ? undefined : guild?.members.cache.get(viewer);
		if (viewer !== undefined && !member) return undefined;
		if (guild?.id === id) return oneField(guild.name);
		const channel = guild?.channels.cache.get(id);
		if (channel) {
			const isSeen = !member || member.permissionsIn(channel).has(PermissionFlagsBits.ViewChannel);
			return isSeen ? channelLabel(channel) : undefined;
		}
		const role = guild?.roles.cache.get(id);
		if (role) return roleLabel(role);
		const user = guild?.members.cache.get(id)?.user ?? (member ? undefined : connection.discord.users.cache.get(id));
		return user && userLabel(user);
	}
}
