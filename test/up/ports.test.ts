import { expect, test } from "bun:test";
import { assignPorts, fixedPort } from "../../src/up/ports.ts";

/** Assigns ports on a machine where these are in use by other programs. */
async function assign(
	wanted: Record<string, number | undefined>,
	{
		current = {},
		busy = [] as number[],
		reserved = [9100],
	}: { current?: Record<string, number>; busy?: number[]; reserved?: number[] } = {},
) {
	const requests = Object.entries(wanted);
	const ports = await assignPorts(
		requests.map(([name, wanted]) => ({ name, wanted })),
		{ current: new Map(Object.entries(current)), reserved, isFree: async (port) => !busy.includes(port) },
	);
	return Object.fromEntries(ports);
}

test("each instance gets the port in its .env", async () => {
	expect(await assign({ a: 9095, b: 9091 })).toEqual({ a: 9095, b: 9091 });
});

test("instances without a port get free ones from 9090 on, beside those that others have", async () => {
	expect(await assign({ a: undefined, b: undefined, c: 9090, d: undefined }, { busy: [9092] })).toEqual({
		a: 9091,
		b: 9093,
		c: 9090,
		d: 9094,
	});
});

test("of two instances with one port, the first keeps it", async () => {
	expect(await assign({ a: 9090, b: 9090 })).toEqual({ a: 9090, b: 9091 });
});

test("a new instance does not take the port of a running one", async () => {
	expect(await assign({ a: 9090, b: 9090 }, { current: { b: 9090 } })).toEqual({ a: 9091, b: 9090 });
	expect(await assign({ a: 9095, b: undefined }, { current: { b: 9095 } })).toEqual({ a: 9090, b: 9095 });
});

test("the gateway's port, and one that another program uses, are replaced", async () => {
	expect(await assign({ a: 9100, b: 9099 }, { busy: [9099] })).toEqual({ a: 9090, b: 9091 });
});

test("a port in use by the instance itself counts as free", async () => {
	expect(await assign({ a: 9095 }, { current: { a: 9095 }, busy: [9095] })).toEqual({ a: 9095 });
});

test("an instance whose port is taken keeps the one that it got instead", async () => {
	expect(await assign({ a: 9090, b: 9090 }, { current: { a: 9090, b: 9091 } })).toEqual({ a: 9090, b: 9091 });
});

test("two instances can exchange their ports", async () => {
	expect(await assign({ a: 2, b: 1 }, { current: { a: 1, b: 2 } })).toEqual({ a: 2, b: 1 });
});

test.each([
	["9090", 9090],
	["1", 1],
	["0", undefined],
	["65536", undefined],
	["9090 ", undefined],
	["your-port", undefined],
	[undefined, undefined],
])("MCP_PORT=%p is the fixed port %p", (value, port) => {
	expect(fixedPort(value)).toBe(port);
});
