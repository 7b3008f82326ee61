import { describe, expect, test } from "bun:test";
import { addProcessMetrics, createRegistry } from "../../src/lib/metrics.ts";
import { parseMetrics, sampleOf } from "../support/prometheus.ts";

describe("a counter", () => {
	test("counts for each combination of label values", () => {
		const registry = createRegistry();
		const counter = registry.counter("calls_total", "Calls.", ["tool", "how"]);
		counter.add(["a", "ok"]);
		counter.add(["a", "ok"], 2.5);
		counter.add(["b", "ok"]);
		expect(counter.value(["a", "ok"])).toBe(3.5);
		expect(counter.value(["a", "bad"])).toBe(0);
		expect(parseMetrics(registry.text()).get("calls_total")).toEqual({
			type: "counter",
			help: "Calls.",
			samples: [
				{ name: "calls_total", labels: { tool: "a", how: "ok" }, value: 3.5 },
				{ name: "calls_total", labels: { tool: "b", how: "ok" }, value: 1 },
			],
		});
	});

	test("without labels is there at 0 from the start", () => {
		const registry = createRegistry();
		const counter = registry.counter("starts_total", "Starts.");
		expect(registry.text()).toBe("# HELP starts_total Starts.\n# TYPE starts_total counter\nstarts_total 0\n");
		counter.add([]);
		expect(registry.text()).toEndWith("\nstarts_total 1\n");
	});

	test("asking for a value begins no series", () => {
		const registry = createRegistry();
		registry.counter("a", "A.", ["b"]).value(["c"]);
		expect(parseMetrics(registry.text()).get("a")?.samples).toEqual([]);
	});
});

test("a gauge is read when it is asked for", () => {
	const registry = createRegistry();
	const rooms = new Map([["kitchen", 1]]);
	registry.gauge("people", "People.", ["room"], () => Array.from(rooms, ([room, people]) => [[room], people] as const));
	const people = (room: string) => sampleOf(parseMetrics(registry.text()), "people", { room });
	expect([people("kitchen"), people("hall")]).toEqual([1, undefined]);
	rooms.set("kitchen", 0).set("hall", -2.5);
	expect([people("kitchen"), people("hall")]).toEqual([0, -2.5]);
	expect(parseMetrics(registry.text()).get("people")?.type).toBe("gauge");
});

test.each([
	0,
	-0,
	1e21,
	1e-7,
	0.1 + 0.2,
	Number.MAX_SAFE_INTEGER,
	Number.NaN,
	Number.POSITIVE_INFINITY,
	Number.NEGATIVE_INFINITY,
])("the number %d comes back", (value) => {
	const registry = createRegistry();
	registry.gauge("a", "A.", [], () => [[[], value]]);
	const read = sampleOf(parseMetrics(registry.text()), "a");
	// Nobody tells zeros apart.
	expect(read).toBe(value === 0 ? 0 : value);
});

describe("a histogram", () => {
	test("counts what is at most each bound, and sums everything", () => {
		const registry = createRegistry();
		const histogram = registry.histogram("took_seconds", "Time.", ["tool"], [0.1, 1]);
		for (const seconds of [0, 0.1, 0.11, 1, 1.5, 100]) histogram.observe(["a"], seconds);
		const families = parseMetrics(registry.text());
		const at = (suffix: string, labels = {}) => sampleOf(families, `took_seconds${suffix}`, { tool: "a", ...labels });
		expect(families.get("took_seconds")?.type).toBe("histogram");
		expect(at("_bucket", { le: "0.1" })).toBe(2);
		expect(at("_bucket", { le: "1" })).toBe(4);
		expect(at("_bucket", { le: "+Inf" })).toBe(6);
		expect(at("_count")).toBe(6);
		expect(at("_sum")).toBeCloseTo(102.71);
	});

	test("without labels is there from the start", () => {
		const registry = createRegistry();
		registry.histogram("took_seconds", "Time.", [], [1]);
		expect(registry.text()).toEndWith(
			'\ntook_seconds_bucket{le="1"} 0\ntook_seconds_bucket{le="+Inf"} 0\ntook_seconds_sum 0\ntook_seconds_count 0\n',
		);
	});
});

const hostile = [
	'quote " and \\',
	"two\nlines",
	"\\n",
	'"} 1\nforged{x="',
	"comma, {brace}",
	"",
	" ",
	"Zoë 🦆",
	"a\r\u2028b",
];

describe.each(hostile)("%j", (text) => {
	test("as a label's value comes back", () => {
		const registry = createRegistry();
		registry.counter("a", "A.", ["x", "y"]).add([text, "end"]);
		registry.histogram("b", "B.", ["x"], [1]).observe([text], 2);
		registry.gauge("c", "C.", ["x"], () => [[[text], 3]]);
		const families = parseMetrics(registry.text());
		expect([...families.keys()]).toEqual(["a", "b", "c"]);
		expect(sampleOf(families, "a", { x: text, y: "end" })).toBe(1);
		expect(sampleOf(families, "b_sum", { x: text })).toBe(2);
		expect(sampleOf(families, "c", { x: text })).toBe(3);
	});

	test("in a help text comes back", () => {
		const registry = createRegistry();
		registry.counter("a", `Help: ${text}.`);
		expect(parseMetrics(registry.text()).get("a")?.help).toBe(`Help: ${text}.`);
	});
});

test("no two combinations of label values are one", () => {
	const registry = createRegistry();
	const counter = registry.counter("a", "A.", ["x", "y"]);
	const pairs = [
		["a\0", "b"],
		["a", "\0b"],
		["a,", "b"],
		["a", ",b"],
		["ab", ""],
		["", "ab"],
	];
	for (const [at, pair] of pairs.entries()) counter.add(pair, at + 1);
	expect(pairs.map((pair) => counter.value(pair))).toEqual([1, 2, 3, 4, 5, 6]);
	expect(parseMetrics(registry.text()).get("a")?.samples).toHaveLength(6);
});

test("a process tells of its memory, its time and its start", () => {
	const registry = createRegistry();
	addProcessMetrics(registry);
	const families = parseMetrics(registry.text());
	const value = (name: string) => Number(sampleOf(families, name));
	expect(value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
	expect(value("process_heap_used_bytes")).toBeGreaterThan(1e5);
	expect(value("process_heap_total_bytes")).toBeGreaterThan(1e5);
	expect(value("process_start_time_seconds")).toBeLessThan(Date.now() / 1000);
	expect(value("process_start_time_seconds")).toBeGreaterThan(1.7e9);
	expect(value("process_cpu_seconds_total")).toBeGreaterThan(0);
	expect(families.get("process_cpu_seconds_total")?.type).toBe("counter");
});
