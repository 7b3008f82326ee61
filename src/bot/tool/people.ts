// Whom a call with `where` means. A call that changes something is shown first, and then acts on the people it showed:
// on those of them who still match.

import { randomBytes } from "node:crypto";
import type { GuildMember } from "discord.js";
import * as v from "valibot";
import { memberFields } from "../../discord/describe.ts";
import { requireKnownMembers } from "../../discord/find.ts";
import { countOf, fieldLine, resultLines } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { oneOrMore, requireEither, text } from "./arguments/arguments.ts";
import { sample } from "./bulk.ts";
import type { Chosen, FoundPeople, PeopleContext } from "./context.ts";

const maxLength = 1000;
const maxUnknown = 5;

const example = "joined since 2d and not role:@A and messages = 0 since 7d";
const whose = `Who, such as: ${example}. A list asks several. find_tools("where") shows all.`;
export const where = v.optional(oneOrMore(text(1, maxLength, whose), 5, whose));

/** Of `user_ids` and `where` a call has one; the tool gets `user_ids`, of at most `max` people by `where`. */
export function orWhere<Ids extends v.GenericSchema>(user_ids: Ids, max = Infinity) {
	return {
		// The pipeline fills it in.
		user_ids: v.optional(user_ids) as unknown as Ids,
		where: { ...v.optional(text(1, maxLength, "Or whom: see list_members.")), max },
	};
}

const previewPattern = /^preview:\s*(\w+)$/i;

export const isPreview = (where: string): boolean => previewPattern.test(where.trim());

/** The preview that `where` names, if it does. Throws a ToolError if there is none for this caller. */
export function previewIn(where: string, context: PeopleContext) {
	const [, code] = previewPattern.exec(where.trim()) ?? [];
	if (code === undefined) return undefined;
	const found = context.people.previews.get(code);
	if (found?.guildId === context.guild.id && found.caller === callerOf(context)) return found;
	throw new ToolError(`where: there is no preview ${code} for you in this guild. Nothing was done; ask by conditions.`);
}

/** An assistant acts for many people with one key. */
function callerOf({ principal }: PeopleContext): string {
	return JSON.stringify([principal?.id, principal?.person?.id]);
}

/** Why all of several members match, if it is the same for each: it is said once. */
export function sharedFacts(members: readonly GuildMember[], factsOf: FoundPeople["factsOf"]): string | undefined {
	const [first, ...different] = members.length > 2 ? new Set(members.map(factsOf)) : [];
	return different.length === 0 ? first : undefined;
}

interface Choosing {
	tool: string;
	args: { where?: string; user_ids?: unknown; dry_run?: unknown; guild_id?: unknown };
	/** The most that one call may have. */
	max: number;
	/** Somebody approves the plan of the call before it runs. */
	isReviewed: boolean;
}

/** Undefined for a call with `user_ids`. */
export async function choosePeople(
	{ tool, args, max, isReviewed }: Choosing,
	context: PeopleContext,
): Promise<Chosen | undefined> {
	requireEither(args, ["user_ids", "where"]);
	if (args.where === undefined) return undefined;
	const { guild, connection, people } = context;
	requireKnownMembers(guild, connection);
	const preview = previewIn(args.where, context);
	const { where, user_ids: _, dry_run: __, guild_id: ___, ...others } = args;
	const call = { guildId: guild.id, caller: callerOf(context), tool, args: JSON.stringify(others) };
	if (preview && (preview.tool !== tool || preview.args !== call.args))
		throw new ToolError(
			`where: ${where} is of ${preview.tool} with ${preview.args}. Only the same call may use it. Nothing was done; ask by conditions.`,
		);
	const question = preview ?? { where, nowMs: Date.now(), ids: undefined };
	const { matches, unknown, factsOf, notes } = await people.find(context, { ...question, reads: false });
	const shared = sharedFacts(matches, factsOf);
	const line = (member: GuildMember) => {
		const facts = factsOf(member);
		return fieldLine(memberFields(member), facts !== shared && facts);
	};
	const ids = matches.slice(0, max).map(({ id }) => id);
	const isShownOnly = !preview && !isReviewed;
	const code = randomBytes(4).toString("hex");
	if (isShownOnly) people.previews.set(code, { ...question, ...call, ids });
	const known = new Set([...ids, ...unknown.map(({ id }) => id)]);
	const changed = (preview?.ids ?? []).filter((id) => !known.has(id));
	const describe = (id: string) => {
		const member = guild.members.cache.get(id);
		return member ? line(member) : `${id} | left the guild`;
	};
	const lines = resultLines(
		shared && `All of them: ${shared}`,
		changed.length > 0 && `${changed.length} skipped, who no longer match:`,
		sample(changed, maxUnknown, describe),
		unknown.length > 0 && `${unknown.length} left out, of whom it is unknown:`,
		sample(unknown, maxUnknown, line),
		matches.length > max && `${countOf(matches.length, "member")} match, of whom one call takes ${max}.`,
		notes,
	);
	if (ids.length === 0) throw new ToolError(["Nobody matches for certain. Nothing was done.", ...lines].join("\n"));
	if (isShownOnly)
		lines.push(
			`To do it to these ${ids.length}: the same call with where="preview:${code}". list_members with it lists them all.`,
		);
	return {
		ids,
		isShownOnly,
		wasShown: preview !== undefined,
		line,
		notes: lines,
		done(some) {
			if (preview) preview.ids = preview.ids.filter((id) => !some.has(id));
		},
	};
}
