// Access to the console: signing in, and the rights of its cookie.

import { expect, test } from "bun:test";
import { sessionLifetimeMs } from "../../../src/gateway/console/sessions.ts";
import { consoleLink } from "../../../src/lib/console-link.ts";
import { gatewayToken, startTestGateway } from "../../support/gateway.ts";
import { startStubBackend } from "../../support/stub-backend.ts";
import { testWith } from "../../support/test-with.ts";
import { ConsoleClient, signedIn } from "./console-client.ts";

const worldTest = testWith(() => startWorld());

async function startWorld(clock = { now: Date.parse("2026-03-01T12:00:00Z") }, env: Record<string, string> = {}) {
	const bot = startStubBackend();
	const now = () => clock.now;
	const gateway = await startTestGateway(
		{ alpha: bot },
		{ env, options: { signIn: { clocks: { now, monotonicNow: now } } } },
	);
	return { ...gateway, clock };
}

worldTest("without a session, only the files and the sign-in answer", async (world) => {
	const client = new ConsoleClient(world.url);
	for (const path of ["", "/console/main.js", "/console/console.css", "/dom.js"]) {
		const response = await client.request(path);
		expect([path, response.status]).toEqual([path, 200]);
		expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
	}
	expect((await client.request("/")).headers.get("location")).toBe("/console");
	expect((await fetch(world.url, { redirect: "manual" })).headers.get("location")).toBe("/console");
	expect((await client.get("sign-in")).body).toEqual({ session: null, discord: null });
	for (const name of ["state", "calls", "events", "access", "none", "__proto__"])
		expect([name, (await client.get(name)).status]).toEqual([name, 401]);
	expect((await client.post("sign-out")).status).toBe(401);
	expect((await client.request("/other")).status).toBe(404);
});

test("the console can be switched off", async () => {
	await using world = await startWorld(undefined, { CONSOLE: "false" });
	const client = new ConsoleClient(world.url);
	expect((await client.request("")).status).toBe(404);
	expect((await client.signIn()).status).toBe(404);
});

worldTest("the token begins a session, whose cookie scripts cannot read", async (world) => {
	const client = new ConsoleClient(world.url);
	const { status, headers, body } = await client.signIn();
	expect(status).toBe(200);
	expect(headers.get("set-cookie")).toMatch(
		/^guildhall-console=[\w-]+\.[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
	);
	expect(body.session).toEqual({
		kind: "root",
		person: null,
		csrf: expect.stringMatching(/^[\w-]{43}$/),
		expiresAt: world.clock.now + sessionLifetimeMs,
	});
	expect((await client.get("sign-in")).body).toEqual({ session: body.session, discord: null });
	expect((await client.get("state")).status).toBe(200);
});

worldTest("over https, the cookie is for this host only", async (world) => {
	// Behind a proxy with TLS: the gateway sees plain http, and the host of the browser.
	const client = new ConsoleClient(world.url, { Host: "mcp.example" });
	const { headers } = await client.signIn(undefined, { Origin: "https://mcp.example" });
	expect(headers.get("set-cookie")).toMatch(
		/^__Host-guildhall-console=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
	);
	expect((await client.get("state")).status).toBe(200);
	const out = await client.post("sign-out", {}, { Origin: "https://mcp.example" });
	expect(out.headers.get("set-cookie")).toBe(
		"__Host-guildhall-console=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure",
	);
});

worldTest("over plain http that others can read, nobody signs in", async (world) => {
	const client = new ConsoleClient(world.url, { Host: "mcp.example:9100" });
	const origin = { Origin: "http://mcp.example:9100" };
	const { status, headers, body } = await client.signIn(undefined, origin);
	expect([status, body.error?.code]).toEqual([403, "insecure"]);
	expect(headers.get("set-cookie")).toBeNull();
	// The cookie of the loopback address does not work there either.
	const own = await signedIn(world.url);
	client.cookie = own.cookie;
	expect((await client.get("state")).status).toBe(401);
});

worldTest("a wrong token begins no session", async (world) => {
	const client = new ConsoleClient(world.url);
	const wrong = [`${gatewayToken}x`, gatewayToken.slice(1), "", 7, null, [], {}];
	for (const token of wrong) {
		const { status, headers } = await client.signIn({ token });
		expect([token, status]).toEqual([token, 401]);
		expect(headers.get("set-cookie")).toBeNull();
	}
	expect((await client.signIn({})).status).toBe(401);
	expect((await client.signIn("text")).status).toBe(400);
});

worldTest("a link signs in once, within ten minutes", async (world) => {
	const ticketOf = async (token = gatewayToken) =>
		(await consoleLink(`${world.url}/console`, token, world.clock.now)).split("#in=")[1] ?? "";
	const client = new ConsoleClient(world.url);
	const ticket = await ticketOf();
	expect(ticket).toMatch(/^[\w.-]{41,44}$/);
	const [foreign, changed] = [
		await ticketOf("another-token-of-a-gateway"),
		ticket.replace(/.$/, (one) => (one === "A" ? "Q" : "A")),
	];
	for (const wrong of [foreign, changed, gatewayToken, "", 7])
		expect([wrong, (await client.signIn({ ticket: wrong })).status]).toEqual([wrong, 401]);
	expect((await client.signIn({ ticket })).body.session).toMatchObject({ kind: "root" });
	expect((await client.get("state")).status).toBe(200);
	const again = await new ConsoleClient(world.url).signIn({ ticket });
	expect([again.status, again.body.error?.message]).toEqual([
		401,
		expect.stringContaining("This link was used before"),
	]);
	const late = await ticketOf();
	world.clock.now += 600_000;
	expect((await client.signIn({ ticket: late })).status).toBe(401);
	// The log has neither link nor token.
	expect(world.recorded.lines.join("")).not.toContain(ticket);
	expect(world.recorded.lines.join("")).not.toContain(gatewayToken);
});

worldTest("the cookie is no token, and the token no session", async (world) => {
	const { cookie } = await signedIn(world.url);
	const value = cookie.split("=")[1] ?? "";
	for (const path of ["/mcp", "/mcp/readonly", "/status", "/metrics"])
		for (const headers of [{ Cookie: cookie }, { Authorization: `Bearer ${value}` }]) {
			const response = await fetch(`${world.url}${path}`, { headers: new Headers(headers as Record<string, string>) });
			expect([path, response.status]).toEqual([path, 401]);
		}
	const bearer = { Authorization: `Bearer ${gatewayToken}` };
	const stranger = new ConsoleClient(world.url);
	expect((await stranger.get("state", bearer)).status).toBe(401);
	expect((await stranger.post("sign-out", {}, bearer)).status).toBe(401);
});

worldTest("a session that was changed, or is of another token, is none", async (world) => {
	await using other = await startWorld();
	const client = await signedIn(world.url);
	const [name = "", value = ""] = client.cookie.split("=");
	const [payload = "", proof = ""] = value.split(".");
	const content = JSON.parse(Buffer.from(payload, "base64url").toString());
	const forged = Buffer.from(JSON.stringify({ ...content, since: content.since + 1 })).toString("base64url");
	const cookies = [
		`${name}=${forged}.${proof}`,
		`${name}=${payload}.${"A".repeat(43)}`,
		`${name}=${payload}`,
		`${name}=`,
		`${name}=${"a".repeat(100_00)}.${proof}`,
		`${client.cookie}; ${client.cookie}`,
		`${client.cookie}x`,
		`other=${value}`,
	];
	for (const cookie of cookies) {
		client.cookie = cookie;
		expect([cookie, (await client.get("state")).status]).toEqual([cookie, 401]);
	}
	// Any web server of the machine can add cookies of this name.
	for (const cookie of [
		`theme=dark; ${name}=${value}`,
		`${name}=${payload}.${"A".repeat(43)}; ${name}=${value}`,
		`${name}=${value}; ${name}=; ${name}=x; __Host-${name}=x`,
		`${`${name}=x; `.repeat(300)}${name}=${value}`,
	]) {
		client.cookie = cookie;
		expect([cookie, (await client.get("state")).status]).toEqual([cookie, 200]);
	}
	client.cookie = `${name}=${value}`;
	// A replica has the same token.
	const replica = new ConsoleClient(other.url);
	replica.cookie = client.cookie;
	expect((await replica.get("state")).status).toBe(200);
	await using stranger = await startWorld(world.clock, { MCP_AUTH_TOKEN: "another-token-of-a-test" });
	const there = new ConsoleClient(stranger.url);
	there.cookie = client.cookie;
	expect((await there.get("state")).status).toBe(401);
});

worldTest("a session expires after 12 hours, and is over once its owner ends it", async (world) => {
	const client = await signedIn(world.url);
	const second = await signedIn(world.url);
	const { cookie } = second;
	expect((await second.post("sign-out")).status).toBe(200);
	expect(second.cookie).toBe("");
	second.cookie = cookie;
	expect((await second.get("state")).status).toBe(401);
	expect((await client.get("state")).status).toBe(200);
	world.clock.now += sessionLifetimeMs - 1;
	expect((await client.get("state")).status).toBe(200);
	world.clock.now += 1;
	expect((await client.get("state")).status).toBe(401);
});

worldTest("a change needs exactly our own origin", async (world) => {
	const client = await signedIn(world.url);
	const { port } = new URL(world.url);
	const foreign = [
		"https://evil.example",
		"null",
		"",
		`http://localhost:${port}`,
		`http://127.0.0.1:${Number(port) + 1}`,
		`http://127.0.0.1:${port}.evil.example`,
		`http://127.0.0.1:${port}/`,
		`http://127.0.0.1:${port}, https://evil.example`,
		`http://evil@127.0.0.1:${port}`,
	];
	for (const Origin of foreign) {
		for (const name of ["sign-out", "sign-in", "sign-in/discord"]) {
			const body = { token: gatewayToken };
			const answer = await client.post(name, body, { Origin });
			expect([Origin, answer.status]).toEqual([Origin, 403]);
			expect(answer.body.error?.code).toBe("origin");
		}
	}
	// A proxy with TLS could be there, but this session began without one.
	const https = { Origin: `https://127.0.0.1:${port}` };
	expect((await client.post("sign-out", {}, https)).status).toBe(403);
	const init = { method: "POST", body: "{}" };
	expect((await client.request("/api/sign-in", init)).status).toBe(403);
	expect((await client.get("state")).status).toBe(200);
});

test("a listed origin of the MCP endpoint is not the console's own", async () => {
	const listed = "https://chat.example";
	await using world = await startWorld(undefined, { MCP_ALLOWED_ORIGINS: listed });
	const client = await signedIn(world.url);
	expect((await client.post("sign-out", {}, { Origin: listed })).status).toBe(403);
	expect((await client.get("state", { Origin: listed })).status).toBe(403);
});

worldTest("pages of other origins can read nothing", async (world) => {
	const client = await signedIn(world.url);
	const site = (value: string) => ({ "Sec-Fetch-Site": value });
	for (const value of ["cross-site", "same-site", "other"])
		expect((await client.get("state", site(value))).status).toBe(403);
	expect((await client.get("state", site("same-origin"))).status).toBe(200);
	expect((await client.get("state", site("none"))).status).toBe(200);
	const { headers } = await client.get("state");
	expect(headers.get("cache-control")).toBe("no-store");
	expect(headers.get("access-control-allow-origin")).toBeNull();
	expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
	expect(headers.get("x-content-type-options")).toBe("nosniff");
	expect(headers.get("content-security-policy")).toContain("frame-ancestors");
	expect(headers.get("referrer-policy")).toBe("no-referrer");
});

worldTest("a change needs the CSRF token of its session, and JSON", async (world) => {
	const client = await signedIn(world.url);
	const other = await signedIn(world.url);
	const tokens = ["", "x", other.session?.csrf ?? "", client.cookie];
	for (const token of tokens) {
		const { body } = await client.post("sign-out", {}, { "X-Guildhall-Csrf": token });
		expect([token, body.error?.code]).toEqual([token, "csrf"]);
	}
	for (const type of ["text/plain", "application/x-www-form-urlencoded", ""]) {
		const headers = { "Content-Type": type };
		const { status } = await client.signIn({ token: gatewayToken }, headers);
		expect([type, status]).toEqual([type, 415]);
	}
	expect((await client.get("state")).status).toBe(200);
});

test("an invalid or unlisted Host is refused before the console", async () => {
	await using world = await startWorld(undefined, { MCP_ALLOWED_HOSTS: "mcp.example" });
	const at = (Host: string) => new ConsoleClient(world.url, { Host });
	expect((await at("evil.example").request("")).status).toBe(403);
	expect((await at("mcp.example").request("")).status).toBe(200);
});

test("with PUBLIC_URL, its origin counts, whatever host a proxy passes on", async () => {
	await using world = await startWorld(undefined, {
		PUBLIC_URL: "https://mcp.example",
		DISCORD_CLIENT_ID: "100000000000000001",
		DISCORD_CLIENT_SECRET: "the-secret-of-the-test",
		GATEWAY_DATABASE: "/nowhere/gateway.sqlite",
		MCP_ALLOWED_HOSTS: "internal",
	});
	const evilHost = new ConsoleClient(world.url, { Host: "evil.example" });
	for (const path of ["", "/session"]) expect((await evilHost.request(path)).status).toBe(403);
	const client = new ConsoleClient(world.url, { Host: "internal:9100" });
	const Origin = "https://mcp.example";
	expect((await client.signIn(undefined, { Origin })).status).toBe(200);
	expect(client.cookie).toStartWith("__Host-");
	const evil = { Origin: "https://evil.example" };
	expect((await client.post("sign-out", {}, evil)).status).toBe(403);
	expect((await client.post("sign-out", {}, { Origin })).status).toBe(200);
});

worldTest("wrong tokens are limited, but do not keep others out for long", async (world) => {
	const attacker = new ConsoleClient(world.url, { "X-Forwarded-For": "198.51.100.1" });
	for (let tried = 0; tried < 10; tried++) expect((await attacker.signIn({ token: "no" })).status).toBe(401);
	const { status, headers } = await attacker.signIn();
	expect([status, headers.get("retry-after")]).toEqual([429, "60"]);
	const operator = new ConsoleClient(world.url, { "X-Forwarded-For": "203.0.113.5" });
	expect((await operator.signIn()).status).toBe(200);
	world.clock.now += 60_000;
	expect((await attacker.signIn()).status).toBe(200);
});

worldTest("a flood from many networks does not keep out one without failures", async (world) => {
	const from = (address: string) => new ConsoleClient(world.url, { "X-Forwarded-For": address });
	const fail = async (address: string) => (await from(address).signIn({ token: "no" })).status;
	for (let tried = 0; tried < 102; tried++) expect(await fail(`198.51.${tried % 34}.1`)).toBe(401);
	expect(await fail("198.51.1.1")).toBe(429);
	expect((await from("203.0.113.5").signIn()).status).toBe(200);
});

worldTest("wrong tokens of one private peer that names another address each time are limited", async (world) => {
	const fail = async (n: number) => {
		const address = `198.51.${n >> 8}.${n & 255}`;
		const client = new ConsoleClient(world.url, { "X-Forwarded-For": address });
		return (await client.signIn({ token: "no" })).status;
	};
	for (let n = 0; n < 1_000; n++) expect(await fail(n)).toBe(401);
	expect(await fail(1_000)).toBe(429);
	world.clock.now += 60_000;
	expect(await fail(1_001)).toBe(401);
});

worldTest("other methods are refused, and no stream is opened for HEAD", async (world) => {
	const client = await signedIn(world.url);
	for (const method of ["HEAD", "PUT", "DELETE", "OPTIONS"]) {
		const headers = { "X-Guildhall-Csrf": client.session?.csrf ?? "" };
		const init = { method, headers };
		const response = await client.request("/api/events", init);
		expect([method, response.status]).toEqual([method, 405]);
		expect(response.headers.get("cache-control")).toBe("no-store");
	}
	expect((await client.post("state")).status).toBe(405);
	expect((await client.get("sign-out")).status).toBe(405);
});

worldTest("neither the cookie, the CSRF token nor the token is logged", async (world) => {
	const client = await signedIn(world.url);
	await client.get("state");
	const { cookie, session } = client;
	await client.signIn({ token: `${gatewayToken}x` });
	await client.post("sign-out");
	const log = world.recorded.lines.join("\n");
	expect(log).toContain("signed in to the console");
	const [payload = "", proof = ""] = (cookie.split("=")[1] ?? "").split(".");
	for (const secret of [payload, proof, session?.csrf ?? "", gatewayToken]) expect(log).not.toContain(secret);
});
