// Compresses once a text that is sent often, each time with another beginning. Each response is one gzip member with its
// beginning stored uncompressed and the common end deflated beforehand: some clients read only the first member.
// https://www.rfc-editor.org/rfc/rfc1952, https://www.rfc-editor.org/rfc/rfc1951#section-3.2.4

const { crc32 } = Bun.hash;

const memberHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);
const storedHeaderLength = 5;
const trailerLength = 8;
const maxStoredLength = 0xffff;
/** Fewer bytes fit into one network packet. */
export const minGzipBytes = 1_400;

/** Compresses responses that end with the same bytes, such as the same list of tools. */
export class GzipTail {
	readonly #bytes: Uint8Array<ArrayBuffer>;
	/** The deflated bytes stay in place, from `#deflatedAt` to `#trailerAt`; the rest is written for each response. */
	#file: Buffer | undefined;
	#deflatedAt = 0;
	#trailerAt = 0;
	#checksum = 0;
	readonly #bitChecksums = new Uint32Array(32);

	/** `bytes` are shared by all responses, and compressed at the first call of `after`. */
	constructor(bytes: Uint8Array<ArrayBuffer>) {
		this.#bytes = bytes;
	}

	/** Valid until the next call. Undefined if `head` exceeds 65,535 bytes, or compression would save nothing. */
	after(head: Uint8Array | string): Uint8Array | undefined {
		const tail = this.#bytes;
		const length = Buffer.byteLength(head);
		if (length > maxStoredLength || tail.length < minGzipBytes) return undefined;
		const file = this.#fileFor(length);
		const storedAt = this.#deflatedAt - length;
		const blockAt = storedAt - storedHeaderLength;
		const start = blockAt - memberHeader.length;
		file.set(memberHeader, start);
		// A stored block, and not the last block. It ends on a whole byte, where the deflated blocks begin.
		file[blockAt] = 0;
		file.writeUInt16LE(length, blockAt + 1);
		file.writeUInt16LE(~length & 0xffff, blockAt + 3);
		if (typeof head === "string") file.write(head, storedAt);
		else file.set(head, storedAt);
		const trailerAt = this.#trailerAt;
		file.writeUInt32LE(this.#checksumAfter(crc32(head)), trailerAt);
		file.writeUInt32LE((length + tail.length) >>> 0, trailerAt + 4);
		return file.subarray(start);
	}

	#fileFor(length: number): Buffer {
		const deflatedAt = memberHeader.length + storedHeaderLength + length;
		if (this.#file && deflatedAt <= this.#deflatedAt) return this.#file;
		const deflated = this.#file?.subarray(this.#deflatedAt, this.#trailerAt) ?? this.#deflate();
		this.#deflatedAt = deflatedAt;
		this.#trailerAt = deflatedAt + deflated.length;
		this.#file = Buffer.allocUnsafeSlow(this.#trailerAt + trailerLength);
		this.#file.set(deflated, deflatedAt);
		return this.#file;
	}

	#deflate(): Uint8Array {
		const tail = this.#bytes;
		this.#checksum = crc32(tail);
		for (const bit of this.#bitChecksums.keys())
			this.#bitChecksums[bit] = crc32(tail, (1 << bit) >>> 0) ^ this.#checksum;
		return Bun.deflateSync(tail, { level: 9 });
	}

	#checksumAfter(before: number): number {
		let checksum = this.#checksum;
		for (let left = before; left !== 0; left &= left - 1) {
			const lowest = 31 - Math.clz32(left & -left);
			checksum ^= this.#bitChecksums[lowest] ?? 0;
		}
		return checksum >>> 0;
	}
}
