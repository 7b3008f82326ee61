// Which fields of an edit are sent to Discord.

import { expect, test } from "bun:test";
import { changesOf } from "../../../../src/bot/tool/arguments/arguments.ts";
import { RpcError } from "../../../../src/mcp/json-rpc.ts";

const current: { name: string; topic: string | null; tags: string[] } = {
	name: "soup",
	topic: "Hot",
	tags: ["a", "b"],
};

test("only fields that differ are changed, those that become empty too", () => {
	expect(changesOf(current, { name: "soup", topic: null, tags: ["b", "a"] }, "#soup")).toEqual({
		topic: null,
		tags: ["b", "a"],
	});
	expect(changesOf(current, { topic: "" }, "#soup")).toEqual({ topic: "" });
});

test("an edit to what is so already names the given fields", () => {
	expect(() => changesOf(current, { name: "soup", tags: ["a", "b"] }, "#soup")).toThrow(
		"#soup already has the given name, tags. Nothing was done.",
	);
});

test("an edit without a field is invalid", () => {
	expect(() => changesOf(current, {}, "#soup")).toThrow(RpcError);
	expect(() => changesOf(current, { name: undefined }, "#soup")).toThrow(RpcError);
});
