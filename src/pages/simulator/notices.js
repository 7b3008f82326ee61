// Notices, dialogs, announcements of new messages to screen readers, and the state of the connection.

import { byId, element } from "../dom.js";
import { excerptOf } from "./message-state.js";
import { world } from "./world.js";

const maxAnnouncements = 5;
const noticeMs = 8000;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let noticeTimer;

/** @param {string} text */
export function notify(text, isError = false) {
	const notice = byId("notice");
	notice.textContent = text;
	notice.className = isError ? "shown error" : "shown";
	clearTimeout(noticeTimer);
	noticeTimer = setTimeout(() => {
		notice.className = "";
		notice.textContent = "";
	}, noticeMs);
}

/** @param {import("./server.js").Json} message */
export function announce(message) {
	const log = byId("log");
	log.append(element("p", `${world.nameOf(message.author.id)}: ${excerptOf(message)}`));
	while (log.children.length > maxAnnouncements) log.firstChild?.remove();
}

/** @param {boolean} isConnected */
export function showConnection(isConnected) {
	const text = isConnected ? "live" : "reconnecting…";
	const status = byId("connection");
	if (status.textContent !== text) status.textContent = text;
	status.className = isConnected ? "state good" : "state bad";
}

/**
 * @param {Record<string, unknown>} attributes
 * @param {string} label Of the button that submits.
 * @param {() => Promise<boolean>} submit
 * @param {() => void} close
 * @param {...Element} content
 */
export function closableForm(attributes, label, submit, close, ...content) {
	const onsubmit = async (/** @type {Event} */ event) => {
		event.preventDefault();
		if (await submit()) close();
	};
	const buttons = element("div.row", element("button.main", label), element("button", { onclick: close }, "Cancel"));
	return element("form.fields-form", { ...attributes, onsubmit }, ...content, buttons);
}

/** @param {string} title @param {string} label @param {() => Promise<boolean>} submit @param {...Element} content */
export function showDialog(title, label, submit, ...content) {
	const dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
	const heading = element("h2", { id: "dialog-title", dir: "auto" }, title);
	dialog.replaceChildren(closableForm({}, label, submit, () => dialog.close(), heading, ...content));
	if (!dialog.open) dialog.showModal();
}
