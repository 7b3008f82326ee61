// The section "Approvals": tool calls that run only after a person has approved them.

import { element } from "../dom.js";
import { ApiError, get, post } from "./api.js";
import { actionButton, facts, named, preformatted, say, shown, timeOf } from "./parts.js";

/** Milliseconds between updates of the list while it is shown. */
const lookMs = 15_000;
const maxText = 250_000;

export function createApprovals() {
	/** The number of those that this person may decide. */
	const badge = element("span.badge");
	const list = element("div.list");
	const note = element("p.quiet");
	const content = element("div", note, list);
	/** @type {ReturnType<typeof setInterval> | undefined} */
	let timer;
	/** @type {string} What is shown, so that an unchanged list keeps its focus. */
	let before = "";

	async function load() {
		const { approvals, unavailable } = await get("/approvals");
		const open = approvals.filter((/** @type {any} */ one) => one.mayApprove || one.mayDeny);
		badge.textContent = String(open.length || "");
		const now = JSON.stringify([approvals, unavailable]);
		if (now === before) return;
		before = now;
		const none =
			unavailable.length > 0
				? "at the bots that answer."
				: "for an approval. Calls wait if approval is on in [mcp] of the bot's config.toml.";
		note.textContent =
			approvals.length > 0
				? "These calls run only when they are approved. Read the arguments first."
				: `No call waits ${none}`;
		list.replaceChildren(
			...approvals.map(describe),
			...unavailable.map((/** @type {any} */ one) =>
				element("p.problem", named(one.instance, 64), " ", named(one.reason, 400)),
			),
		);
	}

	/** Loads the list again. Errors are ignored: the page already shows when the gateway cannot be reached. */
	const refresh = () =>
		load().catch((error) => {
			if (!(error instanceof ApiError)) throw error;
		});

	/** @param {any} approval */
	function describe(approval) {
		const { instance, id, token, tool, guild, mayApprove, mayDeny, why } = approval;
		const place = () => (guild ? named(guild.name) : "no guild");
		/** @param {"approve" | "deny"} decision */
		const decide = async (decision) => {
			const { message, done } = await post("/approvals/decide", { instance, id, token, decision });
			say(message, done ? "good" : "bad");
			before = "";
			await load();
		};
		const question = {
			what: shown(tool, 64),
			text: element("span", "Asked by ", named(approval.requester, 80), ". The bot runs it at once, in ", place(), "."),
		};
		return element(
			"article.panel",
			element("h3", named(tool, 64), " in ", place()),
			facts([
				["Bot", named(instance, 64)],
				["Asked by", named(approval.requester, 80)],
				["Client", named(approval.client ?? "unknown", 80)],
				["At", timeOf(approval.createdAt)],
				["Until", timeOf(approval.expiresAt)],
			]),
			preformatted("Arguments", approval.arguments, maxText),
			approval.plan && preformatted("What it means", approval.plan, maxText),
			!mayApprove && element("p", "You cannot approve this call: ", named(why ?? "", 1_000)),
			element(
				"p.buttons",
				mayApprove && actionButton("button.main", "Approve", () => decide("approve"), question),
				mayDeny && actionButton("button", "Deny", () => decide("deny")),
			),
		);
	}

	return {
		badge,
		content,
		refresh,
		async open() {
			clearInterval(timer);
			timer = setInterval(() => document.hidden || void refresh(), lookMs);
			await load();
		},
		close: () => clearInterval(timer),
	};
}
