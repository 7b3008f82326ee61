// The result of `tools/list`, encoded and compressed once and sent often. Responses differ only in what precedes the tools,
// such as the id.

import type { JsonObject } from "../../lib/json.ts";
import { resultResponse } from "../json-rpc.ts";
import { encodeMessage, messageOpening, onOneLine, type PreparedEvent } from "../sse.ts";
import { GzipTail, minGzipBytes } from "./gzip-tail.ts";
import { usesFastPath } from "./switch.ts";

const isPrepared = usesFastPath("tool-list");

export class ToolList {
	readonly #tail: Buffer<ArrayBuffer>;
	readonly #gzip: GzipTail;

	/** An object whose first member is `tools`. Throws a TypeError for other text. */
	constructor(readonly text: string) {
		if (!text.startsWith('{"tools":'))
			throw new TypeError('the JSON text of a tools/list result does not begin with {"tools":');
		this.#tail = Buffer.from(`${onOneLine(text.slice(1))}}\n\n`);
		this.#gzip = new GzipTail(this.#tail);
	}

	/** `id` is JSON text. `members`, at least one, precede the tools in the result. */
	response(id: string, members?: JsonObject): PreparedEvent {
		const before = members ? `${JSON.stringify(members).slice(1, -1)},` : "";
		if (!isPrepared) return this.#unprepared(id, before);
		const head = `${messageOpening}{"jsonrpc":"2.0","id":${id},"result":{${before}`;
		return { plain: () => Buffer.concat([Buffer.from(head), this.#tail]), gzip: () => this.#gzip.after(head) };
	}

	#unprepared(id: string, before: string): PreparedEvent {
		const result = `{${before}${this.text.slice(1)}`;
		const event = Buffer.from(encodeMessage(resultResponse(id, result)));
		return { plain: () => event, gzip: () => (this.#tail.length < minGzipBytes ? undefined : Bun.gzipSync(event)) };
	}
}
