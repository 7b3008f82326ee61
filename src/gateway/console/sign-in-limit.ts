// Limits how often MCP_AUTH_TOKEN can be tried at the console. Only wrong tokens count: per network, and in total. The
// total limit applies only to networks that have sent a wrong token themselves, so that an attack from elsewhere does
// not lock out the operator.

import { LruMap } from "../../lib/lru-map.ts";
import { SlidingWindow } from "../../lib/sliding-window.ts";
import { networkOf } from "../oauth/clients/ip-addresses.ts";

/** Maximum number of wrong tokens per minute from one network, and (`maxInAll`) from all networks together. */
const maxPerNetwork = 10;
const maxInAll = 100;
const windowMs = 60_000;
/** Maximum number of networks whose wrong tokens are counted. */
const maxNetworks = 1_000;

/** Counts wrong tokens and says how long an address has to wait. */
export interface SignInLimit {
	/** Returns how many milliseconds this address must wait until it may try a token; 0: it may now. */
	waitMs(address: string): number;
	/** Records a wrong token from this address. Returns whether to log it: false while the total limit is exceeded. */
	failed(address: string): boolean;
}

/** Creates the limit. `now` returns the time of a monotonic clock in milliseconds. */
export function createSignInLimit(now: () => number): SignInLimit {
	const all = new SlidingWindow({ max: maxInAll, windowMs, now });
	const byNetwork = new LruMap<string, SlidingWindow>(maxNetworks);

	return {
		waitMs(address) {
			const own = byNetwork.get(networkOf(address));
			return own && own.count > 0 ? Math.max(own.waitMs, all.waitMs) : 0;
		},
		failed(address) {
			const window = byNetwork.getOrMake(
				networkOf(address),
				() => new SlidingWindow({ max: maxPerNetwork, windowMs, now }),
			);
			window.add();
			const isRare = all.waitMs === 0;
			all.add();
			return isRare;
		},
	};
}

/**
 * Returns the address for which a sign-in counts: that of the connection (`peer`). If `peer` is a proxy on this machine
 * or in a private network, returns the last entry of the header X-Forwarded-For, so that the clients of a proxy do not
 * share one limit.
 */
export function clientAddress(
	{ headers }: Request,
	peer: string | undefined,
): string {
	const forwarded = headers.get("x-forwarded-for")?.split(",").at(-1)?.trim();
	const own = peer ?? "unknown";
	return forwarded && isPrivatePeer(own)
		? withoutPort(forwarded).slice(0, 45)
		: own;
}

/** Returns an address without the port that some proxies add: each connection would else count for itself. */
function withoutPort(address: string): string {
	const [, ipv6, ipv4] =
		/^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? [];
	return ipv6 ?? ipv4 ?? address;
}

/**
 * Whether an address belongs to this machine or a private network. In every documented deployment, the proxy's does.
 */
function isPrivatePeer(address: string): boolean {
	const plain = address.replace(/^::ffff:/i, "");
	return /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd][0-9a-f]{2}:)/i.test(
		plain,
	);
}
