// Bulk writes: one request per item, in order, within the tool's deadline. The next call can continue where this one
// stopped.

import { DiscordAPIError } from "discord.js";
import { isForPeople } from "../../discord/acting-person.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { currentRun, endingEarlier, isOutcomeUnknown, noteItem, timeLeftMs } from "../../discord/rest/rest.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import type { ToolCall } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { type Said, said } from "../../texts/texts.ts";
import { forModels, type Output, parts, reasonOf, result, saidIn } from "../results/result.ts";
import type { Plan } from "./context.ts";

const minTimeLeftMs = 5_000;
// Requests time out this long before the call's deadline, so that the result can still be returned.
const reserveMs = 1_000;
// Items that could not be changed are all listed.
const maxListedDone = 50;

export interface Bulk<Item> {
	items: readonly Item[];
	/** By id, and the tool has an argument `after`. Otherwise a repeated call continues where this one stopped. */
	isSorted?: boolean;
	/** A sentence on how to continue if items are left. Default: to repeat the call. */
	next?: string | ((left: readonly Item[]) => string);
	idOf(item: Item): string;
	describe(item: Item): string;
	/** Changed items are only counted, or one line of these names. */
	isShort?: boolean | ((item: Item) => string);
	/** May throw a ToolError with Discord's error as its `cause`. */
	write(item: Item): Promise<unknown>;
	/** The tool's result if the call names a single item and that was changed, instead of a list. */
	single?: Output | false | undefined | ((written: unknown) => Output);
	/** First line of the result: "Gave 2 of 3 member(s) the role …." */
	done(count: number, of: number): string;
	/** What was done, for people. Default: they read what models read. */
	people?(items: readonly Item[]): Said | readonly Said[];
	/** Default: that of the user of this id. */
	mention?(item: Item): string;
}

interface EachPlan<Item> extends Bulk<Item>, Pick<Plan, "basis" | "leavesOut" | "record"> {
	/** What it would do. */
	asks: Output;
	/** What stays as it is: at the end of the preview and of the result. */
	rest?: Output | false | undefined;
	/** The result. Default: `output` and `rest`. */
	after?(output: Output): Output;
}

interface Failed<Item> {
	item: Item;
	error: ToolError;
}

export interface Outcome<Item> {
	done: Item[];
	refused: Failed<Item>[];
	unknown?: Failed<Item>;
	stopped?: string;
}

/** In order. Throws a ToolError if no item was changed. */
export async function writeEach<Item>(bulk: Bulk<Item>, call: ToolCall): Promise<Output> {
	const { items, single, write } = bulk;
	const [only] = items;
	if (single && only !== undefined) {
		const written = await write(only);
		return typeof single === "function" ? single(written) : single;
	}
	// For a single item the error says everything.
	const throwsError = items.length === 1;
	const { done, lines, people } = await attemptEach(bulk, call, throwsError);
	const output = people.length > 0 ? result(lines, ...people) : lines;
	if (done === 0) throw refusalOf(output);
	return output;
}

/** Of a call that has done nothing: says what its result would. */
export function refusalOf(output: Output): ToolError {
	const [models, people] = [forModels(output).join("\n"), saidIn(output)];
	return people ? new SaidError(people, { models }) : new ToolError(models);
}

/** A plan with a request for each item, such as a member. */
export function planEach<Item>(given: EachPlan<Item>): Plan {
	const { asks, rest, after = (output) => parts(output, rest) } = given;
	return { ...given, preview: parts(asks, rest), act: async (call) => after(await writeEach(given, call)) };
}

/** Like `writeEach`, but also returns a result if no item was changed. `throwsError`: throws Discord's first error. */
export async function attemptEach<Item>(
	bulk: Bulk<Item>,
	call: ToolCall,
	throwsError = false,
): Promise<{ done: number; lines: string[]; people: readonly Said[] }> {
	const { items, idOf } = bulk;
	const outcome = await tryEach(bulk, call, throwsError);
	const { done, refused, unknown } = outcome;
	const started = done.length + refused.length + (unknown ? 1 : 0);
	const shown = bulk.isShort === true ? [] : sample(done, maxListedDone, bulk.isShort || bulk.describe);
	const lines = [
		bulk.done(done.length, items.length),
		...(bulk.isShort && shown.length > 0 ? [shown.join(", ")] : shown),
		...section(bulk, "refused by Discord", refused),
		...section(bulk, "of unknown outcome", unknown ? [unknown] : []),
	];
	const left = items.length - started;
	const last = bulk.isSorted ? items[started - 1] : undefined;
	if (left > 0) {
		const after = last ? ` with after=${idOf(last)}` : "";
		const repeat = () =>
			typeof bulk.next === "function"
				? bulk.next(items.slice(started))
				: (bulk.next ?? `To continue, call again with the same arguments${after}.`);
		const next = isForPeople() ? "Use the command again for these to continue." : repeat();
		lines.push(
			`${left} not started: ${outcome.stopped} ${next}`,
			...(last && !isForPeople() ? [`next_after=${idOf(last)}`] : []),
		);
	}
	return { done: done.length, lines, people: forPeople(bulk, outcome, left) };
}

function forPeople<Item>(
	{ people, idOf, mention = (item) => `<@${idOf(item)}>` }: Bulk<Item>,
	{ done, refused, unknown }: Outcome<Item>,
	left: number,
): Said[] {
	if (!people) return [];
	return [
		...(done.length > 0 ? [people(done)].flat() : []),
		...refused.map(({ item, error }) => said("result.refused", { who: mention(item), why: reasonOf(error) })),
		...(unknown ? [said("result.unknown", { who: mention(unknown.item), why: reasonOf(unknown.error) })] : []),
		...(left > 0 ? [said("result.left", { count: left })] : []),
	];
}

/** With `throwsError`, throws Discord's first error instead of returning it. */
export async function tryEach<Item>(
	{ items, write, idOf = () => "" }: Pick<Bulk<Item>, "items" | "write"> & Partial<Pick<Bulk<Item>, "idOf">>,
	call: ToolCall,
	throwsError: boolean,
): Promise<Outcome<Item>> {
	const outcome: Outcome<Item> = { done: [], refused: [] };
	for (const [index, item] of items.entries()) {
		if (call.signal?.aborted) return { ...outcome, stopped: "the caller disconnected." };
		if (timeLeftMs() < minTimeLeftMs) return { ...outcome, stopped: "the tool's time is up." };
		try {
			await endingEarlier(reserveMs, () => write(item));
			outcome.done.push(item);
			noteItem(idOf(item), "done");
		} catch (error) {
			const isToolError = error instanceof ToolError;
			const toolError = isToolError ? error : toToolError(error);
			if (!toolError || throwsError) throw error;
			const why = toolError.message;
			const cause = isToolError ? error.cause : error;
			if (isOutcomeUnknown(cause)) {
				noteItem(idOf(item), "unknown");
				const stopped = "check the outcome of the previous one first.";
				return { ...outcome, unknown: { item, error: toolError }, stopped };
			}
			noteItem(idOf(item), "not done");
			const isRefusal = cause instanceof DiscordAPIError && cause.status !== 401;
			if (!isRefusal) return { ...outcome, stopped: why };
			outcome.refused.push({ item, error: toolError });
		}
		call.reportProgress(index + 1, items.length);
	}
	return outcome;
}

/** Of requests that follow a change, whose result must not be lost with them. */
export async function failureOf(work: () => Promise<unknown>): Promise<Error | undefined> {
	try {
		await endingEarlier(reserveMs, work);
		return undefined;
	} catch (error) {
		const known = error instanceof ToolError || error instanceof RpcError ? error : toToolError(error);
		if (!known) throw error;
		return known;
	}
}

function section<Item>({ describe }: Bulk<Item>, label: string, failed: readonly Failed<Item>[]): string[] {
	if (failed.length === 0) return [];
	return [`${failed.length} ${label}:`, ...failed.map(({ item, error }) => `${describe(item)} | ${error.message}`)];
}

/** A last line says how many more there are. */
export function sample<Item>(items: readonly Item[], size: number, describe: (item: Item) => string): string[] {
	const lines = items.slice(0, shownOf(size)).map(describe);
	const more = items.length - lines.length;
	return more > 0 ? [...lines, `… and ${more} more`] : lines;
}

/** No limit in a plan that a person must approve. */
export function shownOf(max: number): number {
	const { isReviewed, mayWrite } = currentRun() ?? {};
	return isReviewed && !mayWrite ? Infinity : max;
}
