import { expect, test } from "bun:test";
import { type Pause, RequestGuard } from "../../../src/discord/rest/request-guard.ts";

const second = 1_000;
const minute = 60 * second;

function startGuard(limit = 1_000) {
	const clock = { now: 0 };
	const now = () => clock.now;
	const started: Pause[] = [];
	const guard = new RequestGuard((pause) => started.push(pause), now, limit);
	/** Sends a request as soon as there is no pause, and answers it with a foreign response. */
	const answerForeign = (status: number, retryAfterMs?: number) => {
		clock.now += guard.pause?.waitMs ?? 0;
		clock.now += 1;
		guard.begin().noteForeignResponse(status, retryAfterMs);
		return guard.pause?.waitMs;
	};
	return { guard, clock, started, answerForeign };
}

test.each([
	[403, 5 * second, 10 * minute],
	[429, 5 * second, 10 * minute],
	[502, second, minute],
])(
	"the pauses after foreign responses with %d double from %d ms up to %d ms, until Discord responds",
	(status, first, longest) => {
		const { guard, clock, answerForeign } = startGuard();
		const pauses = Array.from({ length: 9 }, () => answerForeign(status));
		expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256].map((factor) => Math.min(first * factor, longest)));
		clock.now += guard.pause?.waitMs ?? 0;
		guard.begin().noteResponse(200, null);
		expect(answerForeign(status)).toBe(first);
	},
);

test("Retry-After is respected, up to an hour", () => {
	const { answerForeign } = startGuard();
	expect(answerForeign(429, 90 * second)).toBe(90 * second);
	expect(answerForeign(429, 1e12)).toBe(60 * minute);
});

test("responses to requests sent before the pause neither extend nor end it", () => {
	const { guard, clock, started, answerForeign } = startGuard();
	const early = Array.from({ length: 50 }, () => guard.begin());
	expect(answerForeign(403)).toBe(5 * second);
	clock.now += 2 * second;
	for (const request of early) request.noteForeignResponse(403, undefined);
	expect(guard.pause).toEqual({ why: "foreign response", waitMs: 3 * second, status: 403 });
	early[0]?.noteResponse(200, null);
	expect(answerForeign(403)).toBe(10 * second);
	expect(started.map(({ waitMs }) => waitMs)).toEqual([5 * second, 10 * second]);
});

test("too many invalid requests and a foreign response each pause requests; the longer pause applies", () => {
	const { guard, started, answerForeign } = startGuard(2);
	guard.begin().noteResponse(403, null);
	expect(guard.pause).toBeUndefined();
	answerForeign(502);
	expect(guard.pause?.why).toBe("foreign response");
	guard.begin().noteResponse(401, null);
	const pause = { why: "invalid requests", waitMs: 10 * minute - 1 } as const;
	expect(guard.pause).toEqual(pause);
	expect(guard.invalidCount).toBe(2);
	expect(started.map(({ why }) => why)).toEqual(["foreign response"]);
});
