// Load on an MCP server over HTTP/1.1: so many connections, each with a session of its own and one call at a time. It
// writes and reads sockets itself, because fetch would cost more than what is measured.

export interface Target {
	name: string;
	/** The MCP endpoint. */
	url: string;
	token: string;
	/** What its process has used of the processor so far, in microseconds, and its memory in bytes. */
	usage(): Promise<{ cpuMicros: number; rss: number }>;
}

export interface Measured {
	/** Calls a second. */
	rate: number;
	/** What the server's process used of the processor for each, in microseconds. */
	cpuMicros: number;
}

/** Opens a session, and gives its id. */
export async function openSession({ url, token }: Target): Promise<string> {
	const response = await fetch(url, {
		method: "POST",
		headers: headersFor(token),
		body: JSON.stringify({
			jsonrpc: "2.0",
			id: 0,
			method: "initialize",
			params: {
				protocolVersion: "2025-11-25",
				capabilities: {},
				clientInfo: { name: "bench", version: "0" },
			},
		}),
	});
	const text = await response.text();
	const id = response.headers.get("mcp-session-id");
	if (!id) throw new Error(`no session was opened: ${text}`);
	return id;
}

/** Calls a tool over these connections for so long. */
export async function measureCalls(
	target: Target,
	tool: { name: string; arguments: Record<string, unknown> },
	sessions: readonly string[],
	ms: number,
): Promise<Measured> {
	const before = await target.usage();
	const from = performance.now();
	const counts = await Promise.all(
		sessions.map((session) => callFor(target, tool, session, from + ms)),
	);
	const seconds = (performance.now() - from) / 1000;
	const after = await target.usage();
	const calls = counts.reduce((sum, count) => sum + count, 0);
	return {
		rate: calls / seconds,
		cpuMicros: (after.cpuMicros - before.cpuMicros) / calls,
	};
}

/** Calls on one connection until the time has come; gives how often. */
async function callFor(
	{ url, token }: Target,
	tool: object,
	session: string,
	endsAt: number,
): Promise<number> {
	const { hostname, port, pathname, host } = new URL(url);
	const given = {
		...headersFor(token),
		"Mcp-Session-Id": session,
		// As a gateway passes calls on: without one, the bot takes list_guilds for a question of the gateway's own.
		"X-Request-Id": "0123abcd",
	};
	const head = [
		`POST ${pathname} HTTP/1.1`,
		`Host: ${host}`,
		...Object.entries(given).map(([name, value]) => `${name}: ${value}`),
	].join("\r\n");
	const { promise, resolve, reject } = Promise.withResolvers<number>();
	let calls = 0;
	let answer = "";
	const send = (socket: Bun.Socket<undefined>) => {
		const body = JSON.stringify({
			jsonrpc: "2.0",
			id: calls + 1,
			method: "tools/call",
			params: tool,
		});
		socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
	};
	await Bun.connect<undefined>({
		hostname,
		port: Number(port),
		socket: {
			open: send,
			data(socket, bytes) {
				answer += bytes.toString("latin1");
				if (!isWhole(answer)) return;
				// Neither an error nor the answer to another call.
				if (!isAnswerTo(calls + 1, answer))
					return reject(new Error(`a call was answered ${answer}`));
				calls += 1;
				answer = "";
				if (performance.now() < endsAt) return send(socket);
				resolve(calls);
				socket.end();
			},
			close: () => reject(new Error("a connection was closed")),
		},
	});
	return promise;
}

function isAnswerTo(id: number, answer: string): boolean {
	return answer.includes(`"id":${id}`) && !/"(error|isError)":/.test(answer);
}

/** Whether an answer has arrived to its last byte. */
function isWhole(answer: string): boolean {
	const bodyAt = answer.indexOf("\r\n\r\n") + 4;
	if (bodyAt < 4) return false;
	const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1];
	return length === undefined
		? answer.endsWith("\r\n0\r\n\r\n")
		: answer.length >= bodyAt + Number(length);
}

function headersFor(token: string) {
	return {
		Authorization: `Bearer ${token}`,
		"Content-Type": "application/json",
		Accept: "application/json, text/event-stream",
		"MCP-Protocol-Version": "2025-11-25",
	};
}
