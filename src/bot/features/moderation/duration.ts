// Parses durations as people type them: "30m", "12h", "1d12h", "2w".

const unitMs: Readonly<Record<string, number>> = {
	m: 60_000,
	h: 3_600_000,
	d: 86_400_000,
	w: 604_800_000,
};
const maxMs = 5 * 366 * 86_400_000;

export const durationUsage =
	'a duration such as 30m, 12h, 3d or 2w, of up to 5 years, or "forever"';

/** Parses a duration such as "1d12h" into milliseconds; null for "forever", undefined if it is invalid or too long. */
export function readDuration(text: string): number | null | undefined {
	const duration = text.toLowerCase();
	if (duration === "forever") return null;
	if (!/^(?:\d{1,7}[mhdw])+$/.test(duration)) return undefined;
	let ms = 0;
	for (const [, count, unit = ""] of duration.matchAll(/(\d+)([mhdw])/g))
		ms += Number(count) * (unitMs[unit] ?? 0);
	return ms > 0 && ms <= maxMs ? ms : undefined;
}
