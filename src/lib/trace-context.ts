// The trace to which a request belongs (W3C Trace Context). The gateway and the bots pass it on and log its id; they
// create no spans. https://www.w3.org/TR/trace-context/ An MCP message may have the trace in `_meta`:
// https://modelcontextprotocol.io/seps/414-request-meta

/** `id` is for log lines; the header values are passed on unchanged. */
export interface TraceContext {
	/** 32 hexadecimal digits. */
	id: string;
	/** Undefined if only the message names the trace. */
	traceparent: string | undefined;
	/** Of tracing systems, which alone read it. Undefined without a valid `traceparent`. */
	tracestate: string | undefined;
}

/** What can be sent in a header. */
const sentState = /^[\x20-\x7e]{1,4096}$/;

/** Undefined if neither is valid. A trace in `meta` gives the `id`, because a proxy may have replaced the header. */
export function readTrace(headers: Headers, meta: unknown): TraceContext | undefined {
	const header = headers.get("traceparent");
	const own = (meta as { traceparent?: unknown } | null | undefined)?.traceparent;
	if (header === null && own === undefined) return undefined;
	const headerId = traceIdOf(header);
	const id = traceIdOf(own) ?? headerId;
	if (id === undefined) return undefined;
	const traceparent = headerId === undefined ? undefined : (header as string);
	const state = headerId === undefined ? null : headers.get("tracestate");
	return { id, traceparent, tracestate: state !== null && sentState.test(state) ? state : undefined };
}

function traceIdOf(value: unknown): string | undefined {
	if (typeof value !== "string") return undefined;
	// Later versions of the standard may add fields at the end.
	const match =
		/^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-[\x21-\x7e]{1,256})?$/.exec(value);
	const [, version, id, more] = match ?? [];
	return version === "00" && more !== undefined ? undefined : id;
}
