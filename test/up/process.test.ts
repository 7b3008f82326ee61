import { expect, test } from "bun:test";
import { endReasonIn } from "../../src/up/process.ts";

const line = (fields: object) =>
	JSON.stringify({
		time: "2020-01-02T03:04:05.678Z",
		level: "error",
		message: "program is stopping because of an error",
		...fields,
	});

test.each([
	[line({ reason: "Discord rejected the token" }), "Discord rejected the token"],
	[line({ reason: "one\ntwo" }), "one\ntwo"],
	[line({ reason: 5 }), undefined],
	[line({}), undefined],
	[line({ message: "another", reason: "no" }), undefined],
	[line({ message: "another", text: line({ reason: "no" }) }), undefined],
	[`${line({ reason: "cut" }).slice(0, -2)}`, undefined],
	["", undefined],
])("the reason in %p is %p", (text, reason) => {
	expect(endReasonIn(text)).toBe(reason);
});
