// IP addresses: which are public, and which belong together.
// https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry

import type * as Net from "node:net";

const net = (): typeof Net => require("node:net");

const specialIpv4: readonly (readonly [string, number])[] = [
	["0.0.0.0", 8], // this network
	["10.0.0.0", 8], // private
	["100.64.0.0", 10], // shared by carriers (CGNAT)
	["127.0.0.0", 8], // loopback
	["168.63.129.16", 32], // agent of Azure machines
	["169.254.0.0", 16], // link-local, metadata services of clouds
	["172.16.0.0", 12], // private
	["192.0.0.0", 24], // IETF protocol assignments
	["192.0.2.0", 24], // documentation
	["192.31.196.0", 24], // AS112
	["192.52.193.0", 24], // AMT
	["192.88.99.0", 24], // 6to4 relays
	["192.168.0.0", 16], // private
	["192.175.48.0", 24], // AS112
	["198.18.0.0", 15], // benchmarks
	["198.51.100.0", 24], // documentation
	["203.0.113.0", 24], // documentation
	["224.0.0.0", 4], // multicast
	["240.0.0.0", 4], // reserved, broadcast
];

const specialIpv6: readonly (readonly [string, number])[] = [
	["2001::", 23], // IETF protocol assignments, Teredo
	["2001:db8::", 32], // documentation
	["2002::", 16], // 6to4, which contains an IPv4 address
	["2620:4f:8000::", 48], // AS112
	["3fff::", 20], // documentation
];
const globalIpv6 = ["2000::", 3] as const;

/** False for private and other special addresses, and for other text. */
export function isPublicAddress(address: string): boolean {
	const bits = addressBits(address);
	if (bits === undefined) return false;
	const isWithin = ([network, length]: readonly [string, number]) =>
		bits.startsWith(addressBits(network)?.slice(0, length) ?? "");
	if (net().isIPv4(address)) return !specialIpv4.some(isWithin);
	return isWithin(globalIpv6) && !specialIpv6.some(isWithin);
}

/** The IPv4 address itself, the first 64 bits of an IPv6 address, or other text unchanged. */
export function networkOf(address: string): string {
	const bits = addressBits(address);
	// The address of a client that reached an IPv6 socket by IPv4.
	const isMapped = bits?.startsWith(addressBits("::ffff:0:0")?.slice(0, 96) ?? "");
	return bits?.length === 128 && !isMapped ? bits.slice(0, 64) : address;
}

function addressBits(address: string): string | undefined {
	switch (address.includes("%") ? 0 : net().isIP(address)) {
		case 4:
			return toBits(address.split(".").map(Number), 8);
		case 6: {
			// The URL parser writes an IPv4 part as hexadecimal numbers.
			const text = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? "";
			const [head = [], tail = []] = text.split("::").map((part) => part.split(":").filter((group) => group !== ""));
			const gap = Array<string>(8 - head.length - tail.length).fill("0");
			return toBits(
				[...head, ...gap, ...tail].map((group) => Number.parseInt(group, 16)),
				16,
			);
		}
		default:
			return undefined;
	}
}

function toBits(numbers: readonly number[], size: number): string {
	return numbers.map((part) => part.toString(2).padStart(size, "0")).join("");
}
