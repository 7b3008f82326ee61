// The log of members' names beyond its first segment.

import { expect, test } from "bun:test";
import { NameLog } from "../../../../src/bot/discord/members/name-log.ts";

/** More than two segments. */
const count = 140_000;

const member = (at: number) => ({
	id: String(100_000_000_000_000_000n + BigInt(at)),
	display: `Member ${at}`,
	names: [`member ${at}`],
});

test("members of all segments are known, found and removed", () => {
	const log = new NameLog();
	for (let at = 0; at < count; at += 1) log.add(member(at));
	const some = [0, 65_535, 65_536, 65_537, 131_071, 131_072, count - 1];
	for (const at of some) {
		const { id, display, names } = member(at);
		expect(log.at(at)).toEqual({ id, display });
		expect(log.has({ id, display, names })).toBe(true);
		expect(log.has({ id, display: "Other", names })).toBe(false);
		const found: number[] = [];
		log.scan(`member ${at}`, (slot, rank) => rank === 0 && found.push(slot));
		expect(found).toEqual([at]);
		const to = Buffer.alloc(64);
		const length = log.copy(at, to, 0);
		expect(to.toString("utf8", 0, length)).toContain(`member ${at}`);
	}
	for (const at of some) {
		expect(log.remove(member(at).id)).toBe(true);
		expect(log.remove(member(at).id)).toBe(false);
		expect(log.has(member(at))).toBe(false);
	}
	expect(log.size).toBe(count - some.length);
	expect(log.added).toBe(count);
	const left = new Set(log.slots);
	expect(left.size).toBe(count - some.length);
	for (const at of some) expect(left.has(at)).toBe(false);
});
