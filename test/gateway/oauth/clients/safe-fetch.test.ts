// Documents are fetched from public addresses only, over verified TLS, within limits.

import { afterAll, expect, test } from "bun:test";
import { isPublicAddress, networkOf } from "../../../../src/gateway/http/ip-addresses.ts";
import { FetchRefused, fetchPublicJson, type SafeFetch } from "../../../../src/gateway/oauth/clients/safe-fetch.ts";
import { certificateAuthority, keyPair } from "./certificates.ts";

const limits = { maxBytes: 1000, timeoutMs: 5_000 };
const publicAddress = "93.184.215.14";

const words = (text: string) => text.trim().split(/\s+/);

const publicAddresses = words(`
	1.1.1.1 93.184.215.14 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.167.255.255 198.20.0.0
	223.255.255.255 2606:4700::1111 2a00:1450:4001:81b::200e 2001:4860:4860::8888
`);
const hostileAddresses = words(`
	0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254
	172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1
	203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:7f00:1
	::ffff:1.1.1.1 ::ffff:0:1.1.1.1 ::127.0.0.1 ::1.1.1.1 64:ff9b::127.0.0.1 64:ff9b::1.1.1.1 64:ff9b:1::1 100::1
	2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:101:101::1
	3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 2606:4700::1111%eth0 fec0::1 ff02::1 ffff::1
	localhost 1.1.1 1.1.1.1.1 01.1.1.1 0x1.1.1.1 1.1.1.256 [2606:4700::1111] 1.1.1.1:80
`);

test.each([
	...publicAddresses.map((address) => [address, true] as const),
	...["", ...hostileAddresses].map((address) => [address, false] as const),
])("the address %p is public: %p", (address, expected) => {
	expect(isPublicAddress(address)).toBe(expected);
});

test.each([
	["192.0.2.1", "192.0.2.1", true],
	["192.0.2.1", "192.0.2.2", false],
	["2001:db8:1:2::1", "2001:db8:1:2:ffff::1", true],
	["2001:db8:1:2::1", "2001:0db8:0001:0002::1", true],
	["2001:db8:1:2::1", "2001:db8:1:3::1", false],
	["::ffff:192.0.2.1", "::ffff:192.0.2.2", false],
	["", "", true],
])("%s and %s belong together: %p", (one, other, expected) => {
	expect(networkOf(one) === networkOf(other)).toBe(expected);
});

/** Fails the test if anything is sent. */
const neverSend = () => Promise.reject(new Error("it sent a request"));

const resolving =
	(...addresses: string[]) =>
	async () =>
		addresses;

async function refusal(url: string, safeFetch: SafeFetch): Promise<string> {
	try {
		await fetchPublicJson(new URL(url), limits, safeFetch);
	} catch (error) {
		if (error instanceof FetchRefused) return error.message;
		throw error;
	}
	return "nothing was refused";
}

test.each(["", ...hostileAddresses])(
	"a name with the address %p is not fetched, even beside a public one",
	async (address) => {
		for (const addresses of [[address], [publicAddress, address]])
			expect(await refusal("https://client.example/a", { resolve: resolving(...addresses), fetch: neverSend })).toBe(
				`client.example has the address ${address}, which is not public`,
			);
	},
);

const unresolved: Record<string, string> = {
	"not an https URL": `
		http://client.example/a ftp://client.example/a file:///etc/passwd
	`,
	"has a user name": `
		https://me@client.example/a https://:x@client.example/a
	`,
	"has a port": `
		https://client.example:8443/a https://client.example:80/a
	`,
	"is an address": `
		https://127.0.0.1/a https://1.1.1.1/a https://2130706433/a https://0x7f.1/a https://0177.0.0.1/a
		https://127.1/a https://１２７.0.0.1/a https://[::1]/a https://[::ffff:127.0.0.1]/a https://[2606:4700::1111]/a
	`,
	"is a local name": `
		https://localhost/a https://LOCALHOST/a https://localhost./a https://client.example./a
		https://bot.localhost/a https://intranet/a https://postgres/a https://printer.local/a
		https://metadata.google.internal/a https://kubernetes.default.svc.cluster.local/a https://router.home.arpa/a
		https://abc.onion/a
	`,
};

test.each(Object.entries(unresolved).flatMap(([issue, urls]) => words(urls).map((url) => [url, issue] as const)))(
	"%s is not even resolved: %s",
	async (url, message) => {
		const resolve = () => Promise.reject(new Error("it resolved the name"));
		expect(await refusal(url, { resolve, fetch: neverSend })).toContain(message);
	},
);

test("a real look-up of a name without addresses is a refusal", async () => {
	const url = "https://does-not-exist.invalid/a";
	expect(await refusal(url, { fetch: neverSend })).not.toBe("nothing was refused");
});

const trusted = certificateAuthority();
const untrusted = certificateAuthority();
const paths = new Map<string, (request: Request) => Response>();
const server = Bun.serve({
	port: 0,
	hostname: "127.0.0.1",
	// The certificate of the client's host is chosen by the name that a TLS connection names (SNI).
	tls: ["default.example", "client.example"].map((serverName) => ({ ...keyPair(trusted, serverName), serverName })),
	fetch: (request) => paths.get(new URL(request.url).pathname)?.(request) ?? new Response("", { status: 404 }),
});
afterAll(() => server.stop(true));

/** Sends what should go to a public address to the server of this test, and keeps the URLs. */
function rerouted(ca = trusted.certificate, urls: string[] = []): SafeFetch {
	return {
		resolve: resolving(publicAddress),
		fetch(url, init) {
			urls.push(url);
			const local = url.replace(publicAddress, `127.0.0.1:${server.port}`);
			return fetch(local, { ...init, tls: { ...init.tls, ca } });
		},
	};
}

const json =
	(body: string | Uint8Array<ArrayBuffer> | ReadableStream, headers: Record<string, string> = {}, status = 200) =>
	() =>
		new Response(body, { status, headers: { "Content-Type": "application/json", ...headers } });

test("the request goes to the checked address, with the name as Host and in TLS", async () => {
	const seen: (string | null)[] = [];
	paths.set("/a", ({ url, headers }) => {
		const names = ["host", "accept", "accept-encoding", "authorization", "cookie"];
		seen.push(url, ...names.map((name) => headers.get(name)));
		return json("{}")();
	});
	const urls: string[] = [];
	const url = new URL("https://client.example/a?b=c");
	const { text } = await fetchPublicJson(url, limits, rerouted(trusted.certificate, urls));
	expect(text).toBe("{}");
	expect(urls).toEqual([`https://${publicAddress}/a?b=c`]);
	expect(seen).toEqual([
		"https://client.example/a?b=c",
		...["client.example", "application/json", "identity", null, null],
	]);
});

test.each([
	["of another authority", "https://client.example/a", untrusted, "certificate signature failure"],
	["for another name", "https://other.example/a", trusted, "ALTNAME"],
])("a certificate %s is refused", async (_, url, { certificate }, message) => {
	paths.set("/a", json("{}"));
	expect(await refusal(url, rerouted(certificate))).toContain(message);
});

test.each([
	["a redirect", new Response(null, { status: 302, headers: { Location: "https://127.0.0.1/" } }), "has status 302"],
	["an error", json("{}", {}, 404)(), "has status 404"],
	["another success", json("{}", {}, 206)(), "has status 206"],
	["a page", json("<html>", { "Content-Type": "text/html" })(), "is not JSON"],
	["a response without a type", new Response(new Uint8Array([123, 125])), "is not JSON"],
	["too much", json("x".repeat(1001))(), "larger than 1000 bytes"],
])("%s is refused", async (_, response, message) => {
	expect(
		await refusal("https://client.example/a", { resolve: resolving(publicAddress), fetch: async () => response }),
	).toContain(message);
});

test("a redirect to a private address is not followed", async () => {
	let reached = 0;
	paths.set("/private", () => {
		reached++;
		return json("{}")();
	});
	const location = `https://127.0.0.1:${server.port}/private`;
	paths.set("/redirect", () => Response.redirect(location, 307));
	expect(await refusal("https://client.example/redirect", rerouted())).toBe("the response has status 307");
	expect(reached).toBe(0);
});

test("a body that never ends is cut off at the limit", async () => {
	let sent = 0;
	const endless = new ReadableStream({
		pull(controller) {
			sent += 100;
			controller.enqueue(new Uint8Array(100));
		},
	});
	paths.set("/endless", json(endless));
	expect(await refusal("https://client.example/endless", rerouted())).toBe("the response is larger than 1000 bytes");
	expect(sent).toBeGreaterThan(1000);
});

test("a small response that unpacks to a large one is not unpacked", async () => {
	const packed = Bun.gzipSync(Buffer.alloc(1_000_000, " "));
	paths.set("/bomb", json(packed, { "Content-Encoding": "gzip" }));
	const result = fetchPublicJson(new URL("https://client.example/bomb"), { ...limits, maxBytes: 10_000 }, rerouted());
	expect((await result).text).not.toContain("   ");
});

test.each(["application/json; charset=utf-8", "APPLICATION/JSON", "application/cimd+json"])(
	"the media type %s is JSON",
	async (type) => {
		paths.set("/a", json("{}", { "Content-Type": type }));
		const url = new URL("https://client.example/a");
		expect((await fetchPublicJson(url, limits, rerouted())).text).toBe("{}");
	},
);

test("a host that does not respond is given up after the timeout", async () => {
	const never = new Promise<never>(() => {});
	const short = { ...limits, timeoutMs: 20 };
	const url = new URL("https://client.example/a");
	const hanging: SafeFetch[] = [
		{ resolve: () => never, fetch: neverSend },
		{
			resolve: resolving(publicAddress),
			fetch: (_, { signal }) =>
				new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
		},
	];
	for (const safeFetch of hanging)
		await expect(fetchPublicJson(url, short, safeFetch)).rejects.toThrow("no response within 20 ms");
});

test("IPv4 is tried first, then other addresses, at most three", async () => {
	const tried: string[] = [];
	const message = await refusal("https://client.example/a", {
		resolve: resolving("2606:4700::1", "2606:4700::2", "1.1.1.1", "1.1.1.2"),
		fetch(url) {
			tried.push(new URL(url).hostname);
			return Promise.reject(Object.assign(new Error(), { code: "ECONNREFUSED" }));
		},
	});
	expect(message).toBe("the connection was refused");
	expect(tried).toEqual(["1.1.1.1", "1.1.1.2", "[2606:4700::1]"]);
});
