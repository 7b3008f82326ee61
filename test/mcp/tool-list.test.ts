// tools/list over HTTP, plain and packed, of the real bot and of the real gateway with that bot behind it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { request } from "node:http";
import { gunzipSync } from "node:zlib";
import { type BothServers, modernRequest, rawTool, startBothServers, token } from "../support/both-servers.ts";

let servers: BothServers;
beforeAll(async () => {
	servers = await startBothServers({
		tools: Array.from({ length: 30 }, (_, index) => ({
			...rawTool(`tool_${index}`, () => "{}"),
			listing: {
				name: `tool_${index}`,
				description: `Tool ${index} of many: ünïcode 🎲, "quotes", \\ and\nline breaks.`,
				inputSchema: { type: "object" },
			},
		})),
	});
});
afterAll(() => servers[Symbol.asyncDispose]());

interface Sent {
	headers: Record<string, string>;
	body: string;
}

const eras: Record<string, (id: string) => Sent> = {
	sessions: (id) => ({ headers: {}, body: `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}` }),
	stateless: (id) => modernRequest("tools/list", {}, id),
};

/** What is answered, its body as it stands on the wire. */
async function send(
	url: string,
	{ headers, body }: Sent,
	acceptEncoding?: string,
): Promise<{ headers: Record<string, unknown>; body: Buffer }> {
	const { promise, resolve, reject } = Promise.withResolvers<{ headers: Record<string, unknown>; body: Buffer }>();
	const sent = request(url, {
		method: "POST",
		headers: {
			Authorization: `Bearer ${token}`,
			"Content-Type": "application/json",
			...(acceptEncoding !== undefined && { "Accept-Encoding": acceptEncoding }),
			...headers,
		},
	});
	sent.on("error", reject);
	sent.on("response", async (response) => {
		const parts: Buffer[] = [];
		for await (const part of response) parts.push(part);
		resolve({ headers: response.headers, body: Buffer.concat(parts) });
	});
	sent.end(body);
	return promise;
}

/** Until when a list will do changes while we look. */
function untimed(body: Uint8Array): string {
	const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
	return text.replace(/"ttlMs":\d+/, '"ttlMs":0');
}

const ids = [
	"1",
	"-5",
	"123456789012345678901234567890",
	'""',
	'"a \\"quoted\\" id, ünïcode 🎲 and \\u00e9\\n"',
	JSON.stringify("long ".repeat(10_000)),
];

describe.each(["bot", "gateway"] as const)("the %s", (at) => {
	describe.each(Object.keys(eras))("in the era: %s", (era) => {
		const sentFor = (id: string) => eras[era]?.(id) ?? { headers: {}, body: "" };

		test.each(ids.map((id) => [id.slice(0, 40), id] as const))(
			"the list for the id %s is the same byte for byte, packed or not",
			async (_, id) => {
				const sent = sentFor(id);
				const plain = await send(servers[at], sent);
				const packed = await send(servers[at], sent, "gzip, deflate");
				expect(plain.headers["content-encoding"]).toBeUndefined();
				expect(packed.headers["content-encoding"]).toBe("gzip");
				expect(packed.body.length).toBeLessThan(plain.body.length);
				const text = untimed(plain.body);
				expect(untimed(gunzipSync(packed.body))).toBe(text);

				const fetched = await fetch(servers[at], {
					method: "POST",
					...sent,
					headers: { ...sent.headers, Authorization: `Bearer ${token}` },
				});
				expect(fetched.headers.get("vary")).toBe("Accept-Encoding");
				expect(untimed(await fetched.bytes())).toBe(text);

				expect(text.startsWith("event: message\ndata: ")).toBe(true);
				expect(text.endsWith("}\n\n")).toBe(true);
				expect(text.slice(0, -2).split("\n")).toHaveLength(2);
				expect(text).toContain(`{"jsonrpc":"2.0","id":${id},"result":{`);
				const { result } = JSON.parse(text.slice(text.indexOf("{")));
				expect(result.tools).toHaveLength(at === "bot" ? 30 : 31);
				expect(result.tools[7].description).toContain("ünïcode 🎲");
			},
		);

		test("its headers are the same but for those of the packing", async () => {
			const plain = await send(servers[at], sentFor("1"), "identity");
			const packed = await send(servers[at], sentFor("1"), "gzip");
			const kept = ({ headers }: { headers: Record<string, unknown> }) => {
				const {
					date: _,
					"content-encoding": _encoding,
					"content-length": _length,
					"transfer-encoding": _transfer,
					...rest
				} = headers;
				return rest;
			};
			expect(kept(packed)).toEqual(kept(plain));
			expect(plain.headers.vary).toBe("Accept-Encoding");
			expect(packed.headers["content-type"]).toBe("text/event-stream");
		});

		test.each(["identity", "br", "gzip;q=0", "*", ""])(
			"Accept-Encoding: %s is not answered with gzip",
			async (accept) => {
				const { headers } = await send(servers[at], sentFor("1"), accept);
				expect(headers["content-encoding"]).toBeUndefined();
			},
		);
	});

	test("nothing else is packed", async () => {
		for (const method of ["ping", "initialize", "tools/call", "nonsense"]) {
			const params = '{"protocolVersion":"2025-11-25","name":"tool_1"}';
			const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
			const { headers } = await send(servers[at], { headers: {}, body }, "gzip");
			expect(headers["content-encoding"]).toBeUndefined();
			expect(headers.vary).toBeUndefined();
		}
	});
});
