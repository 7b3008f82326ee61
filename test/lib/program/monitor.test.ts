import { describe, expect, test } from "bun:test";
import { createRegistry, metricsContentType } from "../../../src/lib/metrics.ts";
import { createMonitor } from "../../../src/lib/program/monitor.ts";
import { parseMetrics, sampleOf } from "../../support/prometheus.ts";

/** A monitor that refuses who has no Authorization, and pages from elsewhere. `state` may be changed at any time. */
function createTestMonitor() {
	const registry = createRegistry();
	const state = { notReady: undefined as string | undefined };
	const checkOrigin = (request: Request) =>
		request.headers.has("origin") ? new Response("no\n", { status: 403 }) : undefined;
	const monitor = createMonitor({
		notReady: () => state.notReady,
		status: () => ({ name: "it", ready: state.notReady === undefined }),
		registry,
		refuse: (request) =>
			checkOrigin(request) ??
			(request.headers.has("authorization") ? undefined : new Response("who?\n", { status: 401 })),
		refuseUnauthenticated: checkOrigin,
	});
	const ask = (path: string, init?: RequestInit) => monitor(new Request(`http://localhost${path}`, init), path);
	return { registry, state, ask };
}

const Authorization = "Bearer it";
const health = ["/healthz", "/readyz"];
const detail = ["/status", "/metrics"];

test("liveness needs no token and does not depend on readiness", async () => {
	const { ask, state } = createTestMonitor();
	for (const notReady of [undefined, "not yet"]) {
		state.notReady = notReady;
		const response = await ask("/healthz");
		expect(response?.status).toBe(200);
		expect(await response?.text()).toBe("ok\n");
	}
});

test("readiness needs no token, and says why it is not ready", async () => {
	const { ask, state } = createTestMonitor();
	const ready = await ask("/readyz");
	expect([ready?.status, await ready?.text()]).toEqual([200, "ok\n"]);
	state.notReady = "no backend is online";
	const starting = await ask("/readyz");
	expect([starting?.status, await starting?.text()]).toEqual([503, "no backend is online\n"]);
});

test("the state is JSON, as it is now", async () => {
	const { ask, state } = createTestMonitor();
	state.notReady = "not yet";
	const response = await ask("/status", { headers: { Authorization } });
	expect(response?.headers.get("content-type")).toStartWith("application/json");
	expect(await response?.json()).toEqual({ name: "it", ready: false });
});

test("the metrics are Prometheus' text, as they are now", async () => {
	const { ask, registry } = createTestMonitor();
	registry.counter("things_total", "Things.").add([], 3);
	const response = await ask("/metrics", { headers: { Authorization } });
	expect(response?.headers.get("content-type")).toBe(metricsContentType);
	const metrics = parseMetrics(String(await response?.text()));
	expect(sampleOf(metrics, "things_total")).toBe(3);
});

describe.each(detail)("%s", (path) => {
	test("without a token is refused, whatever the method", async () => {
		const { ask } = createTestMonitor();
		for (const method of ["GET", "HEAD", "POST"]) {
			const response = await ask(path, { method });
			expect(response?.status).toBe(401);
			expect(await response?.text()).toBe("who?\n");
		}
	});
});

describe.each([...health, ...detail])("%s", (path) => {
	test("refuses a page from elsewhere", async () => {
		const headers = { Authorization, Origin: "https://evil.example" };
		expect((await createTestMonitor().ask(path, { headers }))?.status).toBe(403);
	});

	test.each(["POST", "PUT", "DELETE", "OPTIONS"])("refuses %s", async (method) => {
		const headers = { Authorization };
		const response = await createTestMonitor().ask(path, { method, headers });
		expect(response?.status).toBe(405);
		expect(response?.headers.get("allow")).toBe("GET, HEAD");
	});

	test("answers HEAD as it does GET", async () => {
		const headers = { Authorization };
		const { ask } = createTestMonitor();
		expect((await ask(path, { method: "HEAD", headers }))?.status).toBe(200);
	});

	test("is never cached", async () => {
		const { ask, state } = createTestMonitor();
		state.notReady = "not yet";
		for (const init of [{}, { headers: { Authorization } }, { method: "POST", headers: { Authorization } }])
			expect((await ask(path, init))?.headers.get("cache-control")).toBe("no-store");
	});
});

test("any origin passes the health routes without refuseUnauthenticated", async () => {
	const monitor = createMonitor({
		notReady: () => undefined,
		status: () => ({}),
		registry: createRegistry(),
		refuse: () => new Response("no\n", { status: 401 }),
	});
	const headers = { Origin: "https://evil.example" };
	const request = new Request("http://localhost/", { headers });
	expect((await monitor(request, "/healthz"))?.status).toBe(200);
	expect((await monitor(request, "/status"))?.status).toBe(401);
});

test.each(["/", "", "/mcp", "/healthz/", "/HEALTHZ", "/metrics/x", "/statu"])(
	"%j is no route of the monitor's",
	(path) => {
		const headers = { Authorization };
		expect(createTestMonitor().ask(path, { headers })).toBeUndefined();
	},
);
