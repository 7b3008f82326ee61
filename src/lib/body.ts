// A request's body, within bounds: nobody can fill the memory, or have us wait, with what they send or do not send.

export interface BodyLimits {
	/** The longest body that is read, whether or not its length was announced. */
	maxBytes: number;
	/** How long it may take to arrive. */
	timeoutMs: number;
}

/** The whole body; "too long" as soon as there is more than that, and "late" when it has not arrived in time. */
export function readBody(
	request: Request,
	{ maxBytes, timeoutMs }: BodyLimits,
): Promise<Uint8Array | "too long" | "late"> {
	return within(timeoutMs, readAtMost(request, maxBytes));
}

/** It is counted while it is read. */
async function readAtMost(
	request: Request,
	maxBytes: number,
): Promise<Uint8Array | "too long"> {
	const announced = request.headers.get("content-length");
	if (announced !== null)
		return Number(announced) > maxBytes ? "too long" : request.bytes();
	if (!request.body) return new Uint8Array();
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of request.body) {
		length += chunk.length;
		if (length > maxBytes) return "too long";
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

/** The outcome of `work`, or "late" when it takes longer than `ms`. */
export async function within<T>(
	ms: number,
	work: Promise<T>,
): Promise<T | "late"> {
	const { promise: late, resolve } = Promise.withResolvers<"late">();
	const timer = setTimeout(resolve, ms, "late");
	try {
		return await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}
