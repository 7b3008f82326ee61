// The section "Live": the bots, and below them the latest tool calls.

import { element, setChildren } from "../dom.js";
import { get } from "./api.js";
import { CallList } from "./calls.js";
import { createAddBot, createControls } from "./control.js";
import { facts, named, shown, timeOf } from "./parts.js";

/** @import { Bot, State } from "./types.ts" */

/** Number of guilds that a bot's card names while it is closed. */
const maxNamed = 2;

/** @param {boolean} isRoot @param {ReturnType<typeof import("./since.js").createSince>} since */
export function createLive(isRoot, since) {
	/** @type {State | undefined} */
	let state;
	const gateway = element("p.quiet");
	const bar = element("div.bar", gateway);
	const grid = element("div.bots");
	const adding = element("div");
	const calls = new CallList();
	/** @type {Map<string, ReturnType<typeof createBotCard>>} */
	const cards = new Map();
	const content = element(
		"div",
		element("h3.visually-hidden", "Bots"),
		bar,
		since.content,
		grid,
		adding,
		calls.content,
	);
	return {
		content,
		/** @returns {Promise<State>} */
		state: async () => state ?? get("/state"),
		/** @param {State} next */
		setState(next) {
			state = next;
			const { version, startedAt, database, databaseReason, hasControl, newer } = next.gateway;
			const others = next.bots.filter((bot) => bot.state !== "online").map((bot) => `${bot.name}: ${bot.state}`);
			const stored = database ? `, database ${database}` : "";
			const why = databaseReason ? ` (${databaseReason})` : "";
			gateway.replaceChildren(
				`${next.bots.length - others.length} of ${next.bots.length} bots online`,
				others.length > 0 ? element("strong", shown(` (${others.join(", ")})`, 200)) : "",
				`. Gateway ${shown(version, 40)}, since `,
				timeOf(startedAt),
				shown(`${stored}${why}.${newer ? ` Version ${newer} is available: guildhall upgrade` : ""}`, 300),
			);
			if (hasControl && !adding.hasChildNodes()) {
				bar.append(createControls("gateway").content);
				adding.append(createAddBot());
			}
			const shownCards = next.bots.map((bot) => {
				const card = cards.get(bot.name) ?? createBotCard(bot.name, isRoot, hasControl, () => calls.showBot(bot.name));
				cards.set(bot.name, card);
				card.update(bot);
				return card.content;
			});
			setChildren(grid, shownCards);
			calls.setState(next);
			since.setState(next);
		},
		calls,
	};
}

/** @param {string} name @param {boolean} isRoot @param {boolean} hasControl @param {() => void} showCalls */
function createBotCard(name, isRoot, hasControl, showCalls) {
	const light = element("span");
	const reason = element("p");
	const numbers = element("div");
	const guildCount = element("summary");
	const guilds = element("ul.guilds");
	const label = `Calls of ${shown(name, 64)}`;
	const button = element("button.small", { "aria-label": label, onclick: showCalls }, "Calls");
	const controls = hasControl ? createControls(name) : undefined;
	const content = element(
		"article.bot",
		element("div.bar", element("h4", named(name, 64), " ", light), button),
		reason,
		numbers,
		element("details", guildCount, guilds),
		controls?.content,
	);
	return {
		content,
		/** @param {Bot} bot */
		update(bot) {
			const { latency } = bot;
			const kinds = { online: "good", "not ready": "warn", away: "warn", stopped: "warn" };
			light.className = `state ${/** @type {Record<string, string>} */ (kinds)[bot.state] ?? "bad"}`;
			light.textContent = shown(bot.state, 20);
			reason.textContent = shown(bot.reason ?? "", 400);
			numbers.replaceChildren(
				facts([
					["Since", timeOf(bot.since)],
					["Version", shown(bot.version ?? "unknown", 40)],
					isRoot && ["Tools", bot.tools ?? "unknown"],
					isRoot && ["Calls now", bot.callsInFlight],
					["Typical / slowest", latency ? `${latency.p50} / ${latency.max} ms` : "no calls"],
					["Failed, refused", latency ? `${bot.failed}, ${bot.refused} of last ${latency.calls}` : "no calls"],
				]),
			);
			const count = bot.guildCount;
			guildCount.replaceChildren(
				`${count} ${count === 1 ? "guild" : "guilds"}`,
				...bot.guilds
					.slice(0, maxNamed)
					.map(({ name }, index) => element("span.quiet", index === 0 ? ": " : ", ", named(name, 30))),
				count > maxNamed ? " …" : "",
			);
			guilds.replaceChildren(
				...bot.guilds.map(({ id, name, pinned }) =>
					element("li", named(name), " ", element("span.quiet", shown(id, 20), pinned && ", pinned")),
				),
			);
			const more = count - bot.guilds.length;
			if (more > 0) guilds.append(element("li", `and ${more} more`));
			controls?.update(bot.state === "stopped");
		},
	};
}
