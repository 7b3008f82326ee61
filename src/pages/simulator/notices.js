// Notices, announcements of new messages to screen readers, and the state of the connection.

import { byId, element } from "../dom.js";
import { excerptOf } from "./messages.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 */

const maxAnnouncements = 5;
const noticeMs = 8000;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let noticeTimer;

/**
 * @param {string} text
 * @param {boolean} [isError]
 */
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

/**
 * @param {World} world
 * @param {Json} message
 */
export function announce(world, message) {
	const log = byId("log");
	const name = world.nameOf(message.author.id);
	log.append(element("p", `${name}: ${excerptOf(message)}`));
	while (log.children.length > maxAnnouncements) log.firstChild?.remove();
}

/** @param {boolean} isConnected */
export function showConnection(isConnected) {
	const text = isConnected ? "live" : "reconnecting…";
	const status = byId("connection");
	if (status.textContent !== text) status.textContent = text;
	status.className = isConnected ? "state good" : "state bad";
}
