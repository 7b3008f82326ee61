import { expect, test } from "bun:test";
import { InvalidRequests } from "../../../../src/bot/discord/rest/invalid-requests.ts";
import {
	type Pause,
	RequestGuard,
} from "../../../../src/bot/discord/rest/request-guard.ts";

const second = 1_000;
const minute = 60 * second;

function startGuard(limit = 1_000) {
	const clock = { now: 0 };
	const now = () => clock.now;
	const told: Pause[] = [];
	const guard = new RequestGuard({
		invalid: new InvalidRequests(limit, now),
		now,
		onPause: (pause) => told.push(pause),
	});
	/** Sends a request as soon as one may be sent, and has it answered from elsewhere. */
	const answerByOther = (status: number, retryAfterMs?: number) => {
		clock.now += guard.pause?.waitMs ?? 0;
		clock.now += 1;
		guard.begin().noteForeignResponse(status, retryAfterMs);
		return guard.pause?.waitMs;
	};
	return { guard, clock, told, answerByOther };
}

test.each([
	[403, 5 * second, 10 * minute],
	[429, 5 * second, 10 * minute],
	[502, second, minute],
])(
	"the pauses after pages with %d double from %d ms up to %d ms, until Discord answers",
	(status, first, longest) => {
		const { guard, clock, answerByOther } = startGuard();
		const pauses = Array.from({ length: 9 }, () => answerByOther(status));
		expect(pauses).toEqual(
			[1, 2, 4, 8, 16, 32, 64, 128, 256].map((factor) =>
				Math.min(first * factor, longest),
			),
		);
		clock.now += guard.pause?.waitMs ?? 0;
		guard.begin().noteResponse(200, null);
		expect(answerByOther(status)).toBe(first);
	},
);

test("what a page asks for is kept to, up to an hour", () => {
	const { answerByOther } = startGuard();
	expect(answerByOther(429, 90 * second)).toBe(90 * second);
	expect(answerByOther(429, 1e12)).toBe(60 * minute);
});

test("answers to requests that were sent before the pause neither lengthen nor forget it", () => {
	const { guard, clock, told, answerByOther } = startGuard();
	const early = Array.from({ length: 50 }, () => guard.begin());
	expect(answerByOther(403)).toBe(5 * second);
	clock.now += 2 * second;
	for (const request of early) request.noteForeignResponse(403, undefined);
	expect(guard.pause).toEqual({
		why: "foreign answer",
		waitMs: 3 * second,
		status: 403,
	});
	early[0]?.noteResponse(200, null);
	expect(answerByOther(403)).toBe(10 * second);
	expect(told.map(({ waitMs }) => waitMs)).toEqual([5 * second, 10 * second]);
});

test("too many invalid requests and an answer from elsewhere each pause; the longer pause counts", () => {
	const { guard, told, answerByOther } = startGuard(2);
	guard.begin().noteResponse(403, null);
	expect(guard.pause).toBeUndefined();
	answerByOther(502);
	expect(guard.pause?.why).toBe("foreign answer");
	guard.begin().noteResponse(401, null);
	const pause = { why: "invalid requests", waitMs: 10 * minute - 1 } as const;
	expect(guard.pause).toEqual(pause);
	expect(guard.invalidCount).toBe(2);
	expect(told.map(({ why }) => why)).toEqual(["foreign answer"]);
});
