// Navigation between the sections of the page. The fragment of the URL names the section that is shown.

import { byId, element } from "../dom.js";
import { messageOf } from "./api.js";
import { say } from "./parts.js";

/**
 * `badge` is shown beside the name. `open` is called when the section is shown, and when the gateway is back.
 * @typedef {{ id: string, name: string, content: HTMLElement, badge?: HTMLElement, open?: () => unknown, close?: () => void }} Section
 */

/** @param {string} title */
export function setTitle(title) {
	document.title = `${title} – Guildhall console`;
}

/** With `focus`, the section's heading gets the focus. @param {readonly Section[]} sections @param {{ focus: boolean }} options */
export function createRouter(sections, { focus }) {
	const nav = byId("sections");
	/** @type {Section | undefined} */
	let current;
	const links = sections.map(({ id, name, badge }) => element("a", { href: `#${id}` }, name, " ", badge));
	nav.replaceChildren(...links);
	nav.hidden = false;

	/** @param {Section} section */
	async function open(section) {
		try {
			await section.open?.();
		} catch (error) {
			say(messageOf(error), "bad");
		}
	}

	/** @param {boolean} toHeading */
	function show(toHeading) {
		const wanted = location.hash.slice(1);
		// "#main" is the link that skips the navigation, not a section.
		if (wanted === "main" && current) return;
		const section = sections.find(({ id }) => id === wanted) ?? sections[0];
		if (!section || section === current) return;
		current?.close?.();
		current = section;
		say("");
		setTitle(section.name);
		for (const link of links) link.ariaCurrent = link.hash === `#${section.id}` ? "page" : null;
		const heading = element("h2", { id: "title", tabindex: -1 }, section.name);
		byId("main").replaceChildren(element("section", { "aria-labelledby": "title" }, heading, section.content));
		if (toHeading) heading.focus();
		void open(section);
	}

	const onHash = () => show(true);
	addEventListener("hashchange", onHash);
	show(focus);
	return {
		reopen() {
			if (current) void open(current);
		},
		stop() {
			removeEventListener("hashchange", onHash);
			current?.close?.();
		},
	};
}
