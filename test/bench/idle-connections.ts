// Clients that stay connected and are quiet.

/** Connections that are being made at once. */
const maxConnecting = 200;

export interface IdleConnections {
	/** Answered once, and quiet since. */
	readonly open: number;
	/** How many were opened in the place of one that the server had closed. */
	readonly reopened: number;
	/** How many could not be made, or ended without an answer. */
	readonly failed: number;
	close(): void;
}

/** Keeps `count` connections to `url`, each of which has asked for `method`, and opens another for each that ends. */
export function holdIdle(
	url: string,
	count: number,
	{ token, method }: { token: string; method: string },
): IdleConnections {
	const { hostname, port, pathname, host } = new URL(url);
	const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{}}`;
	const request = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
	const answered = new Set<Bun.Socket<undefined>>();
	const known = new Set<Bun.Socket<undefined>>();
	let connecting = 0;
	let wanted = count;
	let reopened = 0;
	let failed = 0;
	let closed = false;

	const fill = () => {
		while (!closed && wanted > 0 && connecting < maxConnecting) {
			wanted--;
			connecting++;
			Bun.connect({ hostname, port: Number(port), socket: handlers }).catch(() => {
				failed++;
				// Not at once: what refuses now does so for a while.
				setTimeout(again, 100);
			});
		}
	};
	const again = () => {
		connecting--;
		wanted++;
		fill();
	};
	const handlers: Bun.SocketHandler<undefined> = {
		open(socket) {
			known.add(socket);
			socket.write(request);
		},
		data(socket) {
			if (answered.has(socket)) return;
			answered.add(socket);
			connecting--;
			fill();
		},
		close(socket) {
			known.delete(socket);
			if (closed) return;
			if (!answered.delete(socket)) {
				failed++;
				return again();
			}
			reopened++;
			wanted++;
			fill();
		},
	};
	fill();
	return {
		get open() {
			return answered.size;
		},
		get reopened() {
			return reopened;
		},
		get failed() {
			return failed;
		},
		close() {
			closed = true;
			for (const socket of known) socket.terminate();
		},
	};
}
