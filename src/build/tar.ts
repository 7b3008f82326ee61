// Writes tar archives (ustar) reproducibly: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html

export interface TarEntry {
	/** Path of the file in the tar archive, at most 100 bytes long. */
	name: string;
	bytes: Uint8Array;
	executable: boolean;
}

const blockSize = 512;

/**
 * Returns the bytes of a tar archive with these files. `time` (seconds since 1970) becomes the modification time of all
 * files.
 */
export function createTar(
	entries: readonly TarEntry[],
	time: number,
): Uint8Array {
	const parts = entries.flatMap((entry) => [
		header(entry, time),
		entry.bytes,
		new Uint8Array(-entry.bytes.length & (blockSize - 1)),
	]);
	return Buffer.concat([...parts, new Uint8Array(2 * blockSize)]);
}

function header({ name, bytes, executable }: TarEntry, time: number): Buffer {
	if (Buffer.byteLength(name) > 100)
		throw new RangeError(`the file name is too long for tar: ${name}`);
	const block = Buffer.alloc(blockSize);
	const octal = (value: number, at: number, length: number) =>
		block.write(value.toString(8).padStart(length - 1, "0"), at);
	block.write(name, 0);
	octal(executable ? 0o755 : 0o644, 100, 8);
	octal(0, 108, 8); // uid
	octal(0, 116, 8); // gid
	octal(bytes.length, 124, 12);
	octal(time, 136, 12);
	block.write("0", 156); // regular file
	block.write("ustar\x0000", 257, "latin1");
	// The checksum is computed with spaces in its own field.
	block.fill(" ", 148, 156);
	const sum = block.reduce((total, byte) => total + byte, 0);
	block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
	return block;
}
