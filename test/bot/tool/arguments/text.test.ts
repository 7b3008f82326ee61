// The lengths of texts in arguments.

import { expect, test } from "bun:test";
import * as v from "valibot";
import { text } from "../../../../src/bot/tool/arguments/arguments.ts";

test.each([
	["", false],
	["a", false],
	["ab", true],
	["🍲🍲🍲", true],
	["abcd", false],
])("%j as a text of 2 to 3 characters is accepted: %p", (input, isAccepted) => {
	const parsed = v.safeParse(text(2, 3, "A text."), input);
	expect(parsed.success).toBe(isAccepted);
	expect(parsed.issues?.map(({ message }) => message)).toEqual(
		isAccepted ? undefined : [`expected 2 to 3 characters, received ${input.length}`],
	);
});
