// Counters, gauges and histograms in Prometheus text format.
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
// Series are never removed, so label values must come from a bounded set.

export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

type LabelValues = readonly string[];

type Sample = readonly [labelValues: LabelValues, value: number];

export interface Counter {
	/** Default 1. */
	add(labelValues: LabelValues, amount?: number): void;
	value(labelValues: LabelValues): number;
}

export interface Histogram {
	observe(labelValues: LabelValues, seconds: number): void;
}

const defaultBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type Registry = ReturnType<typeof createRegistry>;

/** Metrics without labels are listed even before their first value. */
export function createRegistry() {
	const metrics: (() => Iterable<string>)[] = [];

	function add(
		type: "counter" | "gauge" | "histogram",
		name: string,
		help: string,
		samples: () => Iterable<string>,
	): void {
		const head = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`];
		metrics.push(function* () {
			yield* head;
			yield* samples();
		});
	}

	const addRead =
		(type: "counter" | "gauge") =>
		(name: string, help: string, labelNames: readonly string[], read: () => number | Iterable<Sample>) =>
			add(type, name, help, function* () {
				const values = read();
				const samples: Iterable<Sample> = typeof values === "number" ? [[[], values]] : values;
				for (const [labelValues, value] of samples) yield sample(name, labelText(labelNames, labelValues), value);
			});

	return {
		counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
			const series = createSeries(labelNames, () => ({ sum: 0 }));
			add("counter", name, help, function* () {
				for (const { labels, state } of series.all()) yield sample(name, labels, state.sum);
			});
			return {
				add(labelValues, amount = 1) {
					series.of(labelValues).sum += amount;
				},
				value: (labelValues) => series.peek(labelValues)?.sum ?? 0,
			};
		},
		/** The callback is called whenever Prometheus reads the metrics. */
		readCounter: addRead("counter"),
		gauge: addRead("gauge"),
		/** Durations in seconds. The bounds of the buckets ascend; +Inf is added. */
		histogram(
			name: string,
			help: string,
			labelNames: readonly string[] = [],
			bounds: readonly number[] = defaultBucketsSeconds,
		): Histogram {
			const series = createSeries(labelNames, () => ({
				// The last count is for +Inf.
				counts: new Array<number>(bounds.length + 1).fill(0),
				sum: 0,
			}));
			add("histogram", name, help, function* () {
				for (const { labels, state } of series.all()) {
					let count = 0;
					for (const [at, own] of state.counts.entries()) {
						count += own;
						const le = `le="${numberText(bounds[at] ?? Number.POSITIVE_INFINITY)}"`;
						const all = labels === "" ? le : `${labels},${le}`;
						yield sample(`${name}_bucket`, all, count);
					}
					yield sample(`${name}_sum`, labels, state.sum);
					yield sample(`${name}_count`, labels, count);
				}
			});
			return {
				observe(labelValues, seconds) {
					const state = series.of(labelValues);
					let at = 0;
					while (at < bounds.length && seconds > Number(bounds[at])) at += 1;
					state.counts[at] = Number(state.counts[at]) + 1;
					state.sum += seconds;
				},
			};
		},
		text(): string {
			const lines = metrics.flatMap((metric) => [...metric()]);
			return lines.map((line) => `${line}\n`).join("");
		},
	};
}

/** Memory, start and CPU time as `process_…`, as in Prometheus client libraries. */
export function addProcessMetrics(registry: Registry): void {
	const startedAt = Date.now() / 1000 - process.uptime();
	const gauge = (name: string, help: string, read: () => number) => registry.gauge(`process_${name}`, help, [], read);
	gauge("resident_memory_bytes", "Resident memory of the process.", () => process.memoryUsage.rss());
	gauge("heap_used_bytes", "Memory used by JavaScript objects.", () => process.memoryUsage().heapUsed);
	gauge("heap_total_bytes", "Memory reserved for JavaScript objects.", () => process.memoryUsage().heapTotal);
	gauge("start_time_seconds", "Start time of the process, in seconds since 1970.", () => startedAt);
	registry.readCounter("process_cpu_seconds_total", "User and system CPU time of the process.", [], () => {
		const { user, system } = process.cpuUsage();
		return (user + system) / 1e6;
	});
}

interface Series<State> {
	labels: string;
	state: State;
}

interface SeriesNode<State> {
	series: Series<State> | undefined;
	next: Map<string, SeriesNode<State>>;
}

function createSeries<State>(labelNames: readonly string[], begin: () => State) {
	const all: Series<State>[] = [];
	const createNode = (): SeriesNode<State> => ({ series: undefined, next: new Map() });
	const root = createNode();
	const start = (node: SeriesNode<State>, labelValues: LabelValues) => {
		node.series = { labels: labelText(labelNames, labelValues), state: begin() };
		all.push(node.series);
		return node.series;
	};
	if (labelNames.length === 0) start(root, []);
	return {
		// A map per label, because a key of several values would be a new text for each call.
		of(labelValues: LabelValues): State {
			let node = root;
			for (const value of labelValues) {
				let next = node.next.get(value);
				if (!next) {
					next = createNode();
					node.next.set(value, next);
				}
				node = next;
			}
			return (node.series ?? start(node, labelValues)).state;
		},
		peek(labelValues: LabelValues): State | undefined {
			let node: SeriesNode<State> | undefined = root;
			for (const value of labelValues) node = node?.next.get(value);
			return node?.series?.state;
		},
		all: () => all,
	};
}

function labelText(labelNames: readonly string[], labelValues: LabelValues): string {
	return labelNames
		.map((name, at) => `${name}="${escapeHelp(labelValues[at] ?? "").replaceAll('"', '\\"')}"`)
		.join(",");
}

function sample(name: string, labels: string, value: number): string {
	return `${name}${labels === "" ? "" : `{${labels}}`} ${numberText(value)}`;
}

function numberText(value: number): string {
	if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
	return value > 0 ? "+Inf" : "-Inf";
}

function escapeHelp(text: string): string {
	return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
