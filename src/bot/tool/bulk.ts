// Bulk writes: one request per item, in order, within the tool's deadline. The next call can continue where this one
// stopped.

import { DiscordAPIError } from "discord.js";
import { type ToolCall, ToolError, type ToolOutput } from "../../mcp/tool.ts";
import { toToolError } from "../discord/rest/errors.ts";
import {
	endingEarlier,
	isOutcomeUnknown,
	timeLeftMs,
} from "../discord/rest/rest.ts";

/** A write starts only if this much of the tool's time is left. */
const minTimeLeftMs = 5_000;
/** A write times out this long before the tool does, to leave time for the result. */
const reserveMs = 1_000;
/** Maximum number of successful items listed in the result. Failed ones are all listed. */
const maxListedDone = 50;

export interface Bulk<Item> {
	/** The items to write. If the tool has an argument `after`: sorted by id, and only those after it. */
	items: readonly Item[];
	/** Set if the tool has no argument `after`, because the same call again finds the remaining items. */
	resumes?: true;
	idOf(item: Item): string;
	/** Describes an item in one line, with its id. */
	describe(item: Item): string;
	/** Sends the request that writes an item. */
	write(item: Item): Promise<unknown>;
	/** The first line of the result: "Gave 2 of 3 member(s) the role …." */
	done(count: number, of: number): string;
}

interface Outcome<Item> {
	done: Item[];
	refused: { item: Item; why: string }[];
	/** The write that was sent without a known outcome. */
	unknown?: { item: Item; why: string };
	/** Why no more items were written; undefined after the last one. */
	stopped?: string;
}

/**
 * Writes to each item in turn. The result lists what is done, what Discord refused and why, what was not started, and
 * the `after` to continue with. Stops at the tool's deadline, at a longer rate limit, when the caller disconnects, and
 * when the outcome of a write is unknown. Throws a ToolError if nothing was done.
 */
export async function writeEach<Item>(
	bulk: Bulk<Item>,
	call: ToolCall,
): Promise<ToolOutput> {
	const { items, idOf, resumes = false } = bulk;
	const outcome = await tryEach(bulk, call);
	const { done, refused, unknown } = outcome;
	const started = done.length + refused.length + (unknown ? 1 : 0);
	const lines = [
		bulk.done(done.length, items.length),
		...sample(done, maxListedDone, bulk.describe),
		...section(bulk, "refused by Discord", refused),
		...section(bulk, "of unknown outcome", unknown ? [unknown] : []),
	];
	const left = items.length - started;
	const last = resumes ? undefined : items[started - 1];
	if (left > 0) {
		const next = last ? ` with after=${idOf(last)}` : "";
		lines.push(
			`${left} not started: ${outcome.stopped} To continue, call again with the same arguments${next}.`,
			...(last ? [`next_after=${idOf(last)}`] : []),
		);
	}
	if (done.length === 0) throw new ToolError(lines.join("\n"));
	return lines;
}

async function tryEach<Item>(
	{ items, write }: Bulk<Item>,
	call: ToolCall,
): Promise<Outcome<Item>> {
	const outcome: Outcome<Item> = { done: [], refused: [] };
	for (const [index, item] of items.entries()) {
		const stopped = reasonToStop(call);
		if (stopped) return { ...outcome, stopped };
		try {
			await endingEarlier(reserveMs, () => write(item));
			outcome.done.push(item);
		} catch (error) {
			const toolError = toToolError(error);
			// For a single item the error says everything.
			if (!toolError || items.length === 1) throw error;
			const why = toolError.message;
			if (isOutcomeUnknown(error)) {
				const stopped = "check the outcome of the previous one first.";
				return { ...outcome, unknown: { item, why }, stopped };
			}
			if (!isRefusal(error)) return { ...outcome, stopped: why };
			outcome.refused.push({ item, why });
		}
		call.reportProgress(index + 1, items.length);
	}
	return outcome;
}

function reasonToStop(call: ToolCall): string | undefined {
	if (call.signal?.aborted) return "the caller disconnected.";
	if (timeLeftMs() < minTimeLeftMs) return "the tool's time is up.";
	return undefined;
}

/** Whether Discord refused only this item. A 401 is an invalid token, so it concerns all items. */
function isRefusal(error: unknown): boolean {
	return error instanceof DiscordAPIError && error.status !== 401;
}

function section<Item>(
	{ describe }: Bulk<Item>,
	label: string,
	failed: readonly { item: Item; why: string }[],
): string[] {
	if (failed.length === 0) return [];
	return [
		`${failed.length} ${label}:`,
		...failed.map(({ item, why }) => `${describe(item)} | ${why}`),
	];
}

/** The first `size` items, one line each, and the number of the others. */
export function sample<Item>(
	items: readonly Item[],
	size: number,
	describe: (item: Item) => string,
): string[] {
	const lines = items.slice(0, size).map(describe);
	const more = items.length - lines.length;
	return more > 0 ? [...lines, `… and ${more} more`] : lines;
}
