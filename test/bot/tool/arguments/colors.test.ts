// What the color arguments of tools accept.

import { expect, test } from "bun:test";
import * as v from "valibot";
import { color } from "../../../../src/bot/tool/arguments/arguments.ts";

test.each<[string | number, number]>([
	["#8E44AD", 0x8e44ad],
	[" #8e44ad ", 0x8e44ad],
	["8E44AD", 0x8e44ad],
	["0x8E44AD", 0x8e44ad],
	["#84A", 0x8844aa],
	["Purple", 0x800080],
	["white", 0xffffff],
	["#FFFFFF", 0xffffff],
	["none", 0],
	["#000000", 0],
	[0, 0],
	[0xffffff, 0xffffff],
])("%j is the color %d", (input, value) => {
	expect(v.parse(color, input)).toBe(value);
});

test.each([[-1], [0x1000000], [1.5], [""], ["purplish"], ["#8E44A"], ["#8E44AD0"], ["rgb(1, 2, 3)"]])(
	"%j is no color",
	(input) => {
		expect(v.safeParse(color, input).success).toBe(false);
	},
);
