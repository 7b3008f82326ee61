// Many writes of one call, one at a time: where one fails, the answer says how far it got.

import { ToolError } from "../mcp/tool.ts";
import { toToolError } from "./errors.ts";

/**
 * Does `work` with each item, in order. Where Discord fails one, throws a ToolError with its advice, and with what was
 * done before it and what was not begun; the same call again does the rest. `nameOf` is what an item is called there.
 */
export async function oneByOne<Item>(
	items: readonly Item[],
	nameOf: (item: Item) => string,
	work: (item: Item) => Promise<unknown>,
): Promise<void> {
	for (const [index, item] of items.entries()) {
		try {
			await work(item);
		} catch (error) {
			const failure = toToolError(error);
			if (!failure) throw error;
			const names = (some: readonly Item[]) =>
				some.map(nameOf).join(", ") || "none";
			throw new ToolError(
				[
					failure.message,
					`That was said of ${nameOf(item)}, ${index + 1} of ${items.length}.`,
					`Done before it: ${names(items.slice(0, index))}.`,
					`Not begun: ${names(items.slice(index + 1))}.`,
					"The same call again does what is not done.",
				].join(" "),
				{ cause: error },
			);
		}
	}
}
