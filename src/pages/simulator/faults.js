// Shows the bots' connections and intents, and injects faults into requests.

import { element } from "../dom.js";
import { request } from "./server.js";
import { shownName } from "./world.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 * @typedef {(act: () => Promise<unknown>, done?: string) => Promise<unknown>} Attempt runs an action and shows its failure
 */

/**
 * The kinds of faults: the fields of the request that injects the fault, and a question about one of them.
 * @type {Record<string, { label: string, fields: Json, ask?: { field: string, label: string, value: number } }>}
 */
const kinds = {
	refuse: {
		label: "Refuse with an error of Discord",
		fields: {},
		ask: { field: "code", label: "Error code", value: 50_013 },
	},
	fail: {
		label: "Server error",
		fields: { executed: false },
		ask: { field: "status", label: "HTTP status", value: 500 },
	},
	"fail-executed": {
		label: "Server error, but executed",
		fields: { executed: true },
		ask: { field: "status", label: "HTTP status", value: 500 },
	},
	rateLimit: {
		label: "Rate limit",
		fields: {},
		ask: { field: "retryAfterMs", label: "Retry after, in ms", value: 5000 },
	},
	stall: { label: "No response until cleared", fields: {} },
	drop: { label: "Close the connection", fields: { when: "before" } },
};

const requests = {
	"POST /channels/*/messages": "writing a message",
	"PUT /channels/*/messages/*/reactions/*": "reacting",
	"POST /guilds/*/channels": "creating a channel",
	"* /guilds/*/members/*": "changing members",
	"PUT /guilds/*/bans/*": "banning",
	"POST /interactions/*": "answering a command or button",
	"* *": "doing anything",
};

/** The privileged intents, as Discord's developer portal names them. */
const intents = {
	GuildMembers: "Server Members Intent",
	GuildPresences: "Presence Intent",
	MessageContent: "Message Content Intent",
};

/**
 * Returns the form that injects a fault.
 *
 * @param {World} world
 * @param {Attempt} attempt
 */
export function faultForm(world, attempt) {
	const kind = choice(
		"fault-kind",
		Object.entries(kinds).map(([value, { label }]) => [value, label]),
	);
	const match = choice("fault-match", Object.entries(requests));
	const actor = choice("fault-actor", [
		...world.bots.map((bot) => /** @type {[string, string]} */ ([bot.id, shownName(bot)])),
		["", "everyone, this page too"],
	]);
	const times = number("fault-times", 1);
	const detail = number("fault-detail", 0);
	const detailLabel = element("label", { for: "fault-detail" });
	const detailField = element("div", { class: "field" }, detailLabel, detail);
	const showDetail = () => {
		const ask = kinds[kind.value]?.ask;
		detailField.hidden = !ask;
		detailLabel.textContent = ask?.label ?? "";
		detail.value = String(ask?.value ?? 0);
	};
	kind.addEventListener("change", showDetail);
	showDetail();
	const send = () => {
		const { fields = {}, ask } = kinds[kind.value] ?? {};
		const body = {
			kind: kind.value.split("-")[0],
			match: match.value,
			...fields,
			...(ask && { [ask.field]: Number(detail.value) }),
			...(times.value !== "" && { times: Number(times.value) }),
			...(actor.value !== "" && { actor: actor.value }),
		};
		return request("POST", "/simulator/faults", { body });
	};
	return element(
		"form",
		{
			class: "fields-form",
			onsubmit: (/** @type {Event} */ event) => {
				event.preventDefault();
				void attempt(send, "The fault is active and waits for a matching request.");
			},
		},
		field("What goes wrong", kind),
		detailField,
		field("When", match),
		field("For", actor),
		field("How often (empty: always)", times),
		element("button", { class: "main" }, "Inject fault"),
	);
}

/**
 * @param {string} id
 * @param {[value: string, label: string][]} options
 */
function choice(id, options) {
	return element("select", { id }, ...options.map(([value, label]) => element("option", { value }, label)));
}

/**
 * @param {string} id
 * @param {number} value
 */
function number(id, value) {
	return element("input", { id, type: "number", min: 0, step: 1, value });
}

/**
 * @param {string} label
 * @param {HTMLElement} control
 */
function field(label, control) {
	return element("div", { class: "field" }, element("label", { for: control.id }, label), control);
}

/**
 * Returns the list of active faults.
 *
 * @param {World} world
 * @param {Attempt} attempt
 */
export function renderFaults(world, attempt) {
	if (world.faults.length === 0) return [element("p", { class: "quiet" }, "No fault is active.")];
	/** @param {string} query @param {string} done */
	const remove = (query, done) => () => attempt(() => request("DELETE", `/simulator/faults${query}`), done);
	return [
		element(
			"ul",
			{ class: "faults" },
			...world.faults.map(({ id, kind, match, hits, times, actor }) =>
				element(
					"li",
					{},
					element(
						"p",
						{},
						element("strong", {}, kind),
						" ",
						element("code", {}, match),
						actor && ` for ${world.nameOf(actor)}`,
						element("span", { class: "quiet" }, ` · hits: ${times ? `${hits} of ${times}` : hits}`),
					),
					element(
						"button",
						{
							type: "button",
							"data-key": `fault-${id}`,
							"aria-label": `Clear the fault ${kind} ${match}`,
							onclick: remove(`?id=${id}`, "The fault is cleared."),
						},
						"Clear",
					),
				),
			),
		),
		element(
			"button",
			{
				type: "button",
				"data-key": "clear-faults",
				onclick: remove("", "All faults are cleared."),
			},
			"Clear all faults",
		),
	];
}

/**
 * Returns the bots with their connections, and the privileged intents that each is allowed.
 * @param {World} world
 * @param {Attempt} attempt
 */
export function renderBots(world, attempt) {
	return world.bots.map((bot) => {
		const isConnected = world.connected.has(bot.id);
		const allowed = new Set(bot.intents);
		/** @param {string} name @param {boolean} on */
		const allow = (name, on) => {
			const others = [...allowed].filter((one) => one !== name);
			const wanted = on ? [...others, name] : others;
			const body = { bot_id: bot.id, intents: wanted };
			return attempt(async () => {
				await request("POST", "/simulator/intents", { body });
				bot.intents = wanted;
			}, `${bot.username} has to connect again.`);
		};
		return element(
			"fieldset",
			{ class: "bot-box" },
			element(
				"legend",
				{},
				element("bdi", {}, bot.username),
				element("span", { class: isConnected ? "state good" : "state" }, isConnected ? "connected" : "not connected"),
			),
			...Object.entries(intents).map(([name, label]) =>
				element(
					"label",
					{ class: "check" },
					element("input", {
						type: "checkbox",
						"data-key": `intent-${bot.id}-${name}`,
						checked: allowed.has(name),
						onchange: (/** @type {Event} */ { target }) =>
							allow(name, target instanceof HTMLInputElement && target.checked),
					}),
					label,
				),
			),
		);
	});
}
