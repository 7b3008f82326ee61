// The tool import_cases: takes over the cases of another bot from CSV (RFC 4180). Results and logs have no texts of the file,
// only line numbers and names of columns.

import { SnowflakeUtil } from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../../discord/acting-person.ts";
import { time } from "../../../discord/describe.ts";
import { currentRun, platformTimeoutMs } from "../../../discord/rest/rest.ts";
import { inlineText, lengthOf, maxReasonLength, oneField } from "../../../discord/text.ts";
import { parseJson } from "../../../lib/json.ts";
import { bytesAtMost } from "../../../lib/program/listen.ts";
import { toAbortSignal } from "../../../lib/signal.ts";
import { listFirst } from "../../../lib/text.ts";
import { readDuration, readTime } from "../../../lib/times.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { said } from "../../../texts/texts.ts";
import { parts } from "../../results/result.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import { guild_id, requireEither, text } from "../../tool/arguments/arguments.ts";
import { caseActions } from "../../tool/case-record.ts";
import { editTool } from "../../tool/define.ts";
import { isAtCdn, readAtCdn } from "../cdn-files.ts";
import type { NewCase } from "./case.ts";
import { summaryOf } from "./case-text.ts";
import type { Cases } from "./cases.ts";

const maxBytes = 5_000_000;
const maxRows = 20_000;
const rules = `IDs have 17 to 20 digits; dates are ISO 8601 or Unix time, in the past; a duration is like 7d; a reason has at most ${maxReasonLength} characters; all lines have as many cells as the first, and '"' within quotes is '""'.`;
const columns = new Set(["user_id", "action", "date", "moderator_id", "reason", "until", "duration", "case"]);

const isId = /^\d{17,20}$/;
const importable = caseActions.slice(0, caseActions.indexOf("note") + 1);
const others = new Map(Object.entries({ mute: "timeout", unmute: "removetimeout", warning: "warn" }));

/** Unix time in seconds or milliseconds, or ISO 8601, also as databases write it: "2024-01-31 12:00:00+00". */
function readDate(text: string): number | undefined {
	if (/^\d{1,14}$/.test(text)) return Number(text) * (text.length > 11 ? 1 : 1000);
	const zoned = text.replace(/(:[\d.]+) ?([+-]\d\d):?(\d\d)?$/, (_, clock, h, m = "00") => `${clock}${h}:${m}`);
	return readTime(zoned.replace(" ", "T").replace(/ ?UTC$/, "Z"));
}

/**
 * What Zeppelin's dashboard exports, and its numbers of actions:
 * https://github.com/ZeppelinBot/Zeppelin/blob/0612b6f17d2a99adae37d0ab39b25ca0d735f201/backend/src/api/guilds/importExport.ts
 * https://github.com/ZeppelinBot/Zeppelin/blob/425f6e6674a0240735769ef2f038162bf8ddc4a1/backend/src/data/CaseTypes.ts
 */
const zeppelinCase = v.object({
	case_number: v.number(),
	user_id: v.string(),
	mod_id: v.nullable(v.string()),
	type: v.number(),
	created_at: v.string(),
	notes: v.array(v.object({ body: v.string() })),
});
const zeppelinExport = v.object({ cases: v.pipe(v.array(zeppelinCase), v.maxLength(maxRows)) });
const zeppelinActions = ["", "ban", "unban", "note", "warn", "kick", "mute", "unmute"];

type Row = [line: number, cells: Record<string, string>];

export interface CaseToolOptions {
	cases: Cases;
	settings: GuildSettings;
	cdn: string;
}

export function importCases({ cases, settings, cdn }: CaseToolOptions) {
	return editTool(
		{
			name: "import_cases",
			toolset: "moderation",
			title: "Import cases",
			description:
				"Import another bot's cases from CSV with the columns user_id, action (ban, kick, timeout, warn, …), date, and optionally moderator_id, reason, until or duration, case (its number there), or from Zeppelin's JSON. Each is imported once. Nobody is told, and no rule applies.",
			person: { permissions: [{ permission: "ManageGuild", inGuild: true }] },
			lock: ["guild_id"],
			input: {
				guild_id,
				source: text(1, 32, "Name of the other bot."),
				csv: v.optional(text(1, maxBytes, "The file as text.")),
				file_url: v.optional(text(1, 2_000, "Or the URL of a file on Discord, up to 5 MB.")),
			},
			async plan({ source, ...file }, { guild }) {
				requireEither(file, ["csv", "file_url"]);
				const csv = file.csv ?? (await download(cdn, file.file_url ?? ""));
				const bot = inlineText(source, 32);
				const botId = guild.client.user.id;
				const rows = csv.trimStart().startsWith("{") ? zeppelinRows(csv) : rowsOf(csv);
				requireWholeIds(rows);
				const since = Date.now() - (settings.of(guild.id)["keep.cases_days"] ?? Number.POSITIVE_INFINITY) * 86_400_000;
				const read = rows.map(([line, cells]) => [line, caseOf(cells, bot, botId, since)] as const);
				const found = read.flatMap(([, one]) => (typeof one === "string" ? [] : one));
				const wrong = read.flatMap(([line, one]) => (typeof one === "string" ? `line ${line}: ${one}` : []));
				const missing = await cases.missing(guild.id, found);
				const byAction = [...Map.groupBy(missing, ({ action }) => action)];
				const ignored = new Set(rows.flatMap(([, cells]) => Object.keys(cells))).difference(columns);
				const names = [...ignored].map((name) => `"${oneField(name.slice(0, 40))}"`);
				const notes = parts(
					`${found.length - missing.length} were imported before, or are in the file twice.`,
					names.length > 0 && `Columns that are not understood and have no effect: ${listFirst(names, 20)}.`,
					wrong.length > 0 && [`${wrong.length} left out. ${rules}`, listFirst(wrong, 20, "\nand ", "\n")],
				);
				return {
					preview: parts(
						`${missing.length} case(s) to import.`,
						missing.length > 0 && `From ${time(missing[0]?.createdAt)} to ${time(missing.at(-1)?.createdAt)}.`,
						summaryOf(byAction.map(([action, { length: count }]) => ({ action, count }))),
						notes,
					),
					async act() {
						const count = await cases.import(guild.id, missing, bot, actingPerson(guild)?.id ?? botId);
						return [`Imported ${count} case(s).`, ...notes];
					},
				};
			},
		},
		{ additive: true },
	);
}

/** Spreadsheets keep 15 digits of a number, and JavaScript 17. */
function requireWholeIds(rows: readonly Row[]): void {
	const ids = new Set(rows.flatMap(([, { user_id }]) => (user_id && isId.test(user_id) ? user_id : [])));
	if (ids.size >= 4 && ids.values().every((id) => id.endsWith("0")))
		throw new ToolError(
			"Every user_id ends in 0: a spreadsheet or program has rounded them. Export the file again, and do not save it in a spreadsheet. Nothing was done.",
		);
}

async function download(cdn: string, url: string): Promise<string> {
	try {
		const signal = toAbortSignal(currentRun()?.signal ?? AbortSignal.timeout(platformTimeoutMs));
		const bytes = isAtCdn(cdn, url) ? await bytesAtMost(await readAtCdn(url, signal), maxBytes) : "elsewhere";
		if (typeof bytes !== "string") return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		// The error may have the URL, with which everyone can read the file.
	}
	throw new ToolError("file_url: no UTF-8 file of at most 5 MB there. Nothing was done.");
}

/** In place of lines, the places in the list. The first note of a case is its reason. */
function zeppelinRows(json: string): Row[] {
	const { success, output } = v.safeParse(zeppelinExport, parseJson(json));
	if (!success || Buffer.byteLength(json) > maxBytes)
		throw new ToolError(`This is no export of Zeppelin of at most ${maxRows} cases and 5 MB. Nothing was done.`);
	return output.cases.map(({ case_number, user_id, mod_id, type, created_at, notes }, index) => [
		index + 1,
		{
			user_id,
			moderator_id: mod_id ?? "",
			action: zeppelinActions[type] ?? "",
			date: created_at,
			reason: notes[0]?.body ?? "",
			case: String(case_number),
		},
	]);
}

/** With ";" between cells if the first line has one. Without cells if quotes or the number of cells are wrong. */
function rowsOf(csv: string): Row[] {
	const separator = /^.*;/.test(csv) ? ";" : ",";
	const rows: (typeof row)[] = [];
	let [row, from, line, isQuoted] = [{ line: 1, cells: [] as string[], isWrong: false }, 0, 1, false];
	for (const { 0: mark, index } of `${csv}\n`.matchAll(new RegExp(`["\\n${separator}]|\\r\\n?`, "g"))) {
		if (/[\r\n]/.test(mark)) line += 1;
		// Elsewhere than at the start of a cell, it is a character as any other.
		if (mark === '"' && /^\s*("|$)/.test(csv.slice(from, index))) isQuoted = !isQuoted;
		if (isQuoted || mark === '"') continue;
		// This removes a byte order mark, too.
		const cell = csv.slice(from, index).trim();
		const [, quoted] = /^"((?:[^"]|"")*)"$/.exec(cell) ?? [];
		row.isWrong ||= quoted === undefined && cell.startsWith('"');
		row.cells.push(quoted?.replaceAll('""', '"') ?? cell);
		from = index + mark.length;
		if (mark === separator) continue;
		if (row.cells.some((one) => one !== "")) rows.push(row);
		row = { line, cells: [], isWrong: false };
	}
	const names = rows.shift()?.cells.map((name) => name.toLowerCase().replaceAll(/[ -]/g, "_")) ?? [];
	if (isQuoted) throw new ToolError(`A quote that begins in line ${row.line} is open. Nothing was done.`);
	if (!["user_id", "action", "date"].every((name) => names.includes(name)))
		throw new ToolError("The first line lacks user_id, action or date. Nothing was done.");
	if (rows.length > maxRows || Buffer.byteLength(csv) > maxBytes)
		throw new ToolError(`The file has more than ${maxRows} rows or 5 MB. Nothing was done.`);
	return rows.map(({ line, cells, isWrong }) => [
		line,
		isWrong || cells.length !== names.length
			? {}
			: Object.fromEntries(names.flatMap((name, at) => (name ? [[name, cells[at] ?? ""]] : []))),
	]);
}

/** Or what is wrong: the name of the column. */
function caseOf(cells: Row[1], bot: string, botId: string, since: number): NewCase | string {
	const { user_id: userId, reason = "", until = "", duration = "", case: number = "" } = cells;
	const moderatorId = cells.moderator_id || botId;
	if (userId === undefined) return "cells";
	if (!isId.test(userId)) return "user_id";
	const name = (cells.action ?? "").toLowerCase().replaceAll(/[ _-]/g, "");
	const named = importable.find((one) => one.replace("_", "") === (others.get(name) ?? name));
	if (!named) return "action";
	const createdAt = readDate(cells.date ?? "");
	if (!createdAt || createdAt < SnowflakeUtil.epoch || createdAt > Date.now()) return "date";
	if (createdAt < since) return "older than keep.cases_days";
	if (!isId.test(moderatorId)) return "moderator_id";
	if (lengthOf(reason) > maxReasonLength) return "reason";
	if (!/^(#?[a-z\d-]{1,40})?$/i.test(number)) return "case";
	const lasts = /^\d+$/.test(duration) ? Number(duration) * 1000 : (readDuration(duration) ?? Number.NaN);
	const end = until ? readDate(until) : duration ? createdAt + lasts : createdAt;
	if (!end || end < createdAt || end > 8.64e15) return until ? "until" : "duration";
	const isBan = named === "ban" || named === "temp_ban";
	const endsAt = (isBan || named === "timeout") && end > createdAt ? end : undefined;
	const action = isBan ? (endsAt === undefined ? "ban" : "temp_ban") : named;
	const there = number && ` #${number.replace("#", "")}`;
	const whole = JSON.stringify([userId, action, createdAt, endsAt, moderatorId, reason]);
	// With the person, because some bots count the cases of each.
	const key = Bun.SHA256.hash(there ? `${there} ${userId}` : whole, "hex");
	const detail = [said("case.detail.imported", { bot: `${bot}${there}` })];
	const source = `import:${bot.toLowerCase()}:${key}`;
	return { action, userId, moderatorId, reason, createdAt, endsAt, detail, source };
}
