// The examples of reverse proxies, run by the proxies themselves where they are installed, in front of the gateway.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { freePort } from "../../src/demo/ports.ts";
import { maxQuietSeconds } from "../../src/lib/program/listen.ts";
import { modernRequest } from "../support/both-servers.ts";
import { gatewayToken, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startCommand } from "../support/program.ts";
import { requestText } from "../support/raw-http.ts";
import { type StubBackend, stall, startStubBackend } from "../support/stub-backend.ts";
import { until } from "../support/until.ts";

const examples = join(import.meta.dir, "../../docker/proxy");
const host = "mcp.example";

interface Example {
	file: string;
	program: string;
	/** The example with this machine's ports and files, and the command that serves it in the foreground. */
	adapt(text: string, place: Place): { text: string; command: string[] };
	/** How long it lets the gateway be quiet. */
	quietSeconds: RegExp;
}

interface Place {
	directory: string;
	config: string;
	certificate: string;
	key: string;
	port: number;
	plainPort: number;
	upstream: number;
}

const proxies: Example[] = [
	{
		file: "nginx.conf",
		program: "nginx",
		quietSeconds: /proxy_read_timeout (\d+)s/,
		adapt(text, { directory, config, certificate, key, ...ports }) {
			const here = replaceEach(text, {
				"127.0.0.1:9100": `127.0.0.1:${ports.upstream}`,
				"listen 80;": `listen 127.0.0.1:${ports.plainPort};`,
				"listen 443 ssl;": `listen 127.0.0.1:${ports.port} ssl;`,
				"/etc/ssl/mcp.example/fullchain.pem": certificate,
				"/etc/ssl/mcp.example/privkey.pem": key,
			});
			const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
				.map((name) => `${name}_temp_path ${directory}/${name};`)
				.join("\n");
			return {
				// In one process: whoever kills it leaves no workers behind.
				text: `daemon off;\nmaster_process off;\npid ${directory}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${here}\n}\n`,
				command: ["nginx", "-c", config, "-p", directory, "-e", "stderr"],
			};
		},
	},
	{
		file: "Caddyfile",
		program: "caddy",
		quietSeconds: /response_header_timeout (\d+)s/,
		adapt(text, { config, certificate, key, port, upstream }) {
			const options = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n";
			const here = replaceEach(text, {
				"127.0.0.1:9100": `127.0.0.1:${upstream}`,
				"\nmcp.example {": `\nhttps://mcp.example:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}\n`,
			});
			return { text: options + here, command: [...["caddy", "run", "--adapter", "caddyfile", "--config", config]] };
		},
	},
];

/** Each of these texts is there, and is put into place. */
function replaceEach(text: string, changes: Record<string, string>): string {
	let changed = text;
	for (const [from, to] of Object.entries(changes)) {
		if (!changed.includes(from)) throw new Error(`there is no ${from}`);
		changed = changed.replaceAll(from, to);
	}
	return changed;
}

let directory: string | undefined;
let certificate: string;
let key: string;

beforeAll(() => {
	if (!Bun.which("openssl")) return;
	directory = mkdtempSync(join(tmpdir(), "guildhall-proxy-"));
	certificate = join(directory, "certificate.pem");
	key = join(directory, "key.pem");
	const subject = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
	const { success } = Bun.spawnSync([
		...["openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "1"],
		...["-pkeyopt", "ec_paramgen_curve:prime256v1", ...subject],
		...["-keyout", key, "-out", certificate],
	]);
	if (!success) throw new Error("openssl makes no certificate");
});

afterAll(() => {
	if (directory) rmSync(directory, { recursive: true, force: true });
});

interface Answer {
	status: number;
	headers: Record<string, unknown>;
	body: string;
}

interface Sent {
	/** What has come so far. */
	readonly body: string;
	answer: Promise<Answer>;
}

/** Sends a call, as an MCP client does. */
function send(port: number, { path = "/mcp", tool = "echo", name = host, method = "POST" } = {}): Sent {
	const { promise, resolve, reject } = Promise.withResolvers<Answer>();
	let body = "";
	const sent = httpsRequest(
		{
			host: "127.0.0.1",
			port,
			path,
			method,
			servername: host,
			rejectUnauthorized: false,
			agent: false,
			headers: {
				Host: name,
				Authorization: `Bearer ${gatewayToken}`,
				"Content-Type": "application/json",
				Accept: "application/json, text/event-stream",
				"Accept-Encoding": "gzip",
			},
		},
		(response) => {
			response.setEncoding("utf8");
			response.on("data", (text) => {
				body += text;
			});
			response.on("end", () => {
				const { statusCode = 0, headers } = response;
				resolve({ status: statusCode, headers, body });
			});
		},
	);
	sent.on("error", reject);
	const params = { name: tool, arguments: { instance: "alpha" } };
	sent.end(method === "POST" ? JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }) : undefined);
	return {
		get body() {
			return body;
		},
		answer: promise,
	};
}

describe.each(proxies.map((example) => [example.file, example] as const))(
	"%s",
	(file, { program, adapt, quietSeconds }) => {
		test("is not sooner impatient than the gateway", async () => {
			const text = await Bun.file(join(examples, file)).text();
			const [, seconds] = quietSeconds.exec(text) ?? [];
			expect(Number(seconds)).toBeGreaterThan(maxQuietSeconds);
		});

		const missing = [program, "openssl"].find((name) => !Bun.which(name));
		if (missing) console.warn(`${file} is not run: ${missing} is not installed`);

		describe.skipIf(missing !== undefined)("in front of the gateway", () => {
			let stub: StubBackend;
			let gateway: TestGateway;
			let port: number;
			const stack = new AsyncDisposableStack();

			/** Starts it in front of this port; resolves with its own when it listens. */
			async function startProxy(upstream: number): Promise<number> {
				const here = mkdtempSync(join(directory ?? tmpdir(), `${program}-`));
				const place: Place = {
					directory: here,
					certificate,
					key,
					upstream,
					config: join(here, file),
					port: await freePort(),
					plainPort: await freePort(),
				};
				const example = await Bun.file(join(examples, file)).text();
				const { text, command } = adapt(example, place);
				writeFileSync(place.config, text);
				mkdirSync(join(here, "home"));
				const env = { PATH: process.env.PATH ?? "", HOME: join(here, "home") };
				const running = stack.use(startCommand(command, env, { cwd: here }));
				await until(`${program} listens`, async () => {
					if (running.end !== null) throw new Error(running.lines.join("\n"));
					const look = send(place.port, { path: "/", method: "GET" });
					return look.answer.then(
						() => true,
						() => false,
					);
				});
				return place.port;
			}

			beforeAll(async () => {
				stub = stack.use(startStubBackend());
				const env = { MCP_ALLOWED_HOSTS: host };
				gateway = stack.use(await startTestGateway({ alpha: stub }, { env }));
				port = await startProxy(Number(new URL(gateway.url).port));
			});

			afterAll(() => stack.disposeAsync());

			test("a call passes under the name that the gateway allows", async () => {
				const { status, headers, body } = await send(port).answer;
				expect(status).toBe(200);
				expect(body).toMatch(/^event: message\ndata: .*ran echo/);
				expect(headers).toMatchObject({ "content-type": "text/event-stream" });
				expect(headers).not.toHaveProperty("content-encoding");
			});

			test("a call under another name comes to nothing", async () => {
				const before = stub.received("echo").length;
				const { body } = await send(port, { name: "evil.example" }).answer;
				expect(body).not.toContain("ran echo");
				expect(stub.received("echo").length).toBe(before);
			});

			test.each([
				"/mcp/readonly",
				"/oauth/authorize?client_id=x",
				"/oauth/callback?code=x&state=y",
				"/.well-known/oauth-authorization-server",
				"/.well-known/openid-configuration",
				"/.well-known/oauth-protected-resource",
				"/.well-known/oauth-protected-resource/mcp",
				"/.well-known/oauth-protected-resource/mcp/readonly",
			])("%s reaches the gateway", async (path) => {
				const { body } = await send(port, { path, method: "GET" }).answer;
				expect(body).toMatch(/The MCP endpoint is \/mcp|Method Not Allowed/);
			});

			test.each([
				...["/console", "/console/style.css", "/console/api/sign-in"].map((path) => ["GET", path, 200] as const),
				...([
					["GET", "/docs", 302],
					["POST", "/docs/x", 405],
				] as const),
			])("%s %s is of the gateway: %i", async (method, path, expected) => {
				const { status } = await send(port, { path, method }).answer;
				expect(status).toBe(expected);
			});

			test.each(["/metrics", "/status", "/healthz", "/", "/mcp/status", "/consoles", "/docsx"])(
				"%s is not shown",
				async (path) => {
					const { status } = await send(port, { path, method: "GET" }).answer;
					expect(status).toBe(404);
				},
			);

			test("a client that hangs up is noticed, and its call cancelled", async () => {
				stub.on.slow = stall;
				const { headers, body } = modernRequest("tools/call", { name: "slow", arguments: { instance: "alpha" } });
				const socket = connect({ host: "127.0.0.1", port, servername: host, rejectUnauthorized: false });
				socket.on("error", () => {});
				socket.write(
					requestText(
						"POST /mcp",
						[
							["Host", host],
							["Authorization", `Bearer ${gatewayToken}`],
							["Content-Type", "application/json"],
							["Content-Length", String(body.length)],
							...Object.entries(headers),
						],
						body,
					),
				);
				await stub.arrived("slow");
				socket.destroy();
				await stub.arrived("notifications/cancelled");
			});

			test("each event comes when it is sent", async () => {
				const more = Promise.withResolvers<void>();
				await using server = Bun.serve({
					hostname: "127.0.0.1",
					port: 0,
					idleTimeout: 0,
					fetch: () =>
						new Response(
							(async function* () {
								yield "data: 1\n\n";
								await more.promise;
								yield "data: 2\n\n";
							})(),
							{ headers: { "Content-Type": "text/event-stream" } },
						),
				});
				const call = send(await startProxy(server.port ?? 0));
				await until("the first event", () => call.body === "data: 1\n\n");
				more.resolve();
				expect((await call.answer).body).toBe("data: 1\n\ndata: 2\n\n");
			});

			test("a call whose gateway dies is sent once, and answered 502", async () => {
				let calls = 0;
				const server = createServer((socket) => {
					let received = "";
					socket.on("data", (data) => {
						received += data;
						if (!received.includes("tools/call")) return;
						calls++;
						socket.destroy();
					});
				});
				const listening = Promise.withResolvers<void>();
				server.listen(0, "127.0.0.1", listening.resolve);
				stack.defer(() => void server.close());
				await listening.promise;
				const { port } = server.address() as { port: number };
				const { status } = await send(await startProxy(port)).answer;
				expect(status).toBe(502);
				expect(calls).toBe(1);
			});
		});
	},
);
