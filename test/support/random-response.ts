// Random HTTP/1.1 responses, valid and broken.

import type { Random } from "./random.ts";

const statuses = [201, 202, 204, 205, 206, 299, 301, 304, 400, 401, 404, 413, 426, 500, 503, 599];

/** An HTTP/1.1 response, often a broken one, each character a byte. */
export function randomResponse(random: Random): string {
	const words = [..."abc \t;:,\r\n0"];
	const text = (max: number) => {
		const length = random.below(max);
		return Array.from({ length }, () => random.pick(words)).join("");
	};
	const interim = random.pick([
		"",
		"",
		"",
		"HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(random.below(4)),
	]);
	const version = random.chance(0.9) ? "1.1" : random.pick(["1.0", "1.0", "1.2", "2", "0.9"]);
	const status = random.chance(0.7) ? 200 : random.pick([...statuses, 100 + random.below(600)]);
	const reason = random.pick([" OK", " ", " a b\tc", " \xe9", ...(random.chance(0.1) ? ["", " \x01"] : [])]);
	const body = random.chance(0.1) ? "" : text(random.chance(0.1) ? 3_000 : 40);
	const fields: string[] = [];
	const odd = (probability: number, ...options: string[]) => {
		if (random.chance(probability)) fields.push(random.pick(options));
	};
	let framed = body;
	const framings = ["length", "length", "chunked", "chunked", "none"];
	const framing = random.pick(framings);
	if (framing === "length")
		fields.push(
			`${random.pick(["Content-Length", "content-length"])}:${random.pick([" ", "", "  ", "\t"])}${body.length}${random.pick(["", " "])}`,
		);
	if (framing === "chunked") {
		fields.push(`Transfer-Encoding: ${random.pick(["chunked", "chunked", "Chunked"])}`);
		framed = chunksOf(random, body);
	}
	odd(
		0.04,
		`Content-Length: ${body.length}`,
		"Content-Length: 3",
		"Transfer-Encoding: chunked",
		"Transfer-Encoding: gzip, chunked",
		"Transfer-Encoding: identity",
		"Content-Length: +1",
		"Content-Length: -1",
		"Content-Length: 0x1",
		"Content-Length: 1, 1",
		"Content-Length:",
	);
	odd(0.3, "Connection: close", "Connection: keep-alive", "Connection: x", "Keep-Alive: timeout=5");
	odd(0.3, "Content-Type: application/json", "X-Empty:", "X: \xe9\x80", "!#$%&'*+-.^_`|~9: a", "Set-Cookie: a=1");
	odd(0.05, "Content-Encoding: identity", "Content-Encoding: br", "Content-Encoding: x");
	odd(0.03, "A : b", " folded", "A", ": b", "A: \x01", "A: \x7f", "A(: b", "A\xe9: b", "A: b\rc", "A: b\nC: d");
	for (let at = fields.length - 1; at > 0; at--) {
		const other = random.below(at + 1);
		[fields[at], fields[other]] = [fields[other] ?? "", fields[at] ?? ""];
	}
	const whole = `${interim}HTTP/${version} ${status}${reason}\r\n${fields.map((field) => `${field}\r\n`).join("")}\r\n${framed}`;
	return random.chance(0.25) ? mutate(random, whole) : whole;
}

function chunksOf(random: Random, body: string): string {
	const cut = random.cut(Buffer.from(body, "latin1"), 5);
	const pieces = cut.filter(({ length }) => length > 0);
	const extension = () =>
		random.chance(0.8)
			? ""
			: random.pick([";a", ";a=b", ' ; a="b c"', ";", " ", ...(random.chance(0.1) ? [";\x01", "x", ";a\n"] : [])]);
	const lengthOf = (length: number) => {
		const hex = length.toString(16);
		return random.pick([
			hex,
			hex,
			hex.toUpperCase(),
			`00${hex}`,
			...(random.chance(0.05) ? [`0x${hex}`, ` ${hex}`, `-${hex}`, `00000000${hex}`, (length + 1).toString(16)] : []),
		]);
	};
	const chunks = pieces.map(
		(piece) => `${lengthOf(piece.length)}${extension()}\r\n${Buffer.from(piece).toString("latin1")}\r\n`,
	);
	const trailers = random.chance(0.8)
		? ""
		: random.pick([
				"X: 1\r\n",
				"X: 1\r\nY:\r\n",
				"Content-Length: 5\r\n",
				...(random.chance(0.2) ? ["bad\r\n", "A : b\r\n", "A: b\n"] : []),
			]);
	return `${chunks.join("")}${random.pick(["0", "0", "000"])}${extension()}\r\n${trailers}\r\n`;
}

const wrongLineEnds = ["\n", "\r", "\n\r", "\r\n\r\n", " \r\n"];

function mutate(random: Random, text: string): string {
	const at = random.below(text.length + 1);
	const [before, after] = [text.slice(0, at), text.slice(at)];
	return random.pick([
		() => before,
		() => before + after.slice(1),
		() => before + random.pick([..."\r\n\0 \t:x0\xff", "\r\n"]) + after,
		() => text.replaceAll("\r\n", "\n"),
		() => text.replace("\r\n", random.pick(wrongLineEnds)),
		() => text + random.pick(["x", "\r\n", text]),
		() => before.slice(0, random.below(before.length + 1)) + after,
	])();
}
