// The list of variables in `--help`, and that both programs print the one of the schemas that they read.

import { expect, test } from "bun:test";
import { join } from "node:path";
import * as v from "valibot";
import { variables as botVariables } from "../../src/bot/config/settings.ts";
import { variables as gatewayVariables } from "../../src/gateway/config/config.ts";
import { describeVariables } from "../../src/lib/program/program.ts";

test("a row has a name, a description and a default, or says that it is required", () => {
	expect(
		describeVariables({
			A: v.pipe(v.string(), v.description("First")),
			LONG_NAME: v.pipe(v.optional(v.string(), "x"), v.description("Second")),
			B: v.pipe(v.optional(v.string()), v.description("Third")),
			C: v.pipe(v.optional(v.string()), v.description("Fourth"), v.metadata({ default: "y" })),
		}),
	).toBe(
		[
			"  A          First (required)",
			"  LONG_NAME  Second (default: x)",
			"  B          Third",
			"  C          Fourth (default: y)",
		].join("\n"),
	);
});

test("long descriptions wrap at 120 columns, below the first line", () => {
	const words = Array.from({ length: 40 }, () => "words").join(" ");
	const lines = describeVariables({ NAME: v.pipe(v.optional(v.string()), v.description(words)) }).split("\n");
	expect(lines.length).toBe(3);
	expect(lines.every((line) => line.length <= 120)).toBe(true);
	expect(lines.slice(1).every((line) => /^ {8}w/.test(line))).toBe(true);
	expect(lines.join(" ").match(/words/g)).toHaveLength(40);
});

const programs = {
	gateway: { variables: gatewayVariables, patterns: ["GUILDS_<NAME>"] },
	bot: { variables: botVariables, patterns: ["<NAME>_API_KEY"] },
};

test.each(Object.entries(programs))(
	"%s --help lists every variable that the program reads, with a description",
	(program, { variables, patterns }) => {
		const { stdout } = Bun.spawnSync([
			process.execPath,
			join(import.meta.dir, `../../src/${program}/main.ts`),
			"--help",
		]);
		const rows = [...stdout.toString().matchAll(/^ {2}([A-Z<][A-Z_<>]+) {2,}(\S.*)$/gm)].map(
			([, name, description]) => ({ name, description }),
		);
		expect(rows.map(({ name }) => name)).toEqual([...Object.keys(variables), ...patterns]);
		// Without a description a row begins with its default.
		expect(rows.filter(({ description }) => !/^[A-Z]/.test(description ?? ""))).toEqual([]);
	},
);
