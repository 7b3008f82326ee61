// The section "Connections": clients that act in people's names.

import { element } from "../dom.js";
import { get, post } from "./api.js";
import { accessName, actionButton, named, say, shown, tableOr, timeOf } from "./parts.js";

const grantHeads = ["Program", "Person", "May do", "Since", "Last used", "Action"];

/** @param {boolean} ofAll Whether it shows those of all people. */
export function createConnections(ofAll) {
	const list = element("div");
	const intro = `Programs that act in ${ofAll ? "the name of people who signed in with Discord" : "your name"}.`;
	const content = element("div", element("p.quiet", intro), list);

	async function load() {
		const { grants, reason } = await get("/grants");
		const none = grants === null ? shown(reason ?? "", 300) : "No program is connected.";
		list.replaceChildren(tableOr(none, "Connections", grantHeads, grants?.map(describe) ?? []));
	}

	/** @param {any} grant */
	function describe({ id, client, person, access, createdAt, usedAt }) {
		const end = async () => {
			await post("/grants/end", { id });
			say(`Ended: ${shown(client.name, 64)}`);
			await load();
		};
		const question = {
			what: `the connection with ${shown(client.name, 64)}`,
			text: "The program is refused from now on, until the person connects it again.",
		};
		return [
			named(client.name, 64),
			named(person.name, 64),
			accessName(access),
			timeOf(createdAt),
			usedAt ? timeOf(usedAt) : "never",
			actionButton("button.small", "End", end, question),
		];
	}

	return { content, open: load };
}
