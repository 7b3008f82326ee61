// Compresses once what is sent often with another beginning each time: one gzip member, whose beginning is stored as it
// is and whose end was deflated beforehand. Clients that read only the first member get all of it.
// https://www.rfc-editor.org/rfc/rfc1952, https://www.rfc-editor.org/rfc/rfc1951#section-3.2.4

import { crc32, deflateRawSync } from "node:zlib";

/** Deflate, no name, no time, by the best method, on no system in particular. */
const memberHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);
const storedHeaderLength = 5;
const trailerLength = 8;
const maxStoredLength = 0xffff;
/** What fits into one packet is not worth compressing. */
export const minGzipBytes = 1_400;

/** The end of many texts. */
export class GzipTail {
	readonly #bytes: Uint8Array;
	#deflated: Buffer | undefined;
	/** The checksum of the end alone, and what each bit of the checksum before it adds to that. */
	#checksum = 0;
	readonly #bitChecksums = new Uint32Array(32);

	/** Nothing is compressed before the first call. */
	constructor(bytes: Uint8Array) {
		this.#bytes = bytes;
	}

	/** A gzip file of `head` and the end; undefined if compressing is of no use. */
	after(head: Uint8Array): Uint8Array | undefined {
		const tail = this.#bytes;
		if (head.length > maxStoredLength || tail.length < minGzipBytes)
			return undefined;
		const deflated = this.#deflate();
		const storedAt = memberHeader.length + storedHeaderLength;
		const deflatedAt = storedAt + head.length;
		const trailerAt = deflatedAt + deflated.length;
		const file = Buffer.allocUnsafe(trailerAt + trailerLength);
		file.set(memberHeader);
		// A block that is stored, and not the last one. It ends on a whole byte, as the deflated ones begin.
		file[memberHeader.length] = 0;
		file.writeUInt16LE(head.length, memberHeader.length + 1);
		file.writeUInt16LE(~head.length & 0xffff, memberHeader.length + 3);
		file.set(head, storedAt);
		file.set(deflated, deflatedAt);
		file.writeUInt32LE(this.#checksumAfter(crc32(head)), trailerAt);
		file.writeUInt32LE((head.length + tail.length) >>> 0, trailerAt + 4);
		return file;
	}

	#deflate(): Buffer {
		if (this.#deflated) return this.#deflated;
		const tail = this.#bytes;
		this.#checksum = crc32(tail);
		for (const bit of this.#bitChecksums.keys())
			this.#bitChecksums[bit] = crc32(tail, (1 << bit) >>> 0) ^ this.#checksum;
		this.#deflated = deflateRawSync(tail, { level: 9 });
		return this.#deflated;
	}

	/** The checksum of a text that ends so. A CRC is linear: what a beginning adds is the sum of what its bits add. */
	#checksumAfter(before: number): number {
		let checksum = this.#checksum;
		for (let left = before; left !== 0; left &= left - 1) {
			const lowest = 31 - Math.clz32(left & -left);
			checksum ^= this.#bitChecksums[lowest] ?? 0;
		}
		return checksum >>> 0;
	}
}
