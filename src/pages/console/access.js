// The section "Access": what may call tools beside the holder of the token: keys, and clients that people have connected.

import { element } from "../dom.js";
import { get, post } from "./api.js";
import { accessName, actionButton, named, say, shown, tableOr, timeOf } from "./parts.js";

const heads = ["Name", "Person", "May do", "Where", "Since", "Expires", "Last used", "Action"];

/** @param {boolean} isRoot Others see only their own connections. */
export function createAccess(isRoot) {
	const list = element("div");
	const about = isRoot
		? "Keys are tokens with limits. Connections are clients that act in the name of people who signed in with Discord."
		: "Clients that act in your name.";
	const content = element(
		"div",
		element("p.quiet", about, " ", element("a", { href: "#connect" }, "Connect a client")),
		list,
	);

	async function load() {
		const { keys, connections, reason } = await get("/access");
		const rows = [...keys.map(describeKey), ...connections.map(describeConnection)];
		const none = reason === null ? "There are no keys and no connections yet." : shown(reason, 300);
		list.replaceChildren(tableOr(none, "Keys and connections", heads, rows));
	}

	/** @param {string} kind @param {string} name @param {object} which @param {string} consequence */
	function revokeButton(kind, name, which, consequence) {
		const what = `the ${kind} ${shown(name, 64)}`;
		const act = async () => {
			await post("/access/revoke", which);
			say(`Revoked: ${shown(name, 64)}`);
			await load();
		};
		const text = `It is refused from now on. ${consequence}`;
		return actionButton("button.small", "Revoke", act, { what, text });
	}

	/** @param {any} key */
	function describeKey({ name, access, instances, guilds, person, createdAt, expiresAt, lastUsedAt }) {
		const where = [instances ? `bots: ${instances.join(", ")}` : "all bots", guilds && `guilds: ${guilds.join(", ")}`];
		const isExpired = expiresAt <= Date.now();
		return [
			named(name, 64),
			shown(person ?? "nobody", 20),
			accessName(access),
			named(where.filter(Boolean).join("; "), 300),
			timeOf(createdAt),
			isExpired ? element("span.state.bad", "expired") : expiresAt ? timeOf(expiresAt) : "never",
			lastUsedAt ? timeOf(lastUsedAt) : "never",
			revokeButton("key", name, { key: name }, "The key cannot be restored."),
		];
	}

	/** @param {any} connection */
	function describeConnection({ id, client, redirectUri, person, access, createdAt, expiresAt, usedAt }) {
		const { host, protocol } = new URL(redirectUri);
		const again = "The person can connect it again.";
		return [
			named(client.name, 64),
			named(person.name, 64),
			accessName(access),
			element("span", "the person's guilds, through ", named(host || protocol, 64)),
			timeOf(createdAt),
			element("span", timeOf(expiresAt), " if not used"),
			usedAt ? timeOf(usedAt) : "never",
			revokeButton("connection with", client.name, { connection: id }, again),
		];
	}

	return { content, open: load };
}
