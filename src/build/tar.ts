// Writes tar archives (ustar) reproducibly: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html

interface TarFile {
	/** At most 100 bytes. */
	name: string;
	bytes: Uint8Array;
	isExecutable: boolean;
}

interface TarLink {
	/** At most 100 bytes. */
	name: string;
	/** Relative to the link's directory, at most 100 bytes. */
	target: string;
}

type TarEntry = TarFile | TarLink;

const blockSize = 512;

/** `time` (seconds since 1970) is the modification time of all. */
export function createTar(entries: readonly TarEntry[], time: number): Uint8Array {
	const parts = entries.flatMap((entry) => {
		if ("target" in entry) return [header(entry, time)];
		const padding = -entry.bytes.length & (blockSize - 1);
		return [header(entry, time), entry.bytes, new Uint8Array(padding)];
	});
	return Buffer.concat([...parts, new Uint8Array(2 * blockSize)]);
}

function header(entry: TarEntry, time: number): Buffer {
	const link = "target" in entry ? entry.target : undefined;
	for (const path of [entry.name, link ?? ""])
		if (Buffer.byteLength(path) > 100) throw new RangeError(`the file name is too long for tar: ${path}`);
	const block = Buffer.alloc(blockSize);
	const octal = (value: number, at: number, length: number) =>
		block.write(value.toString(8).padStart(length - 1, "0"), at);
	block.write(entry.name, 0);
	octal(modeOf(entry), 100, 8);
	octal(0, 108, 8); // uid
	octal(0, 116, 8); // gid
	octal("target" in entry ? 0 : entry.bytes.length, 124, 12);
	octal(time, 136, 12);
	block.write(link === undefined ? "0" : "2", 156); // regular file or symbolic link
	block.write(link ?? "", 157);
	block.write("ustar\x0000", 257, "latin1");
	// The checksum is computed with spaces in its own field.
	block.fill(" ", 148, 156);
	const sum = block.reduce((total, byte) => total + byte, 0);
	block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
	return block;
}

function modeOf(entry: TarEntry): number {
	if ("target" in entry) return 0o777;
	return entry.isExecutable ? 0o755 : 0o644;
}
