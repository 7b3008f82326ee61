// The result of `tools/list`, encoded and compressed once and sent often. Responses differ only in what precedes the tools,
// such as the id. A compressed one is a single gzip member, which has that uncompressed: some clients read only the first member.
// https://www.rfc-editor.org/rfc/rfc1952, https://www.rfc-editor.org/rfc/rfc1951#section-3.2.4

import type { JsonObject } from "../lib/json.ts";
import { messageOpening, onOneLine, type PreparedEvent } from "./sse.ts";

const { crc32 } = Bun.hash;

const memberHeader = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff];
const maxStoredLength = 0xffff;
/** Fewer bytes fit into one network packet. */
const minGzipBytes = 1_400;

export class ToolList {
	readonly #tail: Buffer<ArrayBuffer>;
	#deflated: Uint8Array | undefined;

	/** An object whose first member is `tools`. Throws a TypeError for other text. */
	constructor(readonly text: string) {
		if (!text.startsWith('{"tools":'))
			throw new TypeError('the JSON text of a tools/list result does not begin with {"tools":');
		this.#tail = Buffer.from(`${onOneLine(text.slice(1))}}\n\n`);
	}

	/** `id` is JSON text. `members`, at least one, precede the tools in the result. */
	response(id: string, members?: JsonObject): PreparedEvent {
		const before = members ? `${JSON.stringify(members).slice(1, -1)},` : "";
		const head = Buffer.from(`${messageOpening}{"jsonrpc":"2.0","id":${id},"result":{${before}`);
		return { plain: () => Buffer.concat([head, this.#tail]), gzip: () => this.#gzip(head) };
	}

	#gzip(head: Buffer): Uint8Array | undefined {
		const tail = this.#tail;
		if (head.length > maxStoredLength || tail.length < minGzipBytes) return undefined;
		this.#deflated ??= Bun.deflateSync(tail, { level: 9 });
		// A stored block, which is not the last one. It ends on a whole byte, where the deflated blocks begin.
		const start = Buffer.from([...memberHeader, 0, 0, 0, 0, 0]);
		start.writeUInt16LE(head.length, 11);
		start.writeUInt16LE(~head.length & 0xffff, 13);
		const trailer = Buffer.alloc(8);
		trailer.writeUInt32LE(crc32(tail, crc32(head)));
		trailer.writeUInt32LE(head.length + tail.length, 4);
		return Buffer.concat([start, head, this.#deflated, trailer]);
	}
}
