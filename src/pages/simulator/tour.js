// The tour of the demo: steps that open the places of which they tell. Dismissed, it stays behind a button.

import { byId, element, setChildren } from "../dom.js";
import { attempt, page, raid } from "./actions.js";
import { renderMarkdown } from "./markdown.js";
import { world } from "./world.js";

const dismissed = "tour-dismissed";
const again = byId("take-tour");
let index = 0;

again.addEventListener("click", () => {
	localStorage.removeItem(dismissed);
	void go(0);
});

/** Shows the current step, unless there is no tour or it was dismissed. */
export function showTour() {
	const { length } = world.tour;
	const [title, text = "", , kind, ...ask] = world.tour[index] ?? [];
	const isDismissed = localStorage.getItem(dismissed) !== null;
	byId("tour").hidden = length === 0 || isDismissed;
	again.hidden = length === 0 || !isDismissed;
	/** @param {string} label @param {() => unknown} act */
	const button = (label, act, style = "") =>
		element("button", { class: `small-button ${style}`, "data-key": `tour-${label}`, onclick: act }, label);
	const isLast = index === length - 1;
	setChildren(byId("tour"), [
		element("h2", { id: "tour-title" }, element("span.quiet", `${index + 1} of ${length} `), title),
		element("div", renderMarkdown(text)),
		...(kind === "raid" ? [button("Start the raid", () => raid(world.guildId), "main")] : []),
		...(ask.length > 0 ? [element("p.small.quiet", "Ask your assistant:")] : []),
		...ask.map((words) =>
			element(
				"blockquote",
				words,
				" ",
				button("Copy", () => attempt(() => navigator.clipboard.writeText(words))),
			),
		),
		element(
			"div.row",
			index > 0 && button("Back", () => go(index - 1)),
			!isLast && button("Next", () => go(index + 1), kind === "raid" ? "" : "main"),
			button(isLast ? "Done" : "Dismiss", () => {
				localStorage.setItem(dismissed, "");
				showTour();
				again.focus();
			}),
		),
	]);
}

/** Opens the place of a step as its person. @param {number} to */
async function go(to) {
	index = to;
	const [who, where, place] = world.tour[to]?.[2]?.split("/") ?? [];
	const person = world.people.find(({ username }) => username === who);
	const guild = world.guilds.find(({ name }) => name === where);
	const channel = guild?.channels.find((/** @type {{ name: string }} */ { name }) => name === place);
	if (person && person !== world.person) await page.become(person.id);
	if (guild) await page.open(guild.id, channel?.id);
	showTour();
}
