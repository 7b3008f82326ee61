// When a routine runs: days of the week and a time of day in the bot's time zone, as people write them.

/** `days`: 0 is Sunday. */
export interface Schedule {
	days: readonly number[];
	hour: number;
	minute: number;
}

/** In English and German. */
const dayNames = [
	"sunday sun sonntag so",
	"monday mon montag mo",
	"tuesday tue dienstag di",
	"wednesday wed mittwoch mi",
	"thursday thu donnerstag do",
	"friday fri freitag fr",
	"saturday sat samstag sa sonnabend",
].map((names) => new Set(names.split(" ")));
const all = [0, 1, 2, 3, 4, 5, 6];
const groups: Readonly<Record<string, readonly number[]>> = {
	daily: all,
	day: all,
	days: all,
	täglich: all,
	weekday: all.slice(1, 6),
	weekdays: all.slice(1, 6),
	werktags: all.slice(1, 6),
	weekends: [0, 6],
	wochenends: [0, 6],
};
const fillers: ReadonlySet<string> = new Set(["every", "each", "on", "at", "and", "um", "und", "jeden", "uhr"]);

/** Such as "Mondays 9:00", "daily at 6pm" or "Mo und Fr um 18 Uhr". Undefined if it is no such text. */
export function readSchedule(text: string): Schedule | undefined {
	const days = new Set<number>();
	let time: { hour: number; minute: number } | undefined;
	for (const word of text.toLowerCase().split(/[\s,]+/)) {
		if (word === "" || fillers.has(word)) continue;
		const read = readTime(word);
		if (read) {
			if (time) return undefined;
			time = read;
			continue;
		}
		const meant = groups[word] ?? daysNamed(word);
		if (meant.length === 0) return undefined;
		for (const day of meant) days.add(day);
	}
	return time && { days: days.size === 0 ? all : [...days].sort(), ...time };
}

function daysNamed(word: string): number[] {
	return all.filter((day) => dayNames[day]?.has(word) || dayNames[day]?.has(word.replace(/s$/, "")));
}

function readTime(word: string): { hour: number; minute: number } | undefined {
	const [, digits = "", minutes = "0", half] = /^(\d{1,2})(?:[:.](\d\d))?(am|pm|h)?$/.exec(word) ?? [];
	if (digits === "") return undefined;
	const isHalf = half === "am" || half === "pm";
	const hour = isHalf ? (Number(digits) % 12) + (half === "pm" ? 12 : 0) : Number(digits);
	const minute = Number(minutes);
	return hour > 23 || minute > 59 || (isHalf && Number(digits) > 12) ? undefined : { hour, minute };
}

/** The first time after `from`, in epoch milliseconds. A time that the clock skips comes an hour later. */
export function nextTime({ days, hour, minute }: Schedule, from: number, timeZone: string): number {
	const today = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timeZone).toPlainDate();
	for (let date = today; ; date = date.add({ days: 1 })) {
		const at = date.toZonedDateTime({ timeZone, plainTime: { hour, minute } }).epochMilliseconds;
		if (at > from && days.includes(date.dayOfWeek % 7)) return at;
	}
}
