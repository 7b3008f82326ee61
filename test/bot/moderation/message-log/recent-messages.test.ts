import { expect, test } from "bun:test";
import { RecentMessages } from "../../../../src/bot/moderation/message-log/recent-messages.ts";

const message = (id: string, text = "", authorId = "1") => ({ id, channelId: "1", authorId, at: 0, text, files: [] });

test("a guild's oldest messages are forgotten when it has too many, and all when they are too old", () => {
	let now = 0;
	const recent = new RecentMessages({ keptMs: 100, messages: 2, bytes: 1e6 }, () => now);
	for (const id of ["1", "2", "3"]) recent.set("a", message(id));
	recent.set("b", message("4"));
	expect(["1", "2", "3"].map((id) => recent.get("a", id)?.id)).toEqual([undefined, "2", "3"]);
	now = 50;
	// A new text of a message does not make it younger.
	recent.set("a", message("2", "new"));
	recent.set("a", message("5"));
	now = 100;
	recent.expire();
	expect([recent.get("a", "2"), recent.get("a", "3"), recent.get("b", "4")]).toEqual([undefined, undefined, undefined]);
	expect(recent.get("a", "5")?.id).toBe("5");
	recent.forget("a");
	expect(recent.bytes).toBe(0);
});

test("beyond the limit of bytes, those of the guild with the most messages are forgotten first", () => {
	const recent = new RecentMessages({ keptMs: 1e9, messages: 100, bytes: 10_000 }, () => 0);
	recent.set("small", message("0", "x"));
	for (let id = 1; id <= 50; id += 1) recent.set("large", message(String(id), "x".repeat(1_000), String(id % 2)));
	expect(recent.bytes).toBeLessThanOrEqual(10_000);
	expect(recent.get("small", "0")?.text).toBe("x");
	expect(recent.by("large", "0", 2).map(({ id }) => id)).toEqual(["48", "50"]);
	recent.forget("large");
	recent.forget("small");
	expect(recent.bytes).toBe(0);
});
