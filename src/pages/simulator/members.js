// Renders the members of the open guild by role, with the actions on each.

import { element } from "../dom.js";
import { openDirect, page } from "./actions.js";
import { renderMenu, userMenu } from "./components.js";
import { avatar } from "./messages.js";
import { shownName, world } from "./world.js";

/** @typedef {import("./server.js").Json} Json */

/** Maximum number of members that are shown, so that the page stays fast. */
const maxMembers = 200;

export function renderMembers() {
	const { view } = world;
	if (!view) return [element("p.quiet.empty", "No guild is open.")];
	const { guild, members, member_count } = view;
	const roles = [...guild.roles].sort((a, b) => b.position - a.position);
	/** @type {Map<string, { name: string, color: number, members: Json[] }>} */
	const groups = new Map();
	for (const { id, name, color, hoist } of roles) if (hoist) groups.set(id, { name, color, members: [] });
	groups.set("", { name: "Others", color: 0, members: [] });
	for (const member of members.slice(0, maxMembers)) {
		const shown = roles.find(({ id, hoist }) => hoist && member.roles.includes(id));
		groups.get(shown?.id ?? "")?.members.push(member);
	}
	const left = member_count - Math.min(maxMembers, members.length);
	return [
		...[...groups.values()].filter((group) => group.members.length > 0).map((group) => memberGroup(roles, group)),
		left > 0 && element("p.quiet", `and ${left} others`),
	].filter((one) => one instanceof HTMLElement);
}

/** @param {Json[]} roles @param {{ name: string, color: number, members: Json[] }} group */
function memberGroup(roles, { name, color, members }) {
	return element(
		"section",
		element("h3.category", roleDot(color), element("bdi", name), ` (${members.length})`),
		element("ul.members", ...members.map((member) => element("li", memberDetails(roles, member)))),
	);
}

/** @param {number} color */
function roleDot(color) {
	if (!color) return undefined;
	const dot = element("span.role-dot");
	dot.style.backgroundColor = `#${color.toString(16).padStart(6, "0")}`;
	return dot;
}

/** @param {Json[]} roles @param {Json} member */
function memberDetails(roles, member) {
	const { user, nick, communication_disabled_until: until } = member;
	const name = nick ?? shownName(user);
	const own = roles.filter(({ id }) => member.roles.includes(id));
	const person = world.people.find(({ id }) => id === user.id);
	const isAway = user.bot && !world.connected.has(user.id);
	const isTimedOut = until && Date.parse(until) > Date.now();
	return element(
		"details",
		{ "data-key": `member-${user.id}` },
		element(
			"summary",
			{ "data-key": `summary-${user.id}` },
			avatar(user, name),
			element("bdi.name", name),
			user.bot && element("span.tag", "BOT"),
			isAway && element("span.small.quiet", "offline"),
			isTimedOut && element("span.small.quiet", "timed out"),
			member.pending && element("span.small.quiet", "pending"),
		),
		element(
			"div.member-details",
			element("p.small.quiet", element("bdi", user.username)),
			element(
				"ul.roles",
				{ "aria-label": "Roles" },
				...own.map((role) => element("li", roleDot(role.color), element("bdi", role.name))),
			),
			person && person !== world.person && element("button", { onclick: () => page.become(user.id) }, `Act as ${name}`),
			user.id !== world.person?.id && element("button", { onclick: () => openDirect(user.id) }, "Message"),
			renderMenu(userMenu, user.id, name),
		),
	);
}
