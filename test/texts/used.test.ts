// Messages that nothing writes are deleted.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { textsOf } from "../../src/texts/texts.ts";

const src = join(import.meta.dir, "../../src");

test("every message is written somewhere", async () => {
	let code = "";
	for await (const file of new Glob("**/*.ts").scan(src))
		if (!/^texts\/[a-z]{2}\.ts$/.test(file)) code += await Bun.file(join(src, file)).text();
	// Those of commands are made from the names of their definitions.
	const keys = Object.keys(textsOf("en")).filter((key) => !key.startsWith("command."));
	const literal = new Set([...code.matchAll(/"([\w.-]+)"/g)].map(([, text = ""]) => text));
	// Such as `case.action.${action}`.
	const patterns = [...code.matchAll(/`([\w.-]+(?:\$\{[^}`]+\}[\w.-]*)+)`/g)].map(([, text = ""]) =>
		text.split(/\$\{[^}]+\}/),
	);
	const made = patterns
		.filter(([start = ""]) => start.includes("."))
		.map((parts) => new RegExp(`^${parts.map((part) => part.replaceAll(".", "\\.")).join("[\\w.-]+")}$`));
	expect(keys.filter((key) => !literal.has(key) && !made.some((pattern) => pattern.test(key)))).toEqual([]);
});
