import { describe, expect, test } from "bun:test";
import { ConfigError } from "../../../src/lib/config.ts";
import { type Counter, createRegistry } from "../../../src/lib/metrics.ts";
import { listen, pathOf } from "../../../src/lib/program/listen.ts";
import { recordLog } from "../../support/log.ts";
import { exchange, requestText } from "../../support/raw-http.ts";

function start(
	fetch: (request: Request) => Response | Promise<Response>,
	options: { port?: number; sharePort?: boolean; responses?: Counter } = {},
) {
	const { log, lines } = recordLog();
	const listener = listen({
		hostname: "127.0.0.1",
		port: 0,
		...options,
		settings: { hostname: "SOME_ADDR", port: "SOME_PORT" },
		fetch,
		log,
	});
	return { ...listener, lines, [Symbol.asyncDispose]: () => listener.close(0) };
}

test("a port that is taken is an issue of the setting's", () => {
	const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
	const again = () =>
		listen({
			hostname: "127.0.0.1",
			port: taken.port,
			settings: { hostname: "SOME_ADDR", port: "SOME_PORT" },
			fetch: () => new Response(),
			log: recordLog().log,
		});
	expect(again).toThrow(ConfigError);
	expect(again).toThrow(
		`SOME_PORT: 127.0.0.1:${taken.port} is already in use: stop the program that uses it, or change SOME_PORT`,
	);
	taken.stop(true);
});

test("an issue of the handler's is logged, and its words stay here", async () => {
	await using server = start(() => {
		throw new Error("inside information");
	});
	const response = await fetch(server.url);
	expect(response.status).toBe(500);
	expect(await response.text()).toBe("Internal error\n");
	expect(server.lines.join()).toContain("inside information");
});

test("every response is counted by its status, also of a handler that throws or rejects", async () => {
	const responses = createRegistry().counter("responses_total", "", ["status"]);
	const answers: Record<string, () => Response | Promise<Response>> = {
		"/ok": () => new Response(),
		"/later": async () => new Response(null, { status: 404 }),
		"/throws": () => {
			throw new Error("x");
		},
		"/rejects": () => Promise.reject(new Error("x")),
	};
	await using server = start((request) => answers[pathOf(request)]?.() ?? new Response(), { responses });
	for (const path of Object.keys(answers)) await fetch(server.url + path);
	expect(["200", "404", "500"].map((status) => responses.value([status]))).toEqual([1, 1, 2]);
});

test("close waits for requests in flight", async () => {
	const arrived = Promise.withResolvers<void>();
	const answer = Promise.withResolvers<Response>();
	await using server = start(() => {
		arrived.resolve();
		return answer.promise;
	});
	const response = fetch(server.url);
	await arrived.promise;
	const closed = server.close(60_000);
	answer.resolve(new Response("late"));
	expect(await (await response).text()).toBe("late");
	await closed;
	await expect(fetch(server.url)).rejects.toThrow();
});

test("close cuts off requests after the grace period", async () => {
	const arrived = Promise.withResolvers<void>();
	await using server = start(() => {
		arrived.resolve();
		return new Promise<Response>(() => {});
	});
	const response = fetch(server.url).catch((error: Error) => error);
	await arrived.promise;
	await server.close(1);
	expect(await response).toBeInstanceOf(Error);
});

describe("drain", () => {
	const connectionOf = async (response: Response | Promise<Response>) => {
		const { headers } = await response;
		return headers.get("connection");
	};

	test("answers until its work is done, also on new connections, and asks clients to connect again", async () => {
		const arrived = Promise.withResolvers<void>();
		const answer = Promise.withResolvers<Response>();
		await using server = start((request) => {
			if (!request.url.endsWith("/slow")) return new Response("quick");
			arrived.resolve();
			return answer.promise;
		});
		expect(await connectionOf(fetch(server.url))).not.toBe("close");
		const slow = fetch(`${server.url}/slow`);
		await arrived.promise;
		const work = Promise.withResolvers<void>();
		let isDrained = false;
		const drained = server.drain(work.promise).then(() => {
			isDrained = true;
		});
		const during = await fetch(server.url, { keepalive: false });
		expect(await during.text()).toBe("quick");
		expect(await connectionOf(during)).toBe("close");
		answer.resolve(new Response("late"));
		expect(await connectionOf(slow)).toBe("close");
		expect(isDrained).toBe(false);
		work.reject(new Error("its outcome does not matter"));
		// Clients that received the last response may already have sent their next requests.
		expect(await connectionOf(fetch(server.url))).toBe("close");
		await drained;
		await server.close(60_000);
		await expect(fetch(server.url)).rejects.toThrow();
	});
});

describe.skipIf(process.platform !== "linux")("a shared port", () => {
	test("is listened on by two servers, of which one closes without a refused connection", async () => {
		await using older = start(() => new Response("older"), { sharePort: true });
		const { port } = older;
		await using newer = start(() => new Response("newer"), { port, sharePort: true });
		const drained = older.drain();
		const answers = new Set<string>();
		const ask = async () => {
			const response = await fetch(newer.url, { keepalive: false });
			answers.add(await response.text());
		};
		for (let count = 0; count < 40; count++) await ask();
		expect([...answers].toSorted()).toEqual(["newer", "older"]);
		await drained;
		await older.close(60_000);
		answers.clear();
		for (let count = 0; count < 40; count++) await ask();
		expect([...answers]).toEqual(["newer"]);
	});

	test("is not shared with a server that does not share", async () => {
		await using server = start(() => new Response());
		expect(() => start(() => new Response(), { port: server.port, sharePort: true })).toThrow(
			`SOME_PORT: 127.0.0.1:${server.port} is already in use`,
		);
		await using sharing = start(() => new Response(), { sharePort: true });
		expect(() => start(() => new Response(), { port: sharing.port })).toThrow(
			`SOME_PORT: 127.0.0.1:${sharing.port} is already in use`,
		);
	});
});

describe("pathOf", () => {
	test.each([
		["/mcp?x=/y#z", "a", "/mcp"],
		["/x/../mcp", "a", "/mcp"],
		["http://elsewhere/mcp", "a", "/mcp"],
		["/mcp", "", "/mcp"],
		["/mcp", "a b", "/mcp"],
		["/mcp", "x/healthz?", "/mcp"],
		["/mcp", "[::", ""],
		["/mcp", "a:99999999", ""],
	])("%j with Host %j is %j", async (target, host, path) => {
		await using server = start((request) => new Response(pathOf(request)));
		const { body } = await exchange(server.url, requestText(`GET ${target}`, [["Host", host]]));
		expect(body).toBe(path);
	});
});
