import { expect, test } from "bun:test";
import { type RunEvent, type RunState, transition } from "../../../../src/bot/features/chat/chat-run.ts";

const slot: RunEvent = { type: "slot" };
const stop: RunEvent = { type: "stop" };
const restart: RunEvent = { type: "end", reason: "restart" };
const timeout: RunEvent = { type: "end", reason: "timeout" };
const deleted: RunEvent = { type: "end", reason: "deleted" };

test.each<[string, RunEvent[], RunState]>([
	["that gets a slot answers", [slot], { name: "answering" }],
	["that ends without a slot has no answer", [restart, deleted, stop], { name: "cancelled", reason: "restart" }],
	["that gets its slot as it ends completes its answer", [restart, slot], { name: "ending", reason: "restart" }],
	["that gets its slot as it is deleted writes nothing", [deleted, slot], { name: "stopped", reason: "deleted" }],
	["keeps the first reason to end", [slot, timeout, restart], { name: "ending", reason: "timeout" }],
	["stops when it is deleted", [slot, deleted, restart], { name: "stopped", reason: "deleted" }],
	["stops when it is deleted while it ends", [slot, timeout, deleted], { name: "stopped", reason: "timeout" }],
	["stops when the grace period is over", [slot, restart, stop], { name: "stopped", reason: "restart" }],
])("a question %s", (_, events, state) => {
	expect(events.reduce<RunState>(transition, { name: "waiting" })).toEqual(state);
});
