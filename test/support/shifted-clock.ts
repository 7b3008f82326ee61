// `bun run test:clock` runs the tests that depend on the date at a random time in a random time zone, which it prints; with
// arguments it runs `bun test` with them. CLOCK repeats a run. No SQL reads the clock, so that SQLite is enough. libfaketime (https://github.com/wolfcw/libfaketime) shifts the
// wall clock of the tests and of all programs that they start, but neither the monotonic clock nor file times.

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { seeded } from "./random.ts";

const random = seeded(Math.random() * 2 ** 32);
const dayS = 86_400;

// Changes at midnight and by half an hour, offsets with odd minutes, both sides of the date line.
const zones = [
	"Africa/Cairo",
	"America/Havana",
	"America/Los_Angeles",
	"America/St_Johns",
	"Asia/Kathmandu",
	"Australia/Lord_Howe",
	"Europe/Berlin",
	"Pacific/Chatham",
	"Pacific/Kiritimati",
	"Pacific/Pago_Pago",
	"UTC",
];

/** A time within two years of now. Half of them are shortly before the clock or the calendar changes. */
function draw(): Temporal.ZonedDateTime {
	const zone = random.pick(zones);
	const any = Temporal.Now.zonedDateTimeISO(zone).add({ seconds: random.below(4 * 365 * dayS) - 2 * 365 * dayS });
	if (random.chance(0.5)) return any;
	// The code computes in UTC, the machine in its own zone.
	const day = any.withTimeZone(random.pick([zone, "UTC"])).startOfDay();
	const month = day.with({ day: 1 });
	const year = month.with({ month: 1 });
	const leapYear = year.with({ year: Math.ceil(day.year / 4) * 4 });
	const change = random.pick([
		day.add({ days: 1 }),
		month.add({ months: 1 }),
		year.add({ years: 1 }),
		leapYear.with({ month: 2, day: 29 }),
		leapYear.with({ month: 3 }),
		any.getTimeZoneTransition("next") ?? day,
	]);
	return change.withTimeZone(zone).subtract({ seconds: random.below(90) });
}

const { CLOCK } = process.env;
const start = CLOCK ? Temporal.ZonedDateTime.from(CLOCK) : draw();
const shiftMs = start.epochMilliseconds - Date.now();
const env = {
	DATABASES: "sqlite",
	BUN_GC_TIMER_DISABLE: "1",
	...process.env,
	TZ: start.timeZoneId,
	// The path on Debian. ld.so replaces $LIB with the platform's directory.
	LD_PRELOAD: "/usr/$LIB/faketime/libfaketimeMT.so.1",
	FAKETIME: `${shiftMs < 0 ? "" : "+"}${Math.round(shiftMs / 1000)}`,
	FAKETIME_DONT_FAKE_MONOTONIC: "1",
	NO_FAKE_STAT: "1",
};

/** Whether the clock of new programs is shifted. */
function isShifted(): boolean {
	const code = "console.log(Date.now())";
	const { stdout } = Bun.spawnSync([process.execPath, "-e", code], { env });
	const expected = Date.now() + shiftMs;
	return Math.abs(Number(stdout.toString()) - expected) < 60_000;
}

const clock = /\bDate\(\)|\bDate\.now|\bTemporal\b|toLocale|timeZone|DateTimeFormat|\b20\d\d-\d\d-\d\dT/;
const calendar = /\bTemporal\b|timeZone|DateTimeFormat|\.[gs]et(UTC)?(Date|Day|Month|FullYear|Hours|Minutes)\b/;

/** The quick tests that ask for the time or name an instant, or whose source, the one of the same path, computes with a calendar. */
function dependsOnDate(path: string): boolean {
	if (!path.endsWith(".test.ts") || path.endsWith(".long.test.ts")) return false;
	const source = path.replace(/^test/, "src").replace(".test.ts", ".ts");
	return clock.test(readFileSync(path, "utf8")) || (existsSync(source) && calendar.test(readFileSync(source, "utf8")));
}

const folders = ["lib", "mcp", "gateway", "discord", "guild-document", "bot", "simulator"];
const files = () =>
	folders
		.flatMap((folder) => readdirSync(`test/${folder}`, { recursive: true }).map((path) => `test/${folder}/${path}`))
		.filter(dependsOnDate);

/** Removes the files that libfaketime leaves behind after killed processes. */
function removeShared(): void {
	const user = process.getuid?.();
	for (const name of readdirSync("/dev/shm")) {
		const path = `/dev/shm/${name}`;
		const pid = /^(?:sem\.)?faketime_\w+_(\d+)$/.exec(name)?.[1];
		if (!pid || existsSync(`/proc/${pid}`)) continue;
		// Files of other users stay, unless the tests run as root: then PostgreSQL has another user.
		const owner = statSync(path, { throwIfNoEntry: false })?.uid;
		if (user === 0 || owner === user) rmSync(path, { force: true });
	}
}

if (isShifted()) {
	const time = start.toString({ smallestUnit: "second" });
	console.log(`the clock starts at ${time}; to repeat it:
CLOCK='${time}' bun run test:clock`);
	const args = process.argv.slice(2);
	const chosen =
		args.length > 0
			? args
			: [
					"--dots",
					"--parallel=6",
					"--no-isolate",
					"--timings=test/timings.json",
					"test/support/clock.test.ts",
					"test/bot/reference.long.test.ts",
					...files(),
				];
	const tests = Bun.spawn([process.execPath, "test", "--timeout", "120000", ...chosen], {
		env,
		stdio: ["inherit", "inherit", "inherit"],
	});
	process.exitCode = await tests.exited;
	removeShared();
} else {
	console.error(
		"the clock cannot be shifted: libfaketime is missing or has no effect (on Debian: apt-get install libfaketime)",
	);
	process.exitCode = 1;
}
