import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { baseUrl, ConfigError, integer, parseSettings, port, trimEnv, unknownKeys } from "../../src/lib/config.ts";

const secret = "hunter2-hunter2-hunter2-hunter2";

describe("parseSettings", () => {
	const schema = v.strictObject({
		TOKEN: v.pipe(v.string(), v.minLength(40, "expected 40 characters")),
		PORT: port,
		NAME: v.string(),
		MODE: v.picklist(["fast", "slow"]),
		nested: v.strictObject({ deep: v.boolean() }),
	});

	test("every issue is found at once, each under its key", () => {
		const { issues } = parseSettings(schema, {
			TOKEN: secret,
			PORT: "70000",
			MODE: secret,
			nested: { deep: "yes", depp: 1 },
			modes: secret,
			stray: secret,
		});
		expect(issues.toSorted()).toEqual([
			'MODE: expected ("fast" | "slow"), received "[31 characters]"',
			"NAME: is required",
			"PORT: expected a whole number from 0 to 65535, received 70000",
			"TOKEN: expected 40 characters",
			"modes: is not a known key; did you mean MODE?",
			'nested.deep: expected true or false, received "yes"',
			"nested.depp: is not a known key; did you mean deep?",
			"stray: is not a known key",
		]);
	});

	test("what every object inherits is no key", () => {
		const nested = { deep: true, toString: 1 };
		expect(unknownKeys(schema, { nested, valueOf: 1 })).toEqual([
			{ path: ["nested", "toString"], known: ["deep"] },
			{ path: ["valueOf"], known: Object.keys(schema.entries) },
		]);
	});

	test("they are found in tables whose keys may be any", () => {
		const named = v.record(v.string(), v.strictObject({ size: v.number() }));
		const { issues } = parseSettings(v.object({ named }), {
			named: { a: { size: 1 }, b: { sizee: 1, size: 2 }, c: { size: 3, x: 1 } },
		});
		expect(issues).toEqual(["named.b.sizee: is not a known key; did you mean size?", "named.c.x: is not a known key"]);
	});

	test("a number of tokens is no secret", () => {
		const { issues } = parseSettings(v.object({ max_tokens: v.number() }), { max_tokens: "many" });
		expect(issues).toEqual(['max_tokens: expected a number, received "many"']);
	});

	test.each(["DISCORD_TOKEN", "GAME_VERIFY_SECRET", "X_API_KEY", "SIGNING_KEY", "DB_PASSWORD", "DATABASE_URL"])(
		"the value of %s is not shown, however short",
		(key) => {
			const { issues } = parseSettings(v.strictObject({ [key]: v.picklist(["a"]) }), { [key]: "hunter2" });
			expect(issues).toEqual([`${key}: expected "a"`]);
		},
	);

	test("no issue shows a value that may be a secret", () => {
		const { issues } = parseSettings(schema, {
			TOKEN: secret,
			PORT: [secret],
			NAME: { [secret]: secret },
			MODE: secret,
			nested: secret,
		});
		expect(issues).toHaveLength(5);
		expect(issues.join()).not.toContain(secret);
	});

	test("without issues there are settings", () => {
		const settings = { TOKEN: secret.repeat(2), PORT: "1", NAME: "n" };
		expect(parseSettings(schema, { ...settings, MODE: "fast", nested: { deep: true } })).toEqual({
			settings: { ...settings, PORT: 1, MODE: "fast", nested: { deep: true } },
			issues: [],
		});
	});
});

test("a ConfigError says where, how many and what", () => {
	expect(new ConfigError("a.toml", ["x: y"]).message).toBe("a.toml has 1 error:\n  x: y");
	expect(new ConfigError("the environment", ["a", "b"]).message).toBe("the environment has 2 errors:\n  a\n  b");
});

test("white space around a variable is dropped, and an empty one counts as unset", () => {
	expect(trimEnv({ A: "  a b\t", B: "", C: " \t ", D: undefined, E: "0" })).toEqual({ A: "a b", E: "0" });
});

describe("integer", () => {
	const schema = integer(1, 300);
	test.each([
		["1", 1],
		["300", 300],
		["007", 7],
	])("%j is %j", (text, number) => {
		expect(v.parse(schema, text)).toBe(number);
	});
	test.each(["0", "301", "-1", "1.5", "1e2", "0x10", "", " 1", "１", "9".repeat(400), "NaN", "Infinity"])(
		"%j is refused",
		(text) => {
			const { issues } = v.safeParse(schema, text);
			expect(issues?.map(({ message }) => message)).toEqual([
				expect.stringContaining("expected a whole number from 1 to 300"),
			]);
		},
	);
});

describe("baseUrl", () => {
	test.each([
		["http://a:1", "http://a:1"],
		["https://a/b/", "https://a/b"],
		["HTTP://a//", "HTTP://a"],
		["http://[::1]:9090", "http://[::1]:9090"],
	])("%j is %j", (text, url) => {
		expect(v.parse(baseUrl, text)).toBe(url);
	});
	test.each([
		"",
		"a",
		"//a",
		"ftp://a",
		"file:///etc/passwd",
		"http:a",
		"http://",
		"http://a b",
		"http://a:99999",
		"http://a?b",
		"http://a#",
		"http://a/?",
		"javascript:alert(1)",
	])("%j is refused", (text) => {
		expect(v.safeParse(baseUrl, text).success).toBe(false);
	});
	test.each([`http://user:${secret}@a`, `http://${secret}@a`, `ftp://:${secret}@a?b#c`])(
		"the credentials in %j are refused and not shown",
		(text) => {
			const { issues } = v.safeParse(baseUrl, text);
			expect(issues).toHaveLength(1);
			expect(issues?.[0]?.message).not.toContain(secret);
		},
	);
});
