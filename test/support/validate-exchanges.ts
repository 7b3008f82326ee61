// Preloaded by bunfig.toml: fails each test in whose time an exchange with the simulator differed from Discord's document.

import { afterAll, afterEach, beforeAll } from "bun:test";
import { takeViolations } from "./discord-spec/violations.ts";

function check(): void {
	const violations = [...takeViolations()];
	if (violations.length === 0) return;
	const lines = violations.map(([problem, count]) => `${count} x ${problem}`);
	throw new Error(`REST exchanges differ from Discord's OpenAPI document:\n${lines.join("\n")}`);
}

beforeAll(check);
afterEach(check);
afterAll(check);
