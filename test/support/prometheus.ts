// A strict parser of Prometheus' text format, version 0.0.4.
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details

export interface Family {
	type: string;
	help: string;
	samples: { name: string; labels: Record<string, string>; value: number }[];
}

/** The metrics in `text`, by name. Throws if it is malformed or inconsistent. */
export function parseMetrics(text: string): Map<string, Family> {
	if (!text.endsWith("\n")) throw new Error("the last line does not end");
	const families = new Map<string, Family>();
	const seen = new Set<string>();
	let name = "";
	let help: string | undefined;
	for (const line of text.slice(0, -1).split("\n")) {
		const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/s.exec(line);
		if (comment?.[1] === "HELP") {
			name = String(comment[2]);
			help = unescaped(String(comment[3]), /\\[\\n]/g);
		} else if (comment) {
			if (comment[2] !== name || help === undefined || families.has(name)) throw new Error(`out of place: ${line}`);
			const type = String(comment[3]);
			if (!/^(counter|gauge|histogram)$/.test(type)) throw new Error(`no type: ${line}`);
			families.set(name, { type, help, samples: [] });
			help = undefined;
		} else {
			const family = families.get(name);
			if (!family || help !== undefined) throw new Error(`out of place: ${line}`);
			const sample = parseSample(line);
			const suffix = sample.name.slice(name.length);
			const suffixes = family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
			if (!sample.name.startsWith(name) || !suffixes.includes(suffix)) throw new Error(`it is not of ${name}: ${line}`);
			const series = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
			if (seen.has(series)) throw new Error(`a second time: ${line}`);
			seen.add(series);
			family.samples.push(sample);
		}
	}
	if (help !== undefined) throw new Error(`${name} has no type`);
	for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
	return families;
}

/** The value of a sample, or undefined. */
export function sampleOf(
	families: Map<string, Family>,
	name: string,
	labels: Record<string, string> = {},
): number | undefined {
	const key = (of: Record<string, string>) => JSON.stringify(Object.entries(of).sort());
	for (const { samples } of families.values())
		for (const sample of samples) if (sample.name === name && key(sample.labels) === key(labels)) return sample.value;
	return undefined;
}

/** A sample of the program at `url`, whose metrics need no token; 0 without a sample. */
export async function fetchSample(url: string, name: string, labels: Record<string, string> = {}): Promise<number> {
	const response = await fetch(new URL("/metrics", url));
	return sampleOf(parseMetrics(await response.text()), name, labels) ?? 0;
}

function parseSample(line: string): Family["samples"][number] {
	const [, name, braced = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.+)\})? (\S+)$/s.exec(line) ?? [];
	if (name === undefined || value === undefined) throw new Error(`no sample: ${line}`);
	const labels: Record<string, string> = {};
	const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\[\\n"])*)"(?:,(?=.)|$)/y;
	while (label.lastIndex < braced.length) {
		const [, key, escaped] = label.exec(braced) ?? [];
		if (key === undefined || escaped === undefined || key in labels) throw new Error(`no labels: ${line}`);
		labels[key] = unescaped(escaped, /\\[\\n"]/g);
	}
	return { name, labels, value: parseValue(value) };
}

function parseValue(text: string): number {
	if (text === "NaN") return Number.NaN;
	const infinite = /^([+-])Inf$/.exec(text);
	if (infinite) return Number(`${infinite[1]}Infinity`);
	if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text)) throw new Error(`no number: ${text}`);
	return Number(text);
}

function unescaped(text: string, escapes: RegExp): string {
	return text.replace(escapes, (sequence) => (sequence === "\\n" ? "\n" : sequence.slice(1)));
}

/** Throws unless bounds and counts of the buckets ascend, up to +Inf with the total count. */
function checkHistogram(name: string, { samples }: Family): void {
	const groups = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) =>
		JSON.stringify(Object.entries(labels).sort()),
	);
	for (const group of groups.values()) {
		const of = (suffix: string) => group.filter((sample) => sample.name === name + suffix);
		const buckets = of("_bucket").map(({ labels, value }) => ({ bound: parseValue(String(labels.le)), value }));
		const [count, ...counts] = of("_count");
		if (!count || counts.length > 0 || of("_sum").length !== 1)
			throw new Error(`${name} has not one sum and one count`);
		const last = buckets.at(-1);
		if (last?.bound !== Number.POSITIVE_INFINITY || last.value !== count.value)
			throw new Error(`the last bucket of ${name} does not count everything`);
		for (const [at, { bound, value }] of buckets.entries()) {
			const before = buckets[at - 1];
			if (before && (before.bound >= bound || before.value > value))
				throw new Error(`the buckets of ${name} do not ascend`);
		}
	}
}
