// The order and the slices of messages from Discord's Gateway.

import { expect, test } from "bun:test";
import { Inbox } from "../../../src/discord/connection/inbox.ts";

/** Takes the processor for longer than a slice of the inbox lasts. */
function takeLong(): void {
	const until = performance.now() + 20;
	while (performance.now() < until);
}

/** Resolves in the next round of the event loop. */
const nextRound = () => new Promise(setImmediate);

async function handleAll(inbox: Inbox): Promise<void> {
	while (!inbox.isEmpty) await nextRound();
}

/** An inbox whose messages take long to handle. "bad" throws. */
function slowInbox(maxLength?: number) {
	const handled: string[] = [];
	const handle = (text: string) => {
		handled.push(text);
		takeLong();
		if (text === "bad") throw new Error("bad");
	};
	return { handled, inbox: new Inbox(handle, maxLength) };
}

test("the first message is handled at once", () => {
	const handled: string[] = [];
	const inbox = new Inbox((text) => handled.push(text));
	inbox.add("a");
	expect(handled).toEqual(["a"]);
});

test("other work runs between messages that take long, and their order stays", async () => {
	const { handled, inbox } = slowInbox();
	for (const text of ["a", "b", "c", "d"]) inbox.add(text);
	expect(handled).toEqual(["a"]);
	await nextRound();
	expect(handled).toEqual(["a", "b"]);
	inbox.add("e");
	await handleAll(inbox);
	expect(handled).toEqual(["a", "b", "c", "d", "e"]);
});

test("what is dropped is never handled, and what comes later is", async () => {
	const { handled, inbox } = slowInbox();
	for (const text of ["a", "b", "c"]) inbox.add(text);
	inbox.clear();
	expect(inbox.isEmpty).toBe(true);
	await nextRound();
	await nextRound();
	inbox.add("d");
	await handleAll(inbox);
	expect(handled).toEqual(["a", "d"]);
});

test("beyond the maximum length the oldest messages are handled at once, in order", async () => {
	const { handled, inbox } = slowInbox(4);
	for (const text of ["aa", "bb", "cc", "dd", "eee"]) inbox.add(text);
	expect(handled).toEqual(["aa", "bb", "cc", "dd"]);
	await handleAll(inbox);
	expect(handled).toEqual(["aa", "bb", "cc", "dd", "eee"]);
	for (const text of ["ff", "longer than all", "gg"]) inbox.add(text);
	await handleAll(inbox);
	expect(handled.slice(5)).toEqual(["ff", "longer than all", "gg"]);
});

test("a message that throws holds up no later one", async () => {
	const { handled, inbox } = slowInbox();
	expect(() => inbox.add("bad")).toThrow("bad");
	for (const text of ["a", "b"]) inbox.add(text);
	await handleAll(inbox);
	expect(handled).toEqual(["bad", "a", "b"]);
});

test("a message that waits arrives as it was sent, whatever its characters", async () => {
	const { handled, inbox } = slowInbox();
	const texts = ["", "\ufeffé", "李伟 🍞 👩‍🍳", "\0\u{10ffff}", "x".repeat(99_999)];
	for (const text of ["first", ...texts]) inbox.add(text);
	await handleAll(inbox);
	expect(handled).toEqual(["first", ...texts]);
});
