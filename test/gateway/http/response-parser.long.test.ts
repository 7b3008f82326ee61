// Random responses, valid and broken, without a socket: wherever the bytes are split, the parser finds the same.
// FUZZ_SEED repeats a run, FUZZ_SECONDS makes it longer.

import { expect, test } from "bun:test";
import { ParseError, ResponseParser } from "../../../src/gateway/http/response-parser.ts";
import { seeded } from "../../support/random.ts";
import { randomResponse } from "../../support/random-response.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20261121);
const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
console.log(`FUZZ_SEED=${seed}`);

type Outcome = { refused: true } | { refused: false; status: number; body: string; isComplete: boolean };

const options = { maxHeadBytes: 16_384, heads: new Map() };

/** What a parser makes of these bytes after another response, up to the end of the first response among them. */
function parse(parser: ResponseParser, pieces: readonly Uint8Array[]): Outcome {
	parser.start(16_384);
	const outcome = { refused: false, status: 0, body: "", isComplete: false };
	try {
		for (const piece of pieces) {
			parser.push(Buffer.from(piece));
			for (let event = parser.next(); event; event = parser.next()) {
				if (event.type === "head") outcome.status = event.status;
				if (event.type === "chunk") outcome.body += Buffer.from(event.bytes).toString("latin1");
				if (event.type === "end") return { ...outcome, isComplete: true } as Outcome;
			}
		}
		return outcome as Outcome;
	} catch (error) {
		if (!(error instanceof ParseError)) throw error;
		return { refused: true };
	}
}

test(
	"a response is read the same, refused or incomplete, wherever its bytes are split",
	() => {
		const random = seeded(seed);
		const end = performance.now() + seconds * 1_000;
		const counts = { complete: 0, incomplete: 0, refused: 0 };
		let kept = new ResponseParser(options);
		for (let n = 0; n < 10_000 || performance.now() < end; n++) {
			const bytes = Buffer.from(randomResponse(random), "latin1");
			const whole = parse(new ResponseParser(options), [bytes]);
			for (const max of [3, 20, bytes.length])
				expect(parse(new ResponseParser(options), random.cut(bytes, max))).toEqual(whole);
			const again = parse(kept, random.cut(bytes, 4));
			expect({ bytes: bytes.toString("latin1"), again }).toEqual({ bytes: bytes.toString("latin1"), again: whole });
			// As a connection does, which is only kept after a complete response.
			if (whole.refused || !whole.isComplete || !kept.isKeepAlive) kept = new ResponseParser(options);
			if (whole.refused) counts.refused++;
			else if (whole.isComplete) counts.complete++;
			else counts.incomplete++;
		}
		for (const count of Object.values(counts)) expect(count).toBeGreaterThan(300);
	},
	120_000 + seconds * 1_000,
);
