// The gateway names keys and connections that have ended, and the bot withdraws what they have asked for.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { isObject } from "../../../src/lib/json.ts";
import type { Principal } from "../../../src/lib/principal.ts";
import { waitingMethod } from "../../../src/mcp/approval.ts";
import { type ApprovalWorld, buttonsOf, key, pendingId, startApprovalWorld, titleOf } from "./approval-world.ts";

let world: ApprovalWorld;
beforeAll(async () => {
	world = await startApprovalWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Has the principal ask to ban zoe. */
async function ask(principal: Principal) {
	const { id } = world.simulator.user("zoe");
	const answer = await world.call(principal, "ban", { user_ids: [id] });
	const message = world.posts().at(-1);
	if (!message) throw new Error(`nothing was posted: ${answer.text}`);
	return { id: pendingId(answer), message };
}

/** Names ended principals, and returns those whose calls still wait. */
async function withdraw(...gone: string[]): Promise<unknown> {
	const { result } = await world.ask(undefined, waitingMethod, { gone });
	return isObject(result) ? result.waiting : undefined;
}

test("a waiting call of an ended key cannot be approved any more, and its message says why", async () => {
	const ended = key("ci:1");
	const other = key("ops:1");
	const asked = await ask(ended);
	const kept = await ask(other);
	expect(await withdraw("key:unknown:1")).toEqual(expect.arrayContaining([ended.id, other.id]));
	expect(await withdraw(ended.id)).toEqual([other.id]);
	const shown = await world.shown("withdrawn", asked.message);
	expect(titleOf(shown)).toContain("its key or connection has ended");
	expect(buttonsOf(shown)).toEqual(["Details"]);
	expect(await world.state(ended, asked.id)).toContain("was withdrawn");

	expect(buttonsOf(kept.message)).toEqual(["Approve", "Deny", "Details"]);
	await world.press("ada", "Deny", kept.message);
	expect(await withdraw()).toEqual([]);
});

test("a press that comes before the message is changed is told why nothing was done", async () => {
	const ended = key("ci:2");
	const { message } = await ask(ended);
	// Discord keeps the buttons.
	world.simulator.faults.refuse("PATCH /channels/:channel_id/messages/:message_id", 50013, { times: 1 });
	await withdraw(ended.id);
	expect(await world.press("ada", "Approve", message)).toContain(
		"The key or connection that made this request has ended.",
	);
	expect(world.guild.bans.has(world.simulator.user("zoe").id)).toBe(false);
});

test("only the gateway itself can withdraw calls", async () => {
	const { error } = await world.ask(key("ci:3"), waitingMethod, { gone: [] });
	expect(error).toMatchObject({ code: -32601 });
});
