import { afterAll, describe, expect, test } from "bun:test";
import {
	createBearerCheck,
	createHostCheck,
	createOriginCheck,
	isLoopbackAddress,
	isLoopbackHost,
	withCors,
} from "../../src/mcp/access.ts";

const asked = (headers: Record<string, string>) => new Request("http://localhost/mcp", { headers });

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
		expect(createHostCheck([])(asked({ host: "localhost:9090" }))).toBeUndefined();
	});
});

describe("an Origin", () => {
	test("that is absent is a program's, and let pass", () => {
		expect(createOriginCheck([])(asked({}))).toBeUndefined();
	});
	test.each(good.flatMap((host) => [`http://${host}`, `https://${host}`]))("%j is let pass", (origin) => {
		expect(createOriginCheck([])(asked({ origin }))).toBeUndefined();
	});
	test.each([
		...["null", "", "localhost", "file://", "http://", "//localhost"],
		...["ftp://localhost", "chrome-extension://localhost"],
		...["http://localhost/", "http://localhost/x", "http:/localhost"],
		...["http://localhost http://evil.example", "x http://localhost"],
		...evil.map((host) => `http://${host}`),
	])("%j is refused", (origin) => {
		expect(createOriginCheck([])(asked({ origin }))?.status).toBe(403);
	});
	test("of this machine is refused where it is not allowed, unless it is listed", () => {
		const origins = ["http://localhost", "http://127.0.0.1:1"];
		const check = createOriginCheck(origins.slice(1), { allowLoopback: false });
		expect(origins.map((origin) => check(asked({ origin }))?.status)).toEqual([403, undefined]);
	});
});

const listed = "https://chat.example";

describe("a preflight", () => {
	const preflight = (origin: string, headers: Record<string, string> = {}) =>
		createOriginCheck([listed])(
			new Request("http://localhost/mcp", {
				method: "OPTIONS",
				headers: { origin, "access-control-request-method": "POST", ...headers },
			}),
		);

	test("of a listed origin is answered 204, with all that clients of either era send", () => {
		const response = preflight(listed);
		expect(response?.status).toBe(204);
		const words = (header: string) => response?.headers.get(header)?.toLowerCase().split(", ");
		expect(words("access-control-allow-methods")).toEqual(expect.arrayContaining(["post", "delete", "get"]));
		expect(words("access-control-allow-headers")).toEqual(
			expect.arrayContaining([
				...["authorization", "content-type", "last-event-id"],
				...["mcp-session-id", "mcp-protocol-version"],
				...["mcp-method", "mcp-name"],
			]),
		);
	});

	test.each(["https://evil.example", "null", `${listed}.evil.example`])("of %s is 403", (origin) => {
		expect(preflight(origin)?.status).toBe(403);
	});

	test("of a page of this machine that is not listed is no preflight of ours", () => {
		expect(preflight("http://localhost:5173")).toBeUndefined();
	});

	test("is no OPTIONS request that asks for no method", () => {
		const request = new Request("http://localhost/mcp", { method: "OPTIONS", headers: { origin: listed } });
		expect(createOriginCheck([listed])(request)).toBeUndefined();
	});
});

describe("CORS headers", () => {
	const server = Bun.serve({ port: 0, fetch: () => new Response() });
	afterAll(() => server.stop(true));
	const respond = async (headers: Record<string, string>, allowed: readonly string[] = [listed]) => {
		const refuse = () => new Response("no", { status: 429, headers: { Vary: "Accept-Encoding" } });
		return withCors(allowed, refuse)(asked(headers), server);
	};
	const corsHeaders = ({ headers }: Response) =>
		[...headers.keys()].filter((name) => name.startsWith("access-control-"));

	test("let a listed origin read a response, a refusal too", async () => {
		const { status, headers } = await respond({ origin: listed });
		expect(status).toBe(429);
		expect(headers.get("access-control-allow-origin")).toBe(listed);
		expect(headers.get("vary")).toBe("Accept-Encoding, Origin");
		expect(headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
		// The token is sent by the page, never by the browser of its own accord.
		expect(headers.has("access-control-allow-credentials")).toBe(false);
	});

	test.each([
		{},
		{ origin: "https://evil.example" },
		{ origin: "http://localhost" },
		{ origin: "null" },
		{ origin: `${listed}, https://evil.example` },
	])("are not there with %j", async (headers) => {
		const response = await respond(headers);
		expect(corsHeaders(response)).toEqual([]);
		expect(response.headers.get("vary")).toContain("Origin");
	});

	test("are not there where no origin is listed", async () => {
		const response = await respond({ origin: listed }, []);
		expect(corsHeaders(response)).toEqual([]);
		expect(response.headers.get("vary")).toBe("Accept-Encoding");
	});
});

describe("the bearer check", () => {
	const check = createBearerCheck("correct-horse.battery_staple~1/+=");
	const token = "correct-horse.battery_staple~1/+=";

	test.each([`Bearer ${token}`, `bearer ${token}`, `BEARER ${token}`, `Bearer   ${token}`])(
		"%j passes",
		(authorization) => {
			expect(check(asked({ authorization }))).toBeUndefined();
		},
	);

	const noToken = "Bearer";
	const wrongToken = 'Bearer error="invalid_token"';
	test.each([
		["Bearer", noToken],
		["Bearer ", noToken],
		[`Bearer${token}`, noToken],
		[`Bearer x${token}`, wrongToken],
		[`Bearer ${token.toUpperCase()}`, wrongToken],
		[`bearer ${token} x`, wrongToken],
		[`Bearer ${token},`, wrongToken],
		[`Bearer "${token}"`, wrongToken],
	])("%j is 401 with the challenge %s", (authorization, challenge) => {
		const refusal = check(asked({ authorization }));
		expect(refusal?.status).toBe(401);
		expect(refusal?.headers.get("www-authenticate")).toBe(challenge);
	});

	test("the token in the address does not count", () => {
		expect(check(new Request(`http://localhost/mcp?access_token=${token}`))?.status).toBe(401);
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
])("whether the address %j is reached from this machine only: %j", (address, only) => {
	expect(isLoopbackAddress(address)).toBe(only);
});
