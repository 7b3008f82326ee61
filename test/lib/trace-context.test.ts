// The trace of a request: https://www.w3.org/TR/trace-context/

import { describe, expect, test } from "bun:test";
import { readTrace } from "../../src/lib/trace-context.ts";

const id = "4bf92f3577b34da6a3ce929d0e0e4736";
const other = "0af7651916cd43dd8448eb211c80319c";
const parentId = "00f067aa0ba902b7";
const valid = `00-${id}-${parentId}-01`;

const read = (headers: Record<string, string>, meta?: unknown) => readTrace(new Headers(headers), meta);

test("without a traceparent there is no trace", () => {
	expect(read({})).toBeUndefined();
	expect(read({ tracestate: "a=b" }, {})).toBeUndefined();
	expect(read({}, null)).toBeUndefined();
	expect(read({}, "text")).toBeUndefined();
});

describe("traceparent", () => {
	test.each([valid, `00-${id}-${parentId}-ff`, `01-${id}-${parentId}-00`, `cc-${id}-${parentId}-00-later`])(
		"%s is passed on as it is",
		(traceparent) => {
			expect(read({ traceparent })).toEqual({ id, traceparent, tracestate: undefined });
		},
	);

	test.each([
		"",
		"x",
		`00-${id}-${parentId}`,
		`00-${id}-${parentId}-0`,
		`00-${id}-${parentId}-01-more`,
		`01-${id}-${parentId}-01.more`,
		`ff-${id}-${parentId}-01`,
		`00-${id.toUpperCase()}-${parentId}-01`,
		`00-${"0".repeat(32)}-${parentId}-01`,
		`00-${id}-${"0".repeat(16)}-01`,
		`00-${id.slice(1)}-${parentId}-01`,
		`01-${id}-${parentId}-01-${"x".repeat(257)}`,
		`${valid}, ${valid}`,
	])("%j is ignored, with its tracestate", (traceparent) => {
		expect(read({ traceparent, tracestate: "a=b" })).toBeUndefined();
	});
});

describe("tracestate", () => {
	test.each(["a=b", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=1 , b_-*/=x y,, fw529a3039@dt=FfAB"])(
		"%s is passed on as it is",
		(tracestate) => {
			expect(read({ traceparent: valid, tracestate })?.tracestate).toBe(tracestate);
		},
	);

	test.each(["", "a=\u00e4", `a=${"v".repeat(5_000)}`])("%j is left out", (tracestate) => {
		expect(read({ traceparent: valid, tracestate })).toEqual({ id, traceparent: valid, tracestate: undefined });
	});
});

describe("_meta", () => {
	test("names the trace without headers, and there is nothing to pass on in headers", () => {
		expect(read({ tracestate: "a=b" }, { traceparent: valid })).toEqual({
			id,
			traceparent: undefined,
			tracestate: undefined,
		});
	});

	test("comes before the header, which is passed on all the same", () => {
		const traceparent = `00-${other}-${parentId}-00`;
		expect(read({ traceparent }, { traceparent: valid })).toEqual({ id, traceparent, tracestate: undefined });
	});

	test.each([1, "x", { id }, null])("is ignored if %j is the traceparent", (traceparent) => {
		expect(read({}, { traceparent })).toBeUndefined();
		expect(read({ traceparent: valid }, { traceparent })?.id).toBe(id);
	});
});
