// How often tokens can be tried, and from where.

import { expect, test } from "bun:test";
import { clientAddress, SenderLimit } from "../../../src/gateway/http/sender-limit.ts";

const from = (forwarded: string | undefined, peer: string | undefined) => {
	const headers = forwarded ? { "X-Forwarded-For": forwarded } : undefined;
	const request = new Request("http://localhost", { ...(headers && { headers }) });
	return clientAddress(request, peer);
};

test.each([
	["203.0.113.5", undefined, "203.0.113.5"],
	["203.0.113.5", "198.51.100.1", "203.0.113.5"],
	["172.32.0.1", "198.51.100.1", "172.32.0.1"],
	["2001:db8::1", "198.51.100.1", "2001:db8::1"],
	["127.0.0.1", undefined, "127.0.0.1"],
	["127.0.0.1", "198.51.100.1", "198.51.100.1"],
	["::ffff:10.1.2.3", "198.51.100.1", "198.51.100.1"],
	["172.18.0.2", "198.51.100.1", "198.51.100.1"],
	["192.168.0.1", "198.51.100.1", "198.51.100.1"],
	["fd00::1", "198.51.100.1", "198.51.100.1"],
	// A client can send the first addresses itself; only the last is the proxy's.
	["127.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"],
	["127.0.0.1", "198.51.100.1:51234", "198.51.100.1"],
	["127.0.0.1", "[2001:db8::1]:51234", "2001:db8::1"],
	["127.0.0.1", "[2001:db8::1]", "2001:db8::1"],
	["127.0.0.1", "2001:db8::1", "2001:db8::1"],
	["127.0.0.1", "x".repeat(500), "x".repeat(45)],
	[undefined, "198.51.100.1", "unknown"],
])("a request from %s, passed on for %s, is from %s", (peer, forwarded, address) => {
	expect(from(forwarded, peer)).toBe(address);
});

test("an IPv6 network counts as one, and what is counted is bounded", () => {
	const clock = { now: 0 };
	const limit = new SenderLimit({ perNetwork: 10, total: 1_000, now: () => clock.now });
	for (let tried = 0; tried < 10; tried++) limit.add(`2001:db8::${tried}`);
	expect(limit.waitMs("2001:db8::ffff")).toBe(60_000);
	expect(limit.waitMs("2001:db8:0:1::1")).toBe(0);
	for (let other = 0; other < 5_000; other++) limit.add(`2001:db8:${other.toString(16)}:9::1`);
	// The network was dropped in favor of newer ones.
	expect(limit.waitMs("2001:db8::ffff")).toBe(0);
	clock.now = 60_000;
	expect(limit.add("2001:db8:1387:9::1")).toBe(true);
});

test("the total spares networks that sent little, up to ten times the total", () => {
	const clock = { now: 0 };
	const now = () => clock.now;
	const limit = new SenderLimit({ perNetwork: 20, total: 20, now });
	const takes = (address: string, count: number) =>
		Array.from({ length: count }, () => limit.take(address)).filter(Boolean).length;
	expect(takes("198.51.100.1", 30)).toBe(20);
	expect(takes("198.51.100.2", 5)).toBe(3);
	for (let other = 3; other < 100; other++) takes(`198.51.100.${other}`, 3);
	expect(takes("203.0.113.1", 1)).toBe(0);
	clock.now = 60_000;
	expect(takes("198.51.100.1", 30)).toBe(20);
});
