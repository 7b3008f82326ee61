// Undoing what one account, or one key of ours, did in a guild: a plan from Discord's audit log and the bot's own, carried out
// as a job like a plan of a guild document.

import {
	type APIAuditLogEntry,
	AuditLogEvent,
	type Guild,
	PermissionFlagsBits,
	type RESTGetAPIAuditLogResult,
	SnowflakeUtil,
} from "discord.js";
import * as v from "valibot";
import { roleName, time } from "../../discord/describe.ts";
import { requirePermissions } from "../../discord/permissions.ts";
import { powerfulPermissions } from "../../discord/powers.ts";
import { countOf, jobReasonStart, oneField, resultLines } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import type { RestoreItem } from "../../guild-document/restore.ts";
import type { Refusal, StepKind } from "../../guild-document/steps.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { lostForGood } from "../guild-documents/plans/plan-text.ts";
import type { ToolCallRow } from "../store/tables/tool-calls.ts";
import { flag, guild_id, type Moment, moment, reason, snowflake, text } from "../tool/arguments/arguments.ts";
import type { ToolContext } from "../tool/context.ts";
import { tool } from "../tool/pipeline.ts";
import { namesIn } from "./audit-log/lines.ts";
import { restoreItems, rolesOfGone } from "./audit-log/restore.ts";
import { readPages } from "./audit-log.ts";
import { plan_hash, planBasis, planToCarryOut } from "./guild-documents.ts";

/** Of each log. */
const maxEntries = 1_000;

const input = {
	guild_id,
	user_id: v.optional(snowflake("user or bot who acted")),
	key: v.optional(text(1, 200, "Or an MCP key, by name or as in list_recent_tool_calls.")),
	after: v.optional(moment("Since", true)),
	delete_created: flag("Also delete what it created, with what others put there."),
	overwrite_changes: flag("Also what others changed since."),
	plan_hash: v.optional(plan_hash),
	reason,
};
type Arguments = v.InferOutput<v.StrictObjectSchema<typeof input, undefined>>;

export const undoActions = tool(
	{ effect: "write", idempotent: true },
	{
		name: "undo_actions",
		toolset: "moderation",
		offered: "listed",
		person: { permissions: [{ permission: "Administrator", inGuild: true }] },
		title: "Undo an account's actions",
		description:
			"Undo all that a hijacked account, bad bot or key did since a time: bans, roles, channels, access, webhooks, settings. Returns a plan; call again with only its plan_hash to do it.",
		permissions: ["ViewAuditLog"],
		permissionsIn: "run",
		input,
		destructive: ({ plan_hash }) => (plan_hash === undefined ? undefined : "carries out the plan"),
		async plan(args, context) {
			if (args.plan_hash !== undefined) return planToCarryOut(args.plan_hash, args.reason, "undo_actions", context);
			const found = await planOf(args, context);
			return { preview: found, basis: planBasis, act: async () => found };
		},
	},
);

type Context = ToolContext & { guild: Guild };

async function planOf(args: Arguments, context: Context): Promise<string> {
	const { guild, guildDocuments } = context;
	const { after, delete_created: deleteCreated = false, overwrite_changes: overwriteChanges = false } = args;
	if (!after || (args.user_id === undefined) === (args.key === undefined))
		throw invalidParameters(["expected after and one of user_id and key, or plan_hash alone"]);
	requirePermissions(guild, undefined, PermissionFlagsBits.ViewAuditLog);
	const { entries, others, pages, calls, madeBy, isCut } = await readActions(args, after, context);
	const undone = await guildDocuments.undone(entries.map(({ id }) => id));
	const left = entries.filter(({ id }) => !undone.has(id));
	const nameOf = namesIn(pages, guild);
	const backup = await backupBefore(left.at(-1), context);
	const found = restoreItems(left, others, guild, nameOf, ({ id }) => madeBy.get(id), backup?.document);
	const actors = [...new Set([args.user_id, ...calls.map(({ person }) => person)])].filter((id) => id != null);
	const gone = left.filter(({ action_type: type }) => type === MemberBanAdd || type === AuditLogEvent.MemberKick);
	const people = new Map(gone.map(({ target_id }) => [target_id ?? "", nameOf(target_id ?? "")]));
	const roles = rolesOfGone(people, backup?.document);
	const had = roles.length > 0 ? `; ${backup?.label}: ${roles.join("; ")}` : "";
	const again = found.items.filter(({ fields }) => fields.exists?.before === true);
	const began = time(timeOf(left.at(-1)));
	const source = backup
		? `they are taken from ${backup.label}`
		: `no backup is from before ${began}, so such channels are made as the last, outside of categories`;
	const fromBackup = `A channel's category and place, and who had a role, are not in the audit log: ${source}.`;
	const powers = keptPowers(args.user_id ?? "", found.items, guild);
	const who = args.user_id === undefined ? `the key ${oneField(args.key ?? "")}` : nameOf(args.user_id);
	return guildDocuments.planRestore(guild, {
		items: found.items,
		impossible: [...found.impossible, ...withoutEntry(calls, new Set(madeBy.values()))],
		kept: found.kept,
		actors,
		deleteCreated,
		overwriteChanges,
		remarks: resultLines(
			`Undoes ${countOf(left.length, "action")} of ${who} since ${time(after.atMs)}.${undone.size > 0 ? ` ${undone.size} were undone before.` : ""}`,
			isCut && `Only the newest ${maxEntries} entries were read: carry this out, then call again.`,
			powers.length > 0 &&
				`${who} keeps powerful roles, which it had not given itself: ${powers.join(", ")}. bulk_role_update removes them.`,
			people.size > 0 && `Banned and kicked people have to rejoin, without roles${had}.`,
			again.some(({ kind }) => kind === "ban") &&
				"Unbanned people are banned again, without the ban's old reason: check first that each still has to be banned.",
			again.some(({ kind }) => kind !== "ban") && `${lostForGood} ${fromBackup}`,
		),
	});
}

/** `entries`: the newest first. `calls`: of the bot's tools. */
async function readActions({ user_id, key }: Arguments, after: Moment, { guild, audit }: Context) {
	const self = guild.client.user.id;
	const filter = { guildId: guild.id, from: new Date(after.atMs), limit: maxEntries };
	const own = user_id === self ? [] : await audit.recent({ ...filter, key, person: user_id });
	const isWrite = ({ effect, outcome }: ToolCallRow) => effect !== "read" && outcome !== "refused";
	const calls = own.filter(isWrite);
	// An entry belongs to the call that fits it best, of any caller.
	const all = calls.length > 0 ? [...own, ...(await audit.recent(filter))].filter(isWrite) : [];
	const ownIds = new Set(calls.map(({ id }) => id));
	const pages: RESTGetAPIAuditLogResult[] = [];
	const read = async (id?: string, type?: AuditLogEvent) => {
		const found = await readPages(guild, { user_id: id, after, limit: maxEntries }, type);
		pages.push(...found);
		return found.flatMap((page) => page.audit_log_entries);
	};
	const direct = user_id === undefined ? [] : await read(user_id);
	const byBot = calls.length > 0 ? await read(self) : [];
	const isCut = [direct, byBot, own].some(({ length }) => length >= maxEntries);
	const callIds = byBot.map((entry) => [entry.id, callOf(entry, all, guild)?.id ?? ""] as const);
	const madeBy = new Map(callIds.filter(([, call]) => ownIds.has(call)));
	const sorted = (list: readonly APIAuditLogEntry[]) =>
		list
			.filter((one) => one.user_id !== self || !undoReason.test(one.reason ?? ""))
			.toSorted((a, b) => compareIds(b.id, a.id));
	const entries = sorted([...direct, ...byBot.filter(({ id }) => madeBy.has(id))]);
	const ids = new Set(entries.map(({ id }) => id));
	const decided = decisions.filter((types) => entries.some(({ action_type }) => types.includes(action_type))).flat();
	const since = (await Promise.all(decided.map((type) => read(undefined, type)))).flat();
	const others = sorted(since.filter((one) => !ids.has(one.id) && one.user_id !== user_id));
	return { entries, others, pages, calls, madeBy, isCut };
}

const { MemberBanAdd, MemberBanRemove, MemberRoleUpdate } = AuditLogEvent;
const decisions: readonly AuditLogEvent[][] = [[MemberBanAdd, MemberBanRemove], [MemberRoleUpdate]];

const timeOf = (entry?: APIAuditLogEntry) => SnowflakeUtil.timestampFrom(entry?.id ?? "0");

/** The newest one from before the first entry. */
async function backupBefore(first: APIAuditLogEntry | undefined, { guild, guildDocuments }: Context) {
	const backup = (await guildDocuments.backups(guild)).find(({ madeAt }) => madeAt.getTime() < timeOf(first));
	if (!backup) return undefined;
	const { document } = await guildDocuments.exportBackup(guild, backup.name);
	return { document, label: `backup ${backup.name} of ${time(backup.madeAt)}` };
}

/** The account's roles with permissions of moderators that stay when `items` are set back. */
function keptPowers(userId: string, items: readonly RestoreItem[], guild: Guild): string[] {
	const before = (kind: StepKind, id: string, field: string) =>
		items.find((item) => item.kind === kind && item.id === id)?.fields[field]?.before;
	const roles = [...(guild.members.cache.get(userId)?.roles.cache.values() ?? [])];
	const kept = roles.filter(({ id, permissions }) => {
		const bits = BigInt(String(before("role", id, "permissions") ?? permissions.bitfield));
		return (bits & powerfulPermissions) !== 0n && before("member", userId, `role:${id}`) !== false && id !== guild.id;
	});
	return kept.map(roleName);
}

/** What the bot's tools did that Discord's audit log does not show, such as sent messages. */
function withoutEntry(calls: readonly ToolCallRow[], shown: ReadonlySet<string>): Refusal[] {
	const others = calls.filter(({ id, outcome }) => outcome === "done" && !shown.has(id));
	const tools = [...Map.groupBy(others, (call) => call.tool)].map(([name, { length }]) => `${name} ${length}×`);
	const why = "no entry was found in Discord's audit log, as of messages that they sent; what they did stays";
	return tools.length > 0 ? [{ subject: tools.join(", "), reason: why }] : [];
}

/** Clocks differ, and requests wait for rate limits. */
const slackMs = 15_000;
const dayMs = 86_400_000;

/** Of an entry of the bot's account. Undoing what undid something would do it again. */
const undoReason = new RegExp(`^${jobReasonStart}\\w+ [\\d.]+: undo_actions`);

/**
 * Which call of the bot's tools made an entry: by time, target and the names in the reason. `calls`: all that anyone
 * made. A reason has names, which can change and which others can have: they decide last.
 */
function callOf(
	{ id, action_type, target_id, reason = "" }: APIAuditLogEntry,
	calls: readonly ToolCallRow[],
	guild: Guild,
): ToolCallRow | undefined {
	const at = SnowflakeUtil.timestampFrom(id);
	// A job goes on after the call that started it.
	const isLater = reason.startsWith(jobReasonStart);
	const isTempBan = action_type === AuditLogEvent.MemberBanAdd && reason.startsWith("By ");
	const isCalled = /\(.*by .+\)$/.test(reason);
	const possible = calls.filter(
		(call) =>
			// Messages are in no audit log.
			call.message_id === null &&
			Number(call.at) - slackMs <= at &&
			(isLater || at <= Number(call.at) + call.milliseconds + slackMs) &&
			(isCalled ? !isLater || call.tool === "apply_guild" : isTempBan && call.tool === "temp_ban"),
	);
	const gap = (call: ToolCallRow) =>
		Math.max(Number(call.at) - at, at - Number(call.at) - call.milliseconds, 0) +
		(target_id && call.arguments.includes(target_id) ? 0 : 2 * dayMs) +
		(isCaller(reason, call, guild) ? 0 : dayMs);
	return possible.toSorted((a, b) => gap(a) - gap(b))[0];
}

/** As `withCaller` and temporary bans write it. */
function isCaller(reason: string, { key, person }: ToolCallRow, guild: Guild): boolean {
	const user = guild.client.users.cache.get(person ?? "");
	const named = (name?: string | null) => name && reason.includes(`(for ${name}, by `);
	const banner = /^By \S+ \(ID: (\d+)\)/.exec(reason)?.[1];
	if (person !== null) return person === banner || [person, user?.username, user?.displayName].some(named);
	const [kind, name] = key?.split(":") ?? [];
	const ends = [`by ${name}`, `, key ${name}`].map((end) => [`${end})`, `${end}, approved by `] as const);
	return kind === "key" && ends.some(([end, more]) => reason.endsWith(end) || reason.includes(more));
}
