// What a program counts and measures, in the text format of Prometheus.
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
// A series, once begun, stays until the end: label values must come from a bounded set.

export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/** Values for the labels that a metric was made with, in the same order. Another number of them is a TypeError. */
type LabelValues = readonly string[];

/** Label values and what is measured for them. */
type Sample = readonly [labelValues: LabelValues, value: number];

export interface Counter {
	/** A negative amount is a RangeError. */
	add(labelValues: LabelValues, amount?: number): void;
	/** The sum so far. */
	value(labelValues: LabelValues): number;
}

export interface Histogram {
	observe(labelValues: LabelValues, seconds: number): void;
}

/** A name that is taken or no legal one is a TypeError. Metrics without labels are there from the start. */
export interface Registry {
	counter(name: string, help: string, labelNames?: readonly string[]): Counter;
	/** A counter that someone else keeps; `read` is asked at every scrape. */
	readCounter(
		name: string,
		help: string,
		labelNames: readonly string[],
		read: () => Iterable<Sample>,
	): void;
	/** `read` is asked at every scrape. */
	gauge(
		name: string,
		help: string,
		labelNames: readonly string[],
		read: () => Iterable<Sample>,
	): void;
	/** The upper bounds of its buckets ascend; the one without end is added to them. */
	histogram(
		name: string,
		help: string,
		labelNames?: readonly string[],
		bucketsSeconds?: readonly number[],
	): Histogram;
	/** Everything, as it is now. */
	text(): string;
}

/** From what a cache answers to what a time-out ends. */
const defaultBucketsSeconds = [
	0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

export function createRegistry(): Registry {
	const taken = new Set<string>();
	/** Each writes the lines of one metric. */
	const metrics: (() => Iterable<string>)[] = [];

	function add(
		type: "counter" | "gauge" | "histogram",
		name: string,
		help: string,
		labelNames: readonly string[],
		samples: () => Iterable<string>,
	): void {
		checkNames(name, labelNames);
		const suffixes = type === "histogram" ? histogramSuffixes : [];
		const names = [name, ...suffixes.map((suffix) => name + suffix)];
		for (const one of names)
			if (taken.has(one)) throw new TypeError(`two metrics are called ${one}`);
		for (const one of names) taken.add(one);
		const head = [
			`# HELP ${name} ${escapeHelp(help)}`,
			`# TYPE ${name} ${type}`,
		];
		metrics.push(function* () {
			yield* head;
			yield* samples();
		});
	}

	function addRead(
		type: "counter" | "gauge",
		name: string,
		help: string,
		labelNames: readonly string[],
		read: () => Iterable<Sample>,
	): void {
		add(type, name, help, labelNames, function* () {
			for (const [labelValues, value] of read()) {
				checkCount(labelNames, labelValues);
				yield sample(name, labelText(labelNames, labelValues), value);
			}
		});
	}

	return {
		counter(name, help, labelNames = []) {
			const series = createSeries(labelNames, () => ({ sum: 0 }));
			add("counter", name, help, labelNames, function* () {
				for (const { labels, state } of series.all())
					yield sample(name, labels, state.sum);
			});
			return {
				add(labelValues, amount = 1) {
					if (!(amount >= 0))
						throw new RangeError(`${name} cannot grow by ${amount}`);
					series.of(labelValues).sum += amount;
				},
				value: (labelValues) => series.peek(labelValues)?.sum ?? 0,
			};
		},
		readCounter: (...args) => addRead("counter", ...args),
		gauge: (...args) => addRead("gauge", ...args),
		histogram(
			name,
			help,
			labelNames = [],
			bucketsSeconds = defaultBucketsSeconds,
		) {
			const bounds = [...bucketsSeconds];
			if (labelNames.includes("le"))
				throw new TypeError(`${name} has a label le, which buckets need`);
			if (
				!bounds.every((bound, at) => at === 0 || bound > Number(bounds[at - 1]))
			)
				throw new TypeError(`the buckets of ${name} do not ascend`);
			const series = createSeries(labelNames, () => ({
				// The last one is without end.
				counts: new Array<number>(bounds.length + 1).fill(0),
				sum: 0,
			}));
			add("histogram", name, help, labelNames, function* () {
				for (const { labels, state } of series.all()) {
					let count = 0;
					for (const [at, own] of state.counts.entries()) {
						count += own;
						const bound = numberText(bounds[at] ?? Number.POSITIVE_INFINITY);
						const le = `le="${bound}"`;
						const all = labels === "" ? le : `${labels},${le}`;
						yield sample(`${name}_bucket`, all, count);
					}
					yield sample(`${name}_sum`, labels, state.sum);
					yield sample(`${name}_count`, labels, count);
				}
			});
			return {
				observe(labelValues, seconds) {
					// A sum that is no number stays none for good.
					if (Number.isNaN(seconds))
						throw new RangeError(`${name} was given no number`);
					const state = series.of(labelValues);
					let at = 0;
					while (at < bounds.length && seconds > Number(bounds[at])) at += 1;
					state.counts[at] = Number(state.counts[at]) + 1;
					state.sum += seconds;
				},
			};
		},
		text() {
			const lines = metrics.flatMap((metric) => [...metric()]);
			return lines.map((line) => `${line}\n`).join("");
		},
	};
}

/** What every process has to tell of itself, under the names that Prometheus' own clients use. */
export function addProcessMetrics(registry: Registry): void {
	const startedAt = Date.now() / 1000 - process.uptime();
	const values = (read: () => number) => () => [[[], read()]] as const;
	registry.gauge(
		"process_resident_memory_bytes",
		"Memory of the process that is in RAM.",
		[],
		values(() => process.memoryUsage.rss()),
	);
	registry.gauge(
		"process_heap_used_bytes",
		"Memory that JavaScript objects take.",
		[],
		values(() => process.memoryUsage().heapUsed),
	);
	registry.gauge(
		"process_heap_total_bytes",
		"Memory that is set aside for JavaScript objects.",
		[],
		values(() => process.memoryUsage().heapTotal),
	);
	registry.gauge(
		"process_start_time_seconds",
		"When the process began, in seconds since 1970.",
		[],
		values(() => startedAt),
	);
	registry.readCounter(
		"process_cpu_seconds_total",
		"Processor time that the process took, its own and the system's for it.",
		[],
		values(() => {
			const { user, system } = process.cpuUsage();
			return (user + system) / 1e6;
		}),
	);
}

const histogramSuffixes = ["_bucket", "_sum", "_count"] as const;

/** One state for each combination of label values. */
interface Series<State> {
	/** Begun if it is new. */
	of(labelValues: LabelValues): State;
	peek(labelValues: LabelValues): State | undefined;
	all(): Iterable<{ labels: string; state: State }>;
}

// A lone surrogate is in no well-formed text, so that no two combinations have the same key.
const separator = "\udfff";

function createSeries<State>(
	labelNames: readonly string[],
	begin: () => State,
): Series<State> {
	const byKey = new Map<string, { labels: string; state: State }>();
	const keyOf = (labelValues: LabelValues) => {
		checkCount(labelNames, labelValues);
		// The common case needs no new string.
		return labelValues.length === 1
			? (labelValues[0] as string)
			: labelValues.join(separator);
	};
	const start = (key: string, labelValues: LabelValues) => {
		const one = { labels: labelText(labelNames, labelValues), state: begin() };
		byKey.set(key, one);
		return one;
	};
	if (labelNames.length === 0) start("", []);
	return {
		of(labelValues) {
			const key = keyOf(labelValues);
			return (byKey.get(key) ?? start(key, labelValues)).state;
		},
		peek: (labelValues) => byKey.get(keyOf(labelValues))?.state,
		all: () => byKey.values(),
	};
}

function checkCount(
	labelNames: readonly string[],
	labelValues: LabelValues,
): void {
	if (labelValues.length !== labelNames.length)
		throw new TypeError(
			`expected ${labelNames.length} label values, received ${labelValues.length}`,
		);
}

function checkNames(name: string, labelNames: readonly string[]): void {
	if (!/^[a-zA-Z_:][\w:]*$/.test(name))
		throw new TypeError(`${JSON.stringify(name)} is no name for a metric`);
	for (const label of labelNames)
		if (!/^(?!__)[a-zA-Z_]\w*$/.test(label))
			throw new TypeError(`${JSON.stringify(label)} is no name for a label`);
	if (new Set(labelNames).size < labelNames.length)
		throw new TypeError(`two labels of ${name} have the same name`);
}

function labelText(
	labelNames: readonly string[],
	labelValues: LabelValues,
): string {
	return labelNames
		.map((name, at) => `${name}="${escapeLabel(labelValues[at] ?? "")}"`)
		.join(",");
}

function sample(name: string, labels: string, value: number): string {
	const braced = labels === "" ? "" : `{${labels}}`;
	return `${name}${braced} ${numberText(value)}`;
}

function numberText(value: number): string {
	if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
	return value > 0 ? "+Inf" : "-Inf";
}

function escapeLabel(text: string): string {
	return escapeHelp(text).replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
	return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
