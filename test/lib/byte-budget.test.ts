import { expect, test } from "bun:test";
import { ByteBudget, type ByteHolder } from "../../src/lib/byte-budget.ts";

const budget = () => new ByteBudget(100);
const alpha = {};
const beta = {};

/** A holder, and how often it had to give up. */
function holder(owner: object): ByteHolder & { overflows: number } {
	return {
		owner,
		heldBytes: 0,
		overflows: 0,
		overflow() {
			this.overflows++;
		},
	};
}

test("what fits is held until it is released", () => {
	const room = budget();
	const [one, other] = [holder(alpha), holder(beta)];
	room.hold(one, 40);
	room.hold(one, 20);
	room.hold(other, 40);
	expect(room.usedBytes).toBe(100);
	room.release(one);
	expect([room.usedBytes, one.heldBytes]).toEqual([40, 0]);
	room.release(one);
	expect(room.usedBytes).toBe(40);
	room.hold(one, 60);
	expect([one.overflows, other.overflows]).toEqual([0, 0]);
});

test("what does not fit costs the largest of the owner who holds most", () => {
	const room = budget();
	const [small, large] = [holder(alpha), holder(alpha)];
	const other = holder(beta);
	room.hold(small, 25);
	room.hold(large, 30);
	// The largest of all, and not of the owner who holds most.
	room.hold(other, 40);
	room.hold(other, 6);
	expect([small, large, other].map(({ overflows }) => overflows)).toEqual([0, 1, 0]);
	expect(room.usedBytes).toBe(71);
});

test("who holds all of it has to go, and leaves room", () => {
	const room = budget();
	const one = holder(alpha);
	room.hold(one, 100);
	room.hold(one, 1);
	expect([one.overflows, one.heldBytes, room.usedBytes]).toEqual([1, 0, 0]);
	room.hold(one, 100);
	expect(one.overflows).toBe(1);
});

test("several have to go where one is not enough", () => {
	const room = budget();
	const many = Array.from({ length: 10 }, () => holder(alpha));
	for (const one of many) room.hold(one, 10);
	const other = holder(beta);
	room.hold(other, 35);
	const gone = many.filter(({ overflows }) => overflows > 0);
	expect([gone.length, other.overflows, room.usedBytes]).toEqual([4, 0, 95]);
});
