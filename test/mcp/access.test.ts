import { describe, expect, test } from "bun:test";
import {
	createBearerCheck,
	createHostCheck,
	createOriginCheck,
	isLoopbackAddress,
	isLoopbackHost,
} from "../../src/mcp/access.ts";

const asked = (headers: Record<string, string>) =>
	new Request("http://localhost/mcp", { headers });

const good = [
	"localhost",
	"localhost:9090",
	"LOCALHOST:80",
	"LocalHost",
	"127.0.0.1",
	"127.0.0.1:9",
	"[::1]",
	"[::1]:1",
];
const evil = [
	"",
	" ",
	":9090",
	"localhost.evil.example",
	"localhost.evil.example:9090",
	"evil.example",
	"evil.example:localhost",
	"evil-localhost",
	"localhost:evil.example",
	"localhost:",
	"localhost:123456",
	"localhost:80:80",
	"localhost, evil.example",
	"localhost, localhost",
	"localhost@evil.example",
	"user@localhost",
	"localhost/",
	"127.0.0.1.nip.io",
	"127.0.0.2",
	"0.0.0.0",
	"0",
	"2130706433",
	"::1",
	"[::1]evil",
	"[::1].evil.example",
	"[::ffff:127.0.0.1]",
	"[localhost]",
];

describe("a Host", () => {
	test.each(good)("%j is this machine's loopback", (host) => {
		expect(isLoopbackHost(host)).toBe(true);
	});
	test.each(evil)("%j is not", (host) => {
		expect(isLoopbackHost(host)).toBe(false);
	});
	test("that is absent is not", async () => {
		expect(isLoopbackHost(null)).toBe(false);
		const refusal = createHostCheck([])(asked({}));
		expect(refusal?.status).toBe(403);
		expect(await refusal?.text()).toContain("Host header is not allowed");
	});
	test("of this machine is let pass", () => {
		expect(
			createHostCheck([])(asked({ host: "localhost:9090" })),
		).toBeUndefined();
	});
});

describe("an Origin", () => {
	test("that is absent is a program's, and let pass", () => {
		expect(createOriginCheck([])(asked({}))).toBeUndefined();
	});
	test.each(good.flatMap((host) => [`http://${host}`, `https://${host}`]))(
		"%j is let pass",
		(origin) => {
			expect(createOriginCheck([])(asked({ origin }))).toBeUndefined();
		},
	);
	test.each([
		...["null", "", "localhost", "file://", "http://", "//localhost"],
		...["ftp://localhost", "chrome-extension://localhost"],
		...["http://localhost/", "http://localhost/x", "http:/localhost"],
		...["http://localhost http://evil.example", "x http://localhost"],
		...evil.map((host) => `http://${host}`),
	])("%j is refused", (origin) => {
		expect(createOriginCheck([])(asked({ origin }))?.status).toBe(403);
	});
});

describe("the bearer check", () => {
	const check = createBearerCheck("correct-horse.battery_staple~1/+=");
	const token = "correct-horse.battery_staple~1/+=";

	test.each([
		`Bearer ${token}`,
		`bearer ${token}`,
		`BEARER ${token}`,
		`Bearer   ${token}`,
	])("%j passes", (authorization) => {
		expect(check(asked({ authorization }))).toBeUndefined();
	});

	test.each([
		"",
		"Bearer",
		"Bearer ",
		token,
		`Basic ${token}`,
		`Bearer${token}`,
		`Bearer ${token}x`,
		`Bearer x${token}`,
		`Bearer ${token.slice(0, -1)}`,
		`Bearer ${token.toUpperCase()}`,
		`Bearer ${token} x`,
		`Bearer ${token},`,
		`Bearer "${token}"`,
		// As a header that stands twice arrives.
		`Bearer ${token}, Bearer ${token}`,
		`Bearer wrong, Bearer ${token}`,
		`Bearer ${token}, Bearer wrong`,
	])("%j is 401", (authorization) => {
		expect(check(asked({ authorization }))?.status).toBe(401);
	});

	test("a missing header is 401 that asks for a bearer and tells nothing", async () => {
		const refusal = check(asked({}));
		expect(refusal?.status).toBe(401);
		expect(refusal?.headers.get("www-authenticate")).toBe("Bearer");
		expect(await refusal?.text()).not.toContain(token);
	});

	test("the token in the address does not count", () => {
		expect(
			check(new Request(`http://localhost/mcp?access_token=${token}`))?.status,
		).toBe(401);
	});
});

test.each([
	["127.0.0.1", true],
	["127.1.2.3", true],
	["::1", true],
	["localhost", true],
	["0.0.0.0", false],
	["::", false],
	["10.0.0.1", false],
	["127.evil.example", false],
	["localhost.evil.example", false],
])(
	"whether the address %j is reached from this machine only: %j",
	(address, only) => {
		expect(isLoopbackAddress(address)).toBe(only);
	},
);
