// Writes to the terminal without waiting for it. If `up` waited while somebody has paused the terminal (Ctrl-S), it
// would not read what the programs log, and they would block once their pipes are full.

import { constants, openSync, writeSync } from "node:fs";

const maxWaitingBytes = 1024 * 1024;
const retryMs = 100;
const lastMs = 500;

export class NonBlockingScreen {
	#waiting: Buffer = Buffer.alloc(0);
	#timer: Timer | undefined;

	/** `put` returns how many bytes the terminal took, possibly 0. */
	constructor(private readonly put = openOutput()) {}

	/** Buffers what the terminal does not take; drops the text if the buffer is full. */
	write(text: string): void {
		if (this.#waiting.length > maxWaitingBytes) return;
		this.#waiting = Buffer.concat([this.#waiting, Buffer.from(text)]);
		if (!this.#timer) this.#flush();
	}

	/** For at most half a second. Blocks, so call it only at the end of the process. */
	end(): void {
		clearTimeout(this.#timer);
		const end = performance.now() + lastMs;
		while (this.#take() && performance.now() < end) Bun.sleepSync(1);
	}

	#flush(): void {
		this.#timer = this.#take() ? setTimeout(() => this.#flush(), retryMs) : undefined;
	}

	#take(): boolean {
		while (this.#waiting.length > 0) {
			const written = this.put(this.#waiting);
			if (written === 0) return true;
			this.#waiting = this.#waiting.subarray(written);
		}
		return false;
	}
}

/** Once more, so that only these writes do not wait; otherwise the blocking write. */
function openOutput(): (bytes: Buffer) => number {
	const path = process.platform === "linux" ? "/proc/self/fd/1" : "/dev/tty";
	const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
	let file = 1;
	try {
		file = openSync(path, O_WRONLY | O_NONBLOCK | O_NOCTTY);
	} catch {
		// Writing to it may wait.
	}
	return (bytes) => {
		try {
			return writeSync(file, bytes);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "EAGAIN") return 0;
			// The terminal is gone. The signal that says so ends the program.
			return bytes.length;
		}
	};
}
