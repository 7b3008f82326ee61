// What raid mode does with one setting, for every order of requests, lost responses, kills and changes by others.

import { describe, expect, test } from "bun:test";
import { confirmed, formerValue, nextMove, renewalInMs } from "../../../../src/bot/moderation/raid/raid-rules.ts";
import type { RaidMode, RaidStep } from "../../../../src/bot/store/tables/raid-modes.ts";

const hourMs = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const channel = "111111111111111111";

/** A setting of a guild, with what is stored of it. */
class Setting {
	step: RaidStep | undefined;
	mode: RaidMode;
	now = start;
	/** Values that were sent, in order. */
	readonly sent: number[] = [];
	refusal: string | undefined;

	constructor(
		readonly thing: string,
		public value: number | undefined,
	) {
		this.mode = {
			guild_id: "1",
			wanted: "off",
			run: 0,
			moderator_id: null,
			ends_at: null,
			told: 1,
			mark: "",
			slowmode: 30,
			asked_at: start,
			ended_at: null,
		};
	}

	turn(wanted: "on" | "off", slowmode = this.mode.slowmode): this {
		this.mode = { ...this.mode, wanted, slowmode, run: this.mode.run + 1 };
		return this;
	}

	/**
	 * Carries out the next move. "lost": the request takes effect, and its response is lost. "unsent": it never arrives.
	 * Returns false if there is none.
	 */
	move(fate: "done" | "lost" | "unsent" = "done"): boolean {
		const { mode, thing, step, value, now } = this;
		const move = nextMove({ mode, thing, step, value, now, refusal: () => this.refusal });
		if (!move) return false;
		this.step = move.step;
		if (move.send === undefined) return true;
		if (fate !== "unsent") {
			this.sent.push(move.send);
			this.value = move.send;
		}
		if (fate === "done") this.step = confirmed(move.step);
		return true;
	}

	/** Carries out moves until there is none. */
	settle(): this {
		for (let count = 0; this.move(); count += 1) if (count > 5) throw new Error("it never ends");
		return this;
	}
}

test("what is strict enough is left", () => {
	const slow = new Setting(channel, 60).turn("on").settle();
	const level = new Setting("verification", 4).turn("on").settle();
	for (const setting of [slow, level]) {
		expect(setting.step?.state).toBe("kept");
		setting.value = 0;
		setting.turn("off").settle();
		expect(setting.sent).toEqual([]);
	}
});

test("a change by others is left, while raid mode is on and when it is turned off", () => {
	const slow = new Setting(channel, 0).turn("on").settle();
	slow.value = 10;
	slow.settle();
	expect(slow.value).toBe(10);
	slow.turn("off").settle();
	expect(slow).toMatchObject({ value: 10, step: { state: "changed" } });
	// That it has the former value is fine, too.
	const back = new Setting(channel, 0).turn("on").settle();
	back.value = 0;
	expect(back.turn("off").settle().step?.state).toBe("restored");
	expect(back.sent).toEqual([30]);
});

test("the former value survives turning it on twice, with another slow mode", () => {
	const slow = new Setting(channel, 3).turn("on").settle();
	slow.turn("on").settle();
	slow.turn("on", 120).settle();
	expect(slow.value).toBe(120);
	expect(slow.turn("off").settle().value).toBe(3);
	expect(slow.sent).toEqual([30, 120, 3]);
});

test("a pause of invites is renewed after 11 hours, and after an outage of days", () => {
	const invites = new Setting("invites", 0).turn("on").settle();
	expect(invites.value).toBe(start + 23 * hourMs);
	invites.now += 10 * hourMs;
	expect(renewalInMs(invites.value ?? 0, invites.now)).toBe(hourMs);
	expect(invites.move()).toBe(false);
	invites.now += hourMs + 1_000;
	invites.settle();
	expect(invites.value).toBe(invites.now + 23 * hourMs);
	// Discord ends the pause.
	invites.now += 72 * hourMs;
	invites.value = 0;
	expect(invites.settle().value).toBe(invites.now + 23 * hourMs);
	expect(invites.turn("off").settle().value).toBe(0);
});

test("a pause is renewed although the moderator has left, and nothing else is changed", () => {
	const invites = new Setting("invites", 0).turn("on").settle();
	const slow = new Setting(channel, 0).turn("on").settle();
	const fresh = new Setting(channel, 0).turn("on");
	for (const setting of [invites, slow, fresh]) {
		setting.refusal = "the moderator has left the server";
		setting.now += 12 * hourMs;
	}
	expect(invites.settle().value).toBe(invites.now + 23 * hourMs);
	expect(fresh.settle()).toMatchObject({ value: 0, step: { state: "failed" } });
	expect(slow.turn("off").settle()).toMatchObject({ value: 30, step: { state: "stuck", note: slow.refusal } });
	slow.refusal = undefined;
	expect(slow.turn("off").settle().value).toBe(0);
});

test("a clock that jumps back a day does not shorten the pause", () => {
	const invites = new Setting("invites", 0).turn("on").settle();
	invites.now -= 24 * hourMs;
	expect(invites.settle().value).toBe(start + 23 * hourMs);
	invites.now += 36 * hourMs;
	expect(invites.settle().value).toBe(invites.now + 23 * hourMs);
});

test("a pause that somebody ended is left, and made again when raid mode is turned on again", () => {
	const invites = new Setting("invites", 0).turn("on").settle();
	invites.value = 0;
	invites.now += 12 * hourMs;
	invites.settle();
	expect(invites).toMatchObject({ value: 0, step: { state: "changed" } });
	expect(invites.turn("on").settle().value).toBe(invites.now + 23 * hourMs);
});

test("a pause of others is restored if it has not ended", () => {
	for (const [hours, left] of [
		[20, true],
		[1, false],
	] as const) {
		const until = start + hours * hourMs;
		const invites = new Setting("invites", until).turn("on").settle();
		invites.now += 2 * hourMs;
		expect(invites.turn("off").settle().value).toBe(left ? until : 0);
	}
});

describe("after any events, turning it off restores what was before", () => {
	const fates = ["done", "lost", "unsent"] as const;
	const events = [
		...fates.map((fate) => [fate, (one: Setting) => void one.move(fate)]),
		["on", (one: Setting) => void one.turn("on")],
		["on with 60 s", (one: Setting) => void one.turn("on", 60)],
		["off", (one: Setting) => void one.turn("off")],
		[
			"hours pass",
			(one: Setting) => {
				one.now += 13 * hourMs;
			},
		],
	] as [string, (one: Setting) => void][];

	/** All sequences of events of this length. */
	function sequences(length: number): (typeof events)[] {
		if (length === 0) return [[]];
		return sequences(length - 1).flatMap((before) => events.map((event) => [...before, event]));
	}

	test.each([
		[channel, 7],
		["verification", 1],
		["invites", 0],
	])("%s", (thing, before) => {
		for (const sequence of sequences(6)) {
			const setting = new Setting(thing, before).turn("on");
			for (const [, happen] of sequence) happen(setting);
			setting.turn("off").settle();
			const names = sequence.map(([name]) => name).join(", ");
			expect(`${names}: ${setting.value}`).toBe(`${names}: ${before}`);
			if (setting.step?.value_before) expect(formerValue(setting.step, setting.now)).toBe(before);
		}
	});

	test("or what somebody else set meanwhile", () => {
		for (const sequence of sequences(5))
			for (let at = 0; at <= sequence.length; at += 1) {
				const setting = new Setting(channel, 7).turn("on");
				for (const [, happen] of sequence.slice(0, at)) happen(setting);
				setting.value = 15;
				for (const [, happen] of sequence.slice(at)) happen(setting);
				setting.turn("off").settle();
				const names = sequence.map(([name]) => name).join(", ");
				expect(`${names}: ${setting.value}`).toBe(`${names}: 15`);
			}
	});
});
