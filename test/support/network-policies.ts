// Which pods NetworkPolicies allow to connect: https://kubernetes.io/docs/concepts/services-networking/network-policies/

import type { Manifest } from "./kubernetes.ts";

export interface Peer {
	namespace: Record<string, string>;
	labels: Record<string, string>;
}

interface Selector {
	matchLabels?: Record<string, string>;
}

interface Rule {
	from?: PeerSelector[];
	to?: PeerSelector[];
	ports?: { port: number; protocol?: string }[];
}

interface PeerSelector {
	podSelector?: Selector;
	namespaceSelector?: Selector;
	ipBlock?: object;
}

interface Policy {
	podSelector: Selector;
	policyTypes: ("Ingress" | "Egress")[];
	ingress?: Rule[];
	egress?: Rule[];
}

/** Whether the policies of the namespace with these labels let `from` open a connection to this port of `to`. */
export function mayReach(
	manifests: readonly Manifest[],
	home: Record<string, string>,
	from: Peer,
	to: Peer,
	port: number,
): boolean {
	const policies = manifests
		.filter(({ kind }) => kind === "NetworkPolicy")
		.map(({ spec }) => spec as unknown as Policy);

	/** Whether the policies that select `subject` allow connections with `other` in this direction. */
	const lets = (type: "Ingress" | "Egress", subject: Peer, other: Peer) => {
		if (subject.namespace !== home) return true;
		const own = policies.filter(
			({ podSelector, policyTypes }) => policyTypes.includes(type) && selects(podSelector, subject.labels),
		);
		const rules = own.flatMap(({ ingress = [], egress = [] }) => (type === "Ingress" ? ingress : egress));
		return (
			own.length === 0 ||
			rules.some(
				({ from = [], to = [], ports = [] }) =>
					[...from, ...to].some((peer) => isPeer(peer, other)) &&
					ports.some((one) => one.port === port && (one.protocol ?? "TCP") === "TCP"),
			)
		);
	};

	const isPeer = ({ podSelector, namespaceSelector, ipBlock }: PeerSelector, { namespace, labels }: Peer) =>
		!ipBlock &&
		(namespaceSelector ? selects(namespaceSelector, namespace) : namespace === home) &&
		selects(podSelector ?? {}, labels);

	return lets("Egress", from, to) && lets("Ingress", to, from);
}

function selects({ matchLabels = {} }: Selector, labels: Record<string, string>): boolean {
	return Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}
