// Undoing what one account, or one key of ours, did in a guild: a plan from Discord's audit log and the bot's own, carried out
// as a job like a plan of a guild document.

import {
	type APIAuditLogEntry,
	AuditLogEvent,
	type Guild,
	PermissionFlagsBits,
	type RESTGetAPIAuditLogResult,
} from "discord.js";
import * as v from "valibot";
import { time } from "../../discord/describe.ts";
import { requirePermissions } from "../../discord/permissions.ts";
import { countOf, oneField } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import type { Refusal } from "../../guild-document/steps.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { lostForGood } from "../guild-documents/plans/plan-text.ts";
import type { ToolCallRow } from "../store/tables/tool-calls.ts";
import { flag, guild_id, type Moment, moment, reason, snowflake, text } from "../tool/arguments/arguments.ts";
import type { ToolContext } from "../tool/context.ts";
import { tool } from "../tool/define.ts";
import { callOf, isOfUndo } from "./audit-log/calls.ts";
import { namesIn } from "./audit-log/lines.ts";
import { restoreItems, rolesOfGone } from "./audit-log/restore.ts";
import { readPages } from "./audit-log.ts";
import { plan_hash, planBasis, planToCarryOut } from "./guild-documents.ts";

/** Of each log. */
const maxEntries = 1_000;

const input = {
	guild_id,
	user_id: v.optional(snowflake("user or bot who acted")),
	key: v.optional(text(1, 200, "Or an MCP key: its name, or as list_recent_tool_calls shows it.")),
	after: v.optional(moment("Since", true)),
	delete_created: v.optional(flag("Also delete channels, roles etc. that it created, with what others put there.")),
	overwrite_changes: v.optional(flag("Also what others changed since.")),
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
			"Undo all that a hijacked account, bad bot or key did since a time: bans, roles, channels, access, webhooks, settings. Returns a plan; call again with its plan_hash alone to carry it out.",
		permissions: ["ViewAuditLog"],
		permissionsIn: "run",
		input,
		destructive: ({ plan_hash }) => (plan_hash === undefined ? undefined : "carries out the plan"),
		async plan(args, context) {
			if (args.plan_hash !== undefined) return planToCarryOut(args.plan_hash, args.reason, context);
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
	const { entries, pages, calls, isCut } = await readActions(args, after, context);
	const undone = await guildDocuments.undone(entries.map(({ id }) => id));
	const left = entries.filter(({ id }) => !undone.has(id));
	const nameOf = namesIn(pages, guild);
	const backup = await backupBefore(after, context);
	const callIdOf = (entry: APIAuditLogEntry) => callOf(entry, calls, guild)?.id;
	const found = restoreItems(left, guild, nameOf, callIdOf, backup?.document);
	const actors = new Set([args.user_id, ...calls.map(({ person }) => person)]);
	const returned = found.items.filter(
		({ kind, id, fields }) =>
			kind === "member" &&
			actors.has(id) &&
			Object.entries(fields).some(([field, { before }]) => field.startsWith("role:") && before === true),
	);
	const gone = left.filter(({ action_type: type }) =>
		[AuditLogEvent.MemberBanAdd, AuditLogEvent.MemberKick].includes(type),
	);
	const people = new Map(gone.map(({ target_id }) => [target_id ?? "", nameOf(target_id ?? "")]));
	const roles = rolesOfGone(people, backup?.document);
	const had = roles.length > 0 ? `; ${backup?.label}: ${roles.join("; ")}` : "";
	const isRecreated = found.items.some(({ kind, fields }) => kind !== "ban" && fields.exists?.before === true);
	const fromBackup = `Their order, the category of a channel, and who had a role are not in the audit log${backup ? `; members and categories are taken from ${backup.label}` : ", and there is no backup of before: such channels are made outside of categories"}.`;
	const who = args.user_id === undefined ? `the key ${oneField(args.key ?? "")}` : nameOf(args.user_id);
	return guildDocuments.planRestore(guild, {
		items: found.items.filter((item) => !returned.includes(item)),
		impossible: [
			...found.impossible,
			...returned.map(({ name }) => ({ subject: name, reason: "the account that is undone gets no roles back" })),
			...withoutEntry(calls, entries, guild),
		],
		deleteCreated,
		overwriteChanges,
		remarks: [
			`Undoes ${countOf(left.length, "action")} of ${who} since ${time(after.atMs)}.${undone.size > 0 ? ` ${undone.size} were undone before.` : ""}`,
			...(isCut ? [`Only the newest ${maxEntries} entries were read: carry this out, then call again.`] : []),
			...(people.size > 0 ? [`Banned and kicked people have to rejoin, without roles${had}.`] : []),
			...(isRecreated ? [`${lostForGood} ${fromBackup}`] : []),
		],
	});
}

/** `entries`: the newest first. `calls`: of the bot's tools. */
async function readActions(args: Arguments, after: Moment, { guild, audit }: Context) {
	const { user_id, key } = args;
	const self = guild.client.user.id;
	const filter = { guildId: guild.id, from: new Date(after.atMs), limit: maxEntries };
	const own = user_id === self ? [] : await audit.recent({ ...filter, key, person: user_id });
	const calls = own.filter(({ effect, outcome }) => effect !== "read" && outcome !== "refused");
	const read = (id: string) => readPages(guild, { user_id: id, after, limit: maxEntries });
	const direct = user_id === undefined ? [] : await read(user_id);
	const byBot = calls.length > 0 ? await read(self) : [];
	const entriesIn = (pages: readonly RESTGetAPIAuditLogResult[]) => pages.flatMap((page) => page.audit_log_entries);
	const entries = [
		...entriesIn(direct),
		...entriesIn(byBot).filter((entry) => callOf(entry, calls, guild) !== undefined),
	]
		.filter((entry) => entry.user_id !== self || !isOfUndo(entry))
		.toSorted((a, b) => compareIds(b.id, a.id));
	const isCut = [direct, byBot].some((pages) => entriesIn(pages).length >= maxEntries) || own.length >= maxEntries;
	return { entries, pages: [...direct, ...byBot], calls, isCut };
}

/** The newest backup from before. */
async function backupBefore({ atMs }: Moment, { guild, guildDocuments }: Context) {
	const backup = (await guildDocuments.backups(guild)).find(({ madeAt }) => madeAt.getTime() < atMs);
	if (!backup) return undefined;
	const { document } = await guildDocuments.exportBackup(guild, backup.name);
	return { document, label: `backup ${backup.name} of ${time(backup.madeAt)}` };
}

/** What the bot's tools did that Discord's audit log does not show, such as sent messages. */
function withoutEntry(calls: readonly ToolCallRow[], entries: readonly APIAuditLogEntry[], guild: Guild): Refusal[] {
	const shown = new Set(entries.map((entry) => callOf(entry, calls, guild)?.id));
	const others = calls.filter(({ id, outcome }) => outcome === "done" && !shown.has(id));
	const tools = [...Map.groupBy(others, (call) => call.tool)].map(([name, { length }]) => `${name} ${length}×`);
	const why = "Discord's audit log has no entry of these calls, such as messages that they sent; what they did stays";
	return tools.length > 0 ? [{ subject: tools.join(", "), reason: why }] : [];
}
