// Random answers over connections that are used again and again, cut at random bytes, given up at random moments: each
// answer is the one to its request, and what did not come says truly how far its request got.
// FUZZ_SEED repeats a run, FUZZ_SECONDS makes it longer.

import { afterAll, expect, test } from "bun:test";
import { HttpClient } from "../../../src/gateway/http/http-client.ts";
import { HttpFailure, type HttpResponse } from "../../../src/lib/http.ts";
import { PlainSignal } from "../../../src/lib/signal.ts";
import { type Random, seeded } from "../../support/random.ts";
import { sendBy } from "../../support/send.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20261121);
const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
console.log(`FUZZ_SEED=${seed}`);

interface Plan {
	pieces: Uint8Array[];
	/** What becomes of the connection afterwards. */
	afterwards: "keep" | "end" | "terminate";
	/** Whether the answer comes before the request is whole. */
	isEarly: boolean;
	/** Whether it leaves in one piece. */
	isWhole: boolean;
	/** What an answer that is accepted has in it; undefined where none may be. */
	body: string | undefined;
}

const planned = new Map<string, Plan>();
/** How often each request was seen, in part or as a whole. */
const begun = new Map<string, number>();
const whole = new Map<string, number>();
const countIn = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

interface Peer {
	received: Buffer;
	key: string | undefined;
}

async function answer(peer: Bun.Socket<Peer>, { pieces, afterwards }: Plan) {
	for (const piece of pieces) {
		peer.write(piece);
		await Bun.sleep(0);
	}
	if (afterwards !== "keep") peer[afterwards]();
}

const stub = Bun.listen<Peer>({
	hostname: "127.0.0.1",
	port: 0,
	socket: {
		open(peer) {
			peer.data = { received: Buffer.alloc(0), key: undefined };
			peer.setNoDelay(true);
		},
		data(peer, bytes) {
			const { data } = peer;
			data.received = Buffer.concat([data.received, bytes]);
			for (;;) {
				const headEnd = data.received.indexOf("\r\n\r\n");
				if (headEnd < 0) return;
				const head = data.received.toString("latin1", 0, headEnd);
				const key = /X-Request-Id: (\w+)/.exec(head)?.[1] ?? "";
				const length = Number(/Content-Length: (\d+)/.exec(head)?.[1]);
				const plan = planned.get(key) as Plan;
				if (data.key !== key) {
					countIn(begun, key);
					if (plan.isEarly) void answer(peer, plan);
				}
				data.key = key;
				const end = headEnd + 4 + length;
				if (data.received.length < end) return;
				data.received = data.received.subarray(end);
				data.key = undefined;
				countIn(whole, key);
				if (!plan.isEarly) void answer(peer, plan);
			}
		},
	},
});
const client = new HttpClient({ url: `http://127.0.0.1:${stub.port}/`, idleTimeoutMs: 60 });
const send = sendBy(client.dispatch);
afterAll(() => {
	client.close();
	stub.stop(true);
});

function chunked(random: Random, body: string): string {
	let text = "";
	for (let at = 0; at < body.length; ) {
		const chunk = body.slice(at, at + 1 + random.below(30));
		text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
		at += chunk.length;
	}
	return `${text}0\r\n${random.pick(["", "A: b\r\n"])}\r\n`;
}

/** An answer with the request's key in it, in any form that there is, or one that must not be taken for an answer. */
function plan(random: Random, key: string): Plan {
	const body = `<${key}>${"x".repeat(random.below(random.pick([80, 80, 200_000])))}`;
	const ok = `HTTP/1.1 200 OK\r\n${random.pick(["", "X-A: b\r\n"])}`;
	const sized = `${ok}Content-Length: ${body.length}\r\n\r\n${body}`;
	const good = { afterwards: "keep", isEarly: false, isWhole: false, body } as const;
	const none = { ...good, body: undefined };
	// In one piece: once the next request has left, nobody can tell that it was not asked for.
	const unasked = `${ok}Content-Length: ${key.length + 2}\r\n\r\n<${key}>${ok}Content-Length: 5\r\n\r\nEXTRA`;
	const cut = sized.slice(0, random.below(sized.length - 1));
	const forms: (() => [text: string, plan: Omit<Plan, "pieces">])[] = [
		() => [sized, good],
		() => [sized, { ...good, isEarly: true }],
		() => [sized, { ...good, afterwards: random.pick(["end", "terminate"]) }],
		() => [`${ok}Transfer-Encoding: chunked\r\n\r\n${chunked(random, body)}`, good],
		() => [`HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${sized}`, good],
		() => ["HTTP/1.1 204 No Content\r\n\r\n", { ...good, body: "" }],
		// A short one: Bun's end() may cut off what it has not sent.
		() => [`${ok}\r\n<${key}>`, { ...good, afterwards: "end", body: `<${key}>` }],
		() => [unasked, { ...good, isWhole: true, body: `<${key}>` }],
		() => [sized.replace("\r\n", "\r\nConnection: close\r\n"), good],
		() => [cut, { ...none, afterwards: random.pick(["end", "terminate"]) }],
		() => ["nonsense", none],
		() => [random.pick(["", `${ok}Content-Length: 9\r\n\r\nabc`]), none],
	];
	const [text, rest] = random.pick(forms)();
	const bytes = Buffer.from(text, "latin1");
	return { pieces: random.cut(bytes, rest.isWhole ? 1 : 6), ...rest };
}

async function read(random: Random, response: HttpResponse): Promise<string> {
	const bytes = random.pick([true, false]) ? response.whole?.() : undefined;
	const pieces: Uint8Array[] = [];
	if (bytes) pieces.push(await bytes);
	else for await (const piece of response.body) pieces.push(piece);
	const text = Buffer.concat(pieces).toString("latin1");
	// Whoever was given the bytes may write into them.
	for (const piece of pieces) piece.fill(0x21);
	return text;
}

/** Sends a request and gives it up at some moment; resolves with how far it got, or "answered" with the right answer. */
async function exchange(random: Random, key: string) {
	const expected = plan(random, key);
	planned.set(key, expected);
	const signal = new PlainSignal();
	const giveUp = () => signal.abort(new DOMException("given up", "AbortError"));
	const size = random.pick([0, 100, 3_000, expected.isEarly ? 3_000_000 : 0]);
	const body = "y".repeat(size);
	const request = { method: "POST", headers: {}, requestId: key, body } as const;
	// What does not come is given up in the end.
	const last = setTimeout(giveUp, 50);
	random.pick([
		() => {},
		() => {},
		() => queueMicrotask(giveUp),
		() => setImmediate(giveUp),
		() => setTimeout(giveUp, random.below(6)),
	])();
	try {
		const response = await send(request, signal);
		if (random.below(8) === 0) {
			response.discard();
			return "discarded";
		}
		const text = await read(random, response);
		expect({ key, text }).toEqual({ key, text: expected.body ?? "nothing" });
		return "right";
	} catch (error) {
		if (!(error instanceof HttpFailure)) throw error;
		return error.progress;
	} finally {
		clearTimeout(last);
		// After the end it is nothing to anyone.
		giveUp();
	}
}

test(
	"over kept connections each answer is the one to its request, each request is seen once, and unsent ones never",
	async () => {
		const random = seeded(seed);
		const end = performance.now() + seconds * 1_000;
		const outcomes = new Map<string, number>();
		const right = () => outcomes.get("right") ?? 0;
		for (let n = 0; n < 60 || performance.now() < end || right() <= 100; n++)
			await Promise.all(
				Array.from({ length: 20 }, async (_, at) => {
					const key = `k${n}x${at}`;
					const outcome = await exchange(random, key);
					countIn(outcomes, outcome);
					if (outcome === "unsent") expect(begun.has(key)).toBe(false);
				}),
			);
		for (const counts of [begun, whole]) expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
		expect([...outcomes.keys()].toSorted()).toEqual(["answered", "discarded", "right", "sent", "unsent"]);
	},
	120_000 + seconds * 1_000,
);
