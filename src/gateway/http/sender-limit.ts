// Limits what strangers can make the gateway do without a token: per network, and in total. The total spares networks that
// sent little, so that nobody is locked out by what somebody else sends.

import { LruMap } from "../../lib/lru-map.ts";
import { SlidingWindow } from "../../lib/sliding-window.ts";
import { networkOf } from "./ip-addresses.ts";

const windowMs = 60_000;
const maxNetworks = 1_000;
const few = 3;
const sparedTotals = 10;

interface SenderLimitOptions {
	/** Per minute, from one network. */
	perNetwork: number;
	/** Per minute, from all networks. */
	total: number;
	/** A monotonic clock, in milliseconds. */
	now: () => number;
}

/** By the networks of the senders. */
export class SenderLimit {
	readonly #all: SlidingWindow;
	readonly #evenSpared: SlidingWindow;
	readonly #byNetwork = new LruMap<string, SlidingWindow>(maxNetworks);
	readonly #ofNetwork: { max: number; windowMs: number; now: () => number };

	constructor({ perNetwork, total, now }: SenderLimitOptions) {
		this.#all = new SlidingWindow({ max: total, windowMs, now });
		const most = total * sparedTotals;
		this.#evenSpared = new SlidingWindow({ max: most, windowMs, now });
		this.#ofNetwork = { max: perNetwork, windowMs, now };
	}

	/** Milliseconds; 0 if this sender may send now. */
	waitMs(address: string): number {
		const own = this.#byNetwork.get(networkOf(address));
		const { waitMs } = this.#evenSpared;
		return own && own.count >= few ? Math.max(own.waitMs, this.#all.waitMs, waitMs) : waitMs;
	}

	/** False while the total is exceeded. */
	add(address: string): boolean {
		this.#byNetwork.getOrMake(networkOf(address), () => new SlidingWindow(this.#ofNetwork)).add();
		const isWithinTotal = this.#all.waitMs === 0;
		this.#all.add();
		this.#evenSpared.add();
		return isWithinTotal;
	}

	/** Counts only if the sender may send now; returns whether it may. */
	take(address: string): boolean {
		const mayNow = this.waitMs(address) === 0;
		if (mayNow) this.add(address);
		return mayNow;
	}
}

/**
 * Returns the address for which a request counts: that of the connection (`peer`). If `peer` is a proxy on this machine
 * or in a private network, returns the last entry of the header X-Forwarded-For, so that the clients of a proxy do not
 * share one limit.
 */
export function clientAddress({ headers }: Request, peer: string | undefined): string {
	const forwarded = headers.get("x-forwarded-for")?.split(",").at(-1)?.trim();
	const own = peer ?? "unknown";
	return forwarded && isPrivatePeer(own) ? withoutPort(forwarded).slice(0, 45) : own;
}

/** Some proxies add a port: each connection would else count for itself. */
function withoutPort(address: string): string {
	const [, ipv6, ipv4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? [];
	return ipv6 ?? ipv4 ?? address;
}

function isPrivatePeer(address: string): boolean {
	const plain = address.replace(/^::ffff:/i, "");
	return /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd][0-9a-f]{2}:)/i.test(plain);
}
