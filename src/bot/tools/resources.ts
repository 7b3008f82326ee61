// Guild documents, backups, plans and jobs as MCP resources. Each is read by a call of the tool that reads the same, in the
// caller's name. Their URIs have no authority: a gateway puts the name of the bot there.

import type { JsonObject } from "../../lib/json.ts";
import type { Principal } from "../../lib/principal.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import { modernClientName } from "../../mcp/modern.ts";
import { appPage, resourceNotFound } from "../../mcp/resources.ts";
import type { Caller, ResourceMethods, Selection } from "../../mcp/server.ts";
import { outcomeIn, textIn } from "../../mcp/tool.ts";
import { pageFiles } from "../../pages/page-files.ts" with { type: "macro" };
import { usableGuilds } from "../tool/admission.ts";
import { guild_id } from "../tool/arguments/arguments.ts";
import type { AuditedCall } from "../tool/audit.ts";
import { recordedCall } from "../tool/call-as.ts";
import type { BotContext } from "../tool/context.ts";
import { readTool } from "../tool/define.ts";
import { resolveOrUnknown } from "../tool/named-calls.ts";
import { exportGuild, getJob, person, planGuild, planPageUri } from "./guild-documents.ts";

const json = "application/json";
const plain = "text/plain";
/** In `resources/list`. The templates reach the others. */
const maxGuilds = 20;
const maxBackups = 10;

/** `argument`: of the tool, which gets the end of the URI. */
const kinds = {
	document: { title: "Guild document", mimeType: json, tool: exportGuild.name, argument: undefined },
	backups: { title: "Backup", mimeType: json, tool: exportGuild.name, argument: "backup" },
	plans: { title: "Plan", mimeType: plain, tool: planGuild.name, argument: "plan_hash" },
	jobs: { title: "Job", mimeType: plain, tool: getJob.name, argument: "job_id" },
} as const;

type Kind = keyof typeof kinds;

const uriOf = (kind: Kind, guildId: string, id?: string) =>
	["guildhall:/guilds", guildId, kind, ...(id === undefined ? [] : [id])].join("/");

/** Not offered to clients: lists what one guild has, for those who may read it. */
const listOfGuild = readTool({
	name: "list_resources",
	toolset: "guild_document",
	person,
	title: "List resources",
	description: "",
	input: { guild_id },
	async run(_, { guild, guildDocuments }) {
		const entry = (kind: Kind, id?: string, size?: number, at?: Date) => ({
			uri: uriOf(kind, guild.id, id),
			name: `${kind} ${id ?? ""}`.trim(),
			title: `${guild.name}: ${kinds[kind].title} ${id ?? ""}`.trim(),
			mimeType: kinds[kind].mimeType,
			size,
			annotations: at && { lastModified: at.toISOString() },
		});
		const [backups, plans, jobs] = await Promise.all([
			guildDocuments.backups(guild),
			guildDocuments.plans(guild),
			guildDocuments.latestJobs(guild),
		]);
		return JSON.stringify([
			entry("document"),
			...backups.slice(0, maxBackups).map(({ name, size, madeAt }) => entry("backups", name, size, madeAt)),
			...plans.map(({ hash, made_at }) => entry("plans", hash, undefined, new Date(made_at))),
			...jobs.map(({ id, text }) => entry("jobs", id, Buffer.byteLength(text))),
		]);
	},
});

export function createResources(
	select: (principal: Principal | undefined) => Selection<BotContext>,
	record: (call: AuditedCall) => void,
): ResourceMethods {
	const offered = (selection: Selection<BotContext>) =>
		Object.entries(kinds).filter(([, { tool }]) => resolveOrUnknown({ name: tool }, selection).refusal === undefined);

	async function list(principal: Principal | undefined): Promise<string> {
		const selection = select(principal);
		const { context } = selection;
		const kept = new Set(offered(selection).map(([kind]) => kind));
		const guilds = kept.size === 0 ? [] : usableGuilds(context).slice(0, maxGuilds);
		const lists = await Promise.all(
			guilds.map(async ({ id }): Promise<{ uri: string }[]> => {
				const result = await listOfGuild.call({ guild_id: id }, context, { signal: undefined, reportProgress() {} });
				return outcomeIn(result) === "done" ? JSON.parse(textIn(result)) : [];
			}),
		);
		return JSON.stringify({ resources: lists.flat().filter(({ uri }) => kept.has(uri.split("/")[3] ?? "")) });
	}

	function templates(principal: Principal | undefined): string {
		const resourceTemplates = offered(select(principal)).map(([kind, { title, mimeType, argument }]) => ({
			uriTemplate: uriOf(kind as Kind, "{guild_id}", argument && `{${argument}}`),
			name: kind,
			title,
			mimeType,
		}));
		return JSON.stringify({ resourceTemplates });
	}

	async function read({ uri, ...params }: JsonObject, { principal, session, signal }: Caller): Promise<string> {
		if (uri === planPageUri) return JSON.stringify({ contents: [appPage(uri, planPage)] });
		const [, guildId = "", kind = "", id] =
			/^guildhall:\/guilds\/(\d{17,20})\/([a-z]+)(?:\/(\w{1,32}))?$/.exec(String(uri)) ?? [];
		const found = Object.hasOwn(kinds, kind) ? kinds[kind as Kind] : undefined;
		if (!found || (found.argument === undefined) !== (id === undefined)) throw resourceNotFound(uri);
		const selection = select(principal);
		const args = { guild_id: guildId, ...(found.argument && { [found.argument]: id }) };
		const { tool, refusal } = resolveOrUnknown({ name: found.tool, arguments: args }, selection);
		if (!tool || refusal !== undefined) throw resourceNotFound(uri, refusal);
		const client = principal?.client ?? session?.clientName ?? modernClientName(params) ?? "";
		const ended = await recordedCall(tool, args, selection.context, { record, client, guildId, signal });
		if (ended.result === undefined) throw ended.error;
		const text = textIn(ended.result);
		const outcome = outcomeIn(ended.result);
		if (outcome === "failed") throw new RpcError(errorCode.internal, text);
		if (outcome !== "done") throw resourceNotFound(uri, text);
		const { mimeType } = found;
		// Before a document, its tool names the parts that it could not read.
		const at = mimeType === json ? text.lastIndexOf("\n") : -1;
		const missing = { uri: `${uri}#missing`, mimeType: plain, text: text.slice(0, at) };
		return JSON.stringify({ contents: [{ uri, mimeType, text: text.slice(at + 1) }, ...(at > 0 ? [missing] : [])] });
	}

	return {
		"resources/list": (_, { principal }) => list(principal),
		"resources/templates/list": (_, { principal }) => templates(principal),
		"resources/read": read,
	};
}

// The page of an MCP App that shows a plan: one file, as clients require, of the console's own parts.
const files = pageFiles("plan");
const joined = (...names: string[]) => names.map((name) => files[name]).join("\n");
const script = joined("dom.js", "untrusted.js", "plan/plan.js")
	.replace(/^import .*\n/gm, "")
	.replace(/^export /gm, "");

const planPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Plan</title>
<style>${joined("style.css", "plan/plan.css")}</style><body><script type="module">${script}</script></body></html>`;
