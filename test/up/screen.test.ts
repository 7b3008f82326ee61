// A terminal that does not take what is written to it.

import { expect, test } from "bun:test";
import { NonBlockingScreen } from "../../src/up/screen.ts";
import { until } from "../support/until.ts";

/** A terminal that takes so many bytes at a time; none while it is paused. */
function startScreen(most = 4) {
	const state = { isPaused: false, text: "" };
	const screen = new NonBlockingScreen((bytes) => {
		if (state.isPaused) return 0;
		const taken = bytes.subarray(0, most);
		state.text += taken.toString("latin1");
		return taken.length;
	});
	return { screen, state };
}

test("what a terminal takes in parts arrives complete and in order", () => {
	const { screen, state } = startScreen();
	screen.write("hello, ");
	screen.write("world\n");
	expect(state.text).toBe("hello, world\n");
});

test("a paused terminal gets what was written when it goes on", async () => {
	const { screen, state } = startScreen();
	state.isPaused = true;
	screen.write("one ");
	screen.write("two ");
	expect(state.text).toBe("");
	state.isPaused = false;
	await until("it is written", () => state.text === "one two ");
	screen.write("three");
	expect(state.text).toBe("one two three");
});

test("what waits for a paused terminal has a limit", () => {
	const { screen, state } = startScreen(2 ** 20);
	state.isPaused = true;
	const line = "x".repeat(64 * 1024);
	for (let count = 0; count < 100; count++) screen.write(line);
	state.isPaused = false;
	screen.end();
	expect(state.text.length).toBe(17 * line.length);
});

test("at the end the rest is written, and a paused terminal is not waited for", () => {
	const { screen, state } = startScreen();
	state.isPaused = true;
	screen.write("rest");
	screen.end();
	state.isPaused = false;
	screen.end();
	expect(state.text).toBe("rest");
});
