// Raw HTTP/1.1, for requests that no well-behaved client would send.

import { connect } from "node:net";

export interface RawResponse {
	status: number;
	/** By lower-case name. */
	headers: Map<string, string>;
	body: string;
}

/**
 * Writes `parts` to a new connection, one after the other, and reads one response. It never half-closes, which Bun treats as
 * a disconnect. Rejects if the connection ends before the response does.
 */
export function exchange(url: string, ...parts: (string | Uint8Array)[]): Promise<RawResponse> {
	const { hostname, port } = new URL(url);
	const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
	let received = "";
	const socket = connect(Number(port), hostname, () => {
		for (const part of parts) socket.write(part);
	});
	socket.setEncoding("latin1");
	socket.on("data", (chunk) => {
		received += chunk;
		const response = readResponse(received);
		if (!response) return;
		resolve(response);
		socket.destroy();
	});
	// After a refusal the rest of the request may fail on a closed connection, but the response was received before.
	socket.on("error", reject);
	socket.on("close", () => reject(new Error(`the connection ended after ${JSON.stringify(received)}`)));
	return promise;
}

/** The text of a request. Header values can contain anything except line breaks. */
export function requestText(
	requestLine: string,
	headers: readonly (readonly [name: string, value: string])[],
	body = "",
): string {
	const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
	return `${requestLine} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** A chunked body with these chunks. */
export function chunked(...pieces: string[]): string {
	return [...pieces, ""].map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`).join("");
}

/** The response, or undefined until it is complete. Bodies have a Content-Length, are chunked, or are empty. */
function readResponse(text: string): RawResponse | undefined {
	const headEnd = text.indexOf("\r\n\r\n");
	if (headEnd < 0) return undefined;
	const [statusLine = "", ...lines] = text.slice(0, headEnd).split("\r\n");
	const headers = new Map(
		lines.map((line): [string, string] => {
			const colon = line.indexOf(":");
			return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
		}),
	);
	const body = text.slice(headEnd + 4);
	const length = Number(headers.get("content-length") ?? 0);
	const whole = /^chunked$/i.test(headers.get("transfer-encoding") ?? "")
		? joinChunks(body)
		: body.length < length
			? undefined
			: body.slice(0, length);
	if (whole === undefined) return undefined;
	const status = Number(statusLine.split(" ")[1]);
	return { status, headers, body: Buffer.from(whole, "latin1").toString() };
}

/** The content of the chunks, or undefined until the last one is complete. */
function joinChunks(text: string): string | undefined {
	let whole = "";
	for (let at = 0; ; ) {
		const lineEnd = text.indexOf("\r\n", at);
		if (lineEnd < 0) return undefined;
		const length = Number.parseInt(text.slice(at, lineEnd), 16);
		const end = lineEnd + 2 + length;
		if (text.length < end + 2) return undefined;
		if (length === 0) return whole;
		whole += text.slice(lineEnd + 2, end);
		at = end + 2;
	}
}
