// The last changes of a server's settings, and the way back to what was before them.

import { element } from "../dom.js";
import { messageOf, post } from "./api.js";
import { named, tableOr, timeOf } from "./parts.js";

/** @import { Change, Place, Revision } from "./types.ts" */

const heads = ["Version", "When", "Who", "Through", "Changes", "Action"];

/**
 * @param {Place} place
 * @param {(change: Change) => Element} describe
 * @param {(values: Map<string, unknown>) => void} enter Puts former values into the fields.
 */
export function createHistory(place, describe, enter) {
	const list = element("div");
	const content = element(
		"details.panel",
		{ ontoggle: () => void load() },
		element("summary", element("strong", "History")),
		element("p.quiet", "The last 50 changes. Going back fills in the fields above; nothing is changed until you save."),
		list,
	);

	/** Never rejects. */
	async function load() {
		if (!content.open) return;
		try {
			/** @type {{ revisions: Revision[] }} */
			const { revisions } = await post("/settings", { ...place, history: true });
			const rows = revisions.map((one, index) => createRow(one, revisions.slice(0, index || 1), index === 0));
			list.replaceChildren(tableOr("Nothing was ever changed.", "History", heads, rows));
		} catch (error) {
			list.replaceChildren(element("p.problem", { role: "alert" }, messageOf(error)));
		}
	}

	/** @param {Revision} revision @param {Revision[]} undone To go there, newest first. @param {boolean} isLast */
	function createRow({ version, at, by, door, changes }, undone, isLast) {
		const former = undone.flatMap((one) => one.changes.map(({ key, before }) => /** @type {const} */ ([key, before])));
		const onclick = () => enter(new Map(former));
		return [
			version,
			timeOf(at),
			by === null ? "a token" : named(by, 80),
			named(door, 64),
			element("ul.changes", ...changes.map(describe)),
			element(
				"button.small",
				{ onclick, "aria-label": isLast ? "Undo the last change" : `Return to version ${version}` },
				isLast ? "Undo" : "Return",
			),
		];
	}

	return { content, load };
}
