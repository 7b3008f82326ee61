// The least that a proxy on Bun.serve can do: reads a request's body, sends it over a raw connection that is kept, and
// responds with the bytes of the bot's response. No checks, no deadlines, no log: the yardstick for the gateway.
//
//   bun test/bench/servers/bare-gateway.ts PORT BOT_PORT   ends with its stdin

const [port, botPort] = process.argv.slice(2).map(Number);
const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${botPort}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: `;
const init = { headers: { "Content-Type": "text/event-stream" } };

interface Exchange {
	resolve(body: Uint8Array): void;
	/** The body, once its length is known, and how much of it has arrived. */
	body: Buffer | undefined;
	length: number;
}
type Connection = Bun.Socket<Exchange>;

const idle: Connection[] = [];

const connect = () =>
	Bun.connect<Exchange>({
		hostname: "127.0.0.1",
		port: botPort ?? 0,
		socket: {
			open: (socket) => void socket.setNoDelay(true),
			data(socket, bytes) {
				const exchange = socket.data;
				let part = bytes;
				if (!exchange.body) {
					const bodyAt = bytes.indexOf("\r\n\r\n") + 4;
					const text = bytes.toString("latin1", 0, bodyAt);
					const at = text.indexOf("Content-Length: ") + 16;
					const length = Number.parseInt(text.slice(at), 10);
					part = bytes.subarray(bodyAt);
					if (part.length === length) {
						idle.push(socket);
						return exchange.resolve(part);
					}
					exchange.body = Buffer.allocUnsafeSlow(length);
				}
				exchange.body.set(part, exchange.length);
				exchange.length += part.length;
				if (exchange.length < exchange.body.length) return;
				idle.push(socket);
				exchange.resolve(exchange.body);
			},
		},
	});

const server = Bun.serve({
	hostname: "127.0.0.1",
	port: port ?? 0,
	async fetch(request) {
		const body = await request.text();
		const socket = idle.pop() ?? (await connect());
		const response = await new Promise<Uint8Array>((resolve) => {
			socket.data = { resolve, body: undefined, length: 0 };
			socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
		});
		return new Response(response, init);
	},
});
for await (const _ of Bun.stdin.stream());
await server.stop(true);
process.exit(0);
