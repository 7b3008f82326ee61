// Compresses once a text that is sent often, each time with another beginning. Each response is one gzip member with its
// beginning stored uncompressed and the common end deflated beforehand: some clients read only the first member.
// https://www.rfc-editor.org/rfc/rfc1952, https://www.rfc-editor.org/rfc/rfc1951#section-3.2.4

import { crc32, deflateRawSync } from "node:zlib";

/** Header of a gzip file: deflate, no file name, no time, best compression, unknown operating system. */
const memberHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);
const storedHeaderLength = 5;
const trailerLength = 8;
const maxStoredLength = 0xffff;
/** Responses with fewer bytes than this fit into one network packet and are not compressed. */
export const minGzipBytes = 1_400;

/**
 * Compresses responses that all end with the same bytes, such as responses with the same list of tools. These last
 * bytes are compressed only once, not again for each response.
 */
export class GzipTail {
	readonly #bytes: Uint8Array;
	#deflated: Buffer | undefined;
	/** CRC-32 checksum of the last bytes that all responses share. It is 0 until these bytes are compressed. */
	#checksum = 0;
	/**
	 * Table for combining CRC-32 checksums. For each bit of the checksum of a response's first part: the bits that it
	 * inverts in the checksum of the whole response.
	 */
	readonly #bitChecksums = new Uint32Array(32);

	/** `bytes` are the last bytes that all responses share. They are compressed at the first call of `after`. */
	constructor(bytes: Uint8Array) {
		this.#bytes = bytes;
	}

	/**
	 * Returns a gzip file of one response: the bytes `head`, followed by the bytes that all responses share. Returns
	 * undefined if `head` is longer than 65,535 bytes, or if the shared bytes are too few for compression to save
	 * anything.
	 */
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
		// A stored block, and not the last block. It ends on a whole byte, where the deflated blocks begin.
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

	/** Returns the CRC-32 checksum of a whole response from `before`, the checksum of the response's first part. */
	#checksumAfter(before: number): number {
		let checksum = this.#checksum;
		for (let left = before; left !== 0; left &= left - 1) {
			const lowest = 31 - Math.clz32(left & -left);
			checksum ^= this.#bitChecksums[lowest] ?? 0;
		}
		return checksum >>> 0;
	}
}
