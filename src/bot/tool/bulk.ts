// Writing to many things, one request at a time: in order, in time, and so that the next call goes on where this one
// stopped.

import { DiscordAPIError } from "discord.js";
import { type ToolCall, ToolError, type ToolOutput } from "../../mcp/tool.ts";
import { toToolError } from "../discord/rest/errors.ts";
import {
	endingEarlier,
	PlatformFailure,
	PlatformTimeout,
	timeLeftMs,
} from "../discord/rest/rest.ts";

/** A write is begun only while this much of the tool's time is left, */
const leastMs = 5_000;
/** and ends this long before it, so that there is time to answer. */
const reserveMs = 1_000;
/** How many of those that went well are named: of the others all are. */
const namedDone = 50;

export interface Bulk<Item> {
	/** In the order of their ids, those only that the call's `after` leaves; in any order where the call has none. */
	items: readonly Item[];
	/** The call takes no `after`: the same one again finds by itself what is left to do. */
	resumes?: true;
	idOf(item: Item): string;
	/** It on a line, with its id. */
	describe(item: Item): string;
	/** Makes one request. */
	write(item: Item): Promise<unknown>;
	/** What has been done to how many of them: "Gave 2 of 3 member(s) the role …." */
	done(count: number, of: number): string;
}

interface Outcome<Item> {
	done: Item[];
	refused: { item: Item; why: string }[];
	/** It was sent, and what became of it nobody knows. */
	unknown?: { item: Item; why: string };
	/** Why it ended before the last item. */
	stopped?: string;
}

/**
 * Writes to each item in turn, and says what is done, what Discord refused and why, what was not begun, and with which
 * `after` to go on. Ends early when its time is up, when Discord would keep it waiting for longer than that, when the
 * caller has hung up, and when nobody knows what became of a write. Throws a ToolError when it has done nothing.
 */
export async function writeEach<Item>(
	bulk: Bulk<Item>,
	call: ToolCall,
): Promise<ToolOutput> {
	const { items, idOf, resumes = false } = bulk;
	const outcome = await tryEach(bulk, call);
	const { done, refused, unknown } = outcome;
	const begun = done.length + refused.length + (unknown ? 1 : 0);
	const lines = [
		bulk.done(done.length, items.length),
		...sample(done, namedDone, bulk.describe),
		...section(bulk, "refused by Discord", refused),
		...section(bulk, "of unknown outcome", unknown ? [unknown] : []),
	];
	const left = items.length - begun;
	const last = resumes ? undefined : items[begun - 1];
	if (left > 0) {
		const next = last ? ` with after=${idOf(last)}` : "";
		lines.push(
			`${left} not begun: ${outcome.stopped} To go on, call again with the same arguments${next}.`,
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
		const stopped = whyStop(call);
		if (stopped) return { ...outcome, stopped };
		try {
			await endingEarlier(reserveMs, () => write(item));
			outcome.done.push(item);
		} catch (error) {
			const said = toToolError(error);
			// Of one thing alone this is all there is to say.
			if (!said || items.length === 1) throw error;
			const why = said.message;
			if (isRefusal(error)) outcome.refused.push({ item, why });
			else if (isUnknown(error))
				return {
					...outcome,
					unknown: { item, why },
					stopped: "what became of the one before is to be looked at first.",
				};
			else return { ...outcome, stopped: why };
		}
		call.reportProgress(index + 1, items.length);
	}
	return outcome;
}

function whyStop(call: ToolCall): string | undefined {
	if (call.signal?.aborted) return "the caller has hung up.";
	if (timeLeftMs() < leastMs) return "the tool's time is up.";
	return undefined;
}

/** Whether it is Discord's word on this one item: a refused token is one on all of them. */
function isRefusal(error: unknown): boolean {
	return error instanceof DiscordAPIError && error.status !== 401;
}

function isUnknown(error: unknown): boolean {
	return (
		(error instanceof PlatformTimeout || error instanceof PlatformFailure) &&
		error.outcome === "unknown"
	);
}

function section<Item>(
	{ describe }: Bulk<Item>,
	what: string,
	failed: readonly { item: Item; why: string }[],
): string[] {
	if (failed.length === 0) return [];
	return [
		`${failed.length} ${what}:`,
		...failed.map(({ item, why }) => `${describe(item)} | ${why}`),
	];
}

/** The first of these, a line each, and how many more there are. */
export function sample<Item>(
	items: readonly Item[],
	size: number,
	describe: (item: Item) => string,
): string[] {
	const lines = items.slice(0, size).map(describe);
	const more = items.length - lines.length;
	return more > 0 ? [...lines, `… and ${more} more`] : lines;
}
