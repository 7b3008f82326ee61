// Times as people and models write them: ISO 8601 dates and times, and durations such as "6h".

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const unitsMs: readonly (readonly [unit: RegExp, ms: number])[] = [
	[/^s(ec(ond)?s?)?$/, secondMs],
	[/^m(in(ute)?s?)?$/, minuteMs],
	[/^h(ours?|rs?)?$/, hourMs],
	[/^d(ays?)?$/, dayMs],
	[/^w(eeks?)?$/, 7 * dayMs],
	[/^mo(n(th)?s?)?$/, 30 * dayMs],
	[/^y(ears?|rs?)?$/, 365 * dayMs],
];

const durationPattern = /^(?:\d{1,9} ?[a-z]{1,7} ?)+$/i;
const durationParts = /(\d{1,9}) ?([a-z]{1,7})/gi;

/** "90s", "6h", "30 days" or "1d12h" in milliseconds. Undefined for other text, and numbers without a unit. */
export function readDuration(text: string): number | undefined {
	if (!durationPattern.test(text)) return undefined;
	const parts = [...text.matchAll(durationParts)].map(([, count, name = ""]) => {
		const unit = unitsMs.find(([unit]) => unit.test(name.toLowerCase()));
		return unit && Number(count) * unit[1];
	});
	return parts.reduce((sum, ms) => (sum === undefined || ms === undefined ? undefined : sum + ms), 0);
}

/** NaN for what is no duration. */
export const secondsOf = (text: string) => (readDuration(text) ?? Number.NaN) / secondMs;

const units = [
	["d", 86_400],
	["h", 3600],
	["m", 60],
] as const;

/** Such as "90m" or "1h", which `secondsOf` reads; "0s" for none. */
export function durationText(seconds: number): string {
	const [unit, size] = units.find(([, size]) => seconds > 0 && seconds % size === 0) ?? ["s", 1];
	return `${seconds / size}${unit}`;
}

/** "now", "6h ago", "in 6h" in epoch milliseconds. `direction`: that of a plain "6h". Undefined for other text. */
export function readRelativeTime(text: string, direction: -1 | 1): number | undefined {
	if (text === "now") return Date.now();
	const [, sign = "", duration = "", ago] = /^(in |[+-]|)(.*?)( ago)?$/.exec(text) ?? [];
	const ms = readDuration(duration.trim());
	if (ms === undefined || (sign !== "" && ago)) return undefined;
	const isPast = sign === "-" || ago || (sign === "" && direction === -1);
	return Date.now() + (isPast ? -ms : ms);
}

const timePattern = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** ISO 8601, by default in UTC, in epoch milliseconds. Undefined for invalid text. */
export function readTime(text: string): number | undefined {
	const [, day, clock = "00:00", zone = "Z"] = timePattern.exec(text) ?? [];
	const at = Date.parse(`${day}T${clock}${zone}`);
	if (day === undefined || Number.isNaN(at)) return undefined;
	// Date.parse reads 30 February as a day in March.
	const midnight = new Date(`${day}T00:00Z`).toISOString();
	return midnight.startsWith(day) ? at : undefined;
}

/** A duration, date or time in epoch milliseconds. `direction` is that of a plain "6h". Undefined for other text. */
export function readAnyTime(text: string, direction: -1 | 1): number | undefined {
	const at = readRelativeTime(text, direction) ?? readTime(text.replace(" ", "T"));
	// JavaScript's dates end 100,000,000 days after 1970.
	return at === undefined || Number.isNaN(new Date(at).getTime()) ? undefined : at;
}
