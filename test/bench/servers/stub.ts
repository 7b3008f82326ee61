// Bots as fast as can be, in a process of their own: raw sockets, answers made beforehand. A call says what it wants:
// `size`, the characters of its answer, and `delay_ms`. Each port is a bot with a guild of its own.
//
//   bun test/bench/servers/stub.ts '{"ports":10,"tools":["{…}"]}'   prints the ports as JSON; ends with its stdin

interface StubOptions {
	/** How many bots. */
	ports: number;
	/** What tools/list has, each as JSON text. */
	tools: readonly string[];
}

const initializeResult =
	'{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"0"}}';
const accepted = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

const { ports, tools } = JSON.parse(process.argv[2] ?? "") as StubOptions;
// A character for each byte of UTF-8: all texts here are so.
const list = Buffer.from(`{"tools":[${tools.join(",")}]}`).toString("latin1");

/** Results of `size` characters, by their size. */
const results = new Map<number, string>();
function resultOf(size: number): string {
	let result = results.get(size);
	if (!result) {
		result = `{"content":[{"type":"text","text":"${"x".repeat(size)}"}]}`;
		results.set(size, result);
	}
	return result;
}

function resultFor(body: string, bot: number): string {
	if (body.includes('"tools/call"')) {
		if (body.includes('"list_guilds"')) {
			const text = `1 guild(s):\\nstub | ID: ${100_000_000_000_000_000n + BigInt(bot)}`;
			return `{"content":[{"type":"text","text":"${text}"}]}`;
		}
		return resultOf(Number(/"size":(\d+)/.exec(body)?.[1] ?? 0));
	}
	if (body.includes('"tools/list"')) return list;
	return initializeResult;
}

/** What a request is answered. */
function answer(body: string, bot: number): string {
	const id = /"id":(-?\d+|"(?:[^"\\]|\\.)*")/.exec(body)?.[1];
	if (id === undefined) return accepted;
	const result = resultFor(body, bot);
	const event = `event: message\ndata: {"jsonrpc":"2.0","id":${id},"result":${result}}\n\n`;
	return `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nMcp-Session-Id: stub\r\nContent-Length: ${event.length}\r\n\r\n${event}`;
}

interface Connection {
	/** Of a request that is not whole yet. */
	received: string;
	/** What the socket did not take. */
	unsent: Buffer | undefined;
}

function send(socket: Bun.Socket<Connection>, bytes: Buffer): void {
	const written = socket.write(bytes);
	if (written < bytes.length) socket.data.unsent = bytes.subarray(Math.max(0, written));
}

function listenFor(bot: number): number {
	const listener = Bun.listen<Connection>({
		hostname: "127.0.0.1",
		port: 0,
		socket: {
			open(socket) {
				socket.data = { received: "", unsent: undefined };
				socket.setNoDelay(true);
			},
			drain(socket) {
				const { unsent } = socket.data;
				socket.data.unsent = undefined;
				if (unsent) send(socket, unsent);
			},
			data(socket, bytes) {
				const { data } = socket;
				data.received += bytes.toString("latin1");
				for (;;) {
					const { received } = data;
					const bodyAt = received.indexOf("\r\n\r\n") + 4;
					if (bodyAt < 4) return;
					const head = received.slice(0, bodyAt);
					const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
					const end = bodyAt + Number(length ?? 0);
					if (received.length < end) return;
					const body = received.slice(bodyAt, end);
					data.received = received.slice(end);
					const response = Buffer.from(answer(body, bot), "latin1");
					const delay = Number(/"delay_ms":(\d+)/.exec(body)?.[1] ?? 0);
					if (delay > 0) setTimeout(send, delay, socket, response);
					else send(socket, response);
				}
			},
		},
	});
	return listener.port;
}

const listening = Array.from({ length: ports }, (_, index) => listenFor(index));
console.log(JSON.stringify(listening));
for await (const _ of Bun.stdin.stream());
process.exit(0);
