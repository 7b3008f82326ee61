// The result of `tools/list`, made once and sent often: the tools are the end of every response, and what stands before
// them, the id above all, differs.

import { GzipTail } from "../lib/gzip.ts";
import type { JsonObject } from "./json-rpc.ts";
import { messageOpening, onOneLine } from "./sse.ts";

/** A response as the event that it goes out as, most of which was made beforehand. */
export interface PreparedEvent {
	plain(): Uint8Array;
	/** One gzip file of the same; undefined where that is of no use. */
	gzip(): Uint8Array | undefined;
}

export class ToolList {
	readonly #tail: Buffer;
	readonly #gzip: GzipTail;

	/** `text` is the result as JSON text: an object whose first member is `tools`. */
	constructor(readonly text: string) {
		if (!text.startsWith('{"tools":'))
			throw new TypeError("a list of tools begins otherwise");
		this.#tail = Buffer.from(`${onOneLine(text.slice(1))}}\n\n`);
		this.#gzip = new GzipTail(this.#tail);
	}

	/** The response to the request `id`, given as JSON text, with these members in its result before the tools. */
	response(id: string, members: JsonObject = {}): PreparedEvent {
		const before = JSON.stringify(members).slice(1, -1);
		const head = Buffer.from(
			`${messageOpening}{"jsonrpc":"2.0","id":${id},"result":{${before}${before && ","}`,
		);
		return {
			plain: () => Buffer.concat([head, this.#tail]),
			gzip: () => this.#gzip.after(head),
		};
	}
}
