// An MCP App: the plan of a guild document, with a button that carries it out. It runs in a client's sandbox, without a network,
// and shows the text that the tool gave to the client. Only a press of the button does something: what the same call of the
// model would do. The client may ask first; the bot checks rights, and waits for approvals.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx

import { element } from "../dom.js";
import { named } from "../untrusted.js";

const maxLine = 2_000;
/** The end of a plan that can be carried out, for models. Names in a plan cannot span lines. */
const ending = /\nplan_hash=([0-9a-f]{32})\nNothing was changed\. apply_guild [^\n]*$/;
/** @param {string} line */
const classOf = (line) => (/^\+ /.test(line) ? "create" : /^(- |cannot: |failed: )/.test(line) && "delete");

/** @type {Map<number, PromiseWithResolvers<any>>} */
const waiting = new Map();
/** @type {any} The arguments of plan_guild. */
let input = {};

/** @param {object} message */
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

/** @param {string} method @param {object} params */
function request(method, params) {
	const id = waiting.size + 1;
	const answer = Promise.withResolvers();
	waiting.set(id, answer);
	send({ id, method, params });
	return answer.promise;
}

/** @param {any} context Of the client. */
function setTheme({ theme }) {
	if (theme) document.documentElement.style.colorScheme = theme;
}

/** @param {any} result */
const textOf = ({ content }) => content.map((/** @type {any} */ one) => one.text ?? "").join("\n");

/** @param {any} result Of plan_guild or apply_guild. */
function show(result) {
	const text = textOf(result);
	const [, hash] = ending.exec(text) ?? [];
	const [first, ...lines] = text.replace(ending, "").split("\n");
	/** @param {string} line */
	const item = (line) => element("li", { class: classOf(line) }, named(line, maxLine));
	const status = element("p", { role: "status" });
	const button = hash && element("button.main", { onclick: () => approve(hash, status) }, "Approve");
	const list = element("ul", { tabindex: 0, "aria-label": "What it says" }, ...lines.map(item));
	document.body.replaceChildren(element("h1", named(first, maxLine)), list, status, button ?? "");
}

/** @param {string} plan_hash @param {HTMLElement} status */
async function approve(plan_hash, status) {
	const { guild_id, instance } = input;
	const button = document.querySelector("button");
	button?.toggleAttribute("disabled", true);
	status.textContent = "The client is asked to carry it out …";
	try {
		const result = await request("tools/call", { name: "apply_guild", arguments: { guild_id, instance, plan_hash } });
		const said = { type: "text", text: `The person pressed Approve at the plan ${plan_hash}. apply_guild answered:` };
		// Not every client tells its model.
		request("ui/update-model-context", { content: [said, ...result.content] }).catch(() => {});
		if (result.isError) throw new Error(textOf(result));
		show(result);
	} catch (error) {
		status.replaceChildren(named(/** @type {any} */ (error).message, maxLine));
		button?.toggleAttribute("disabled", false);
	}
}

addEventListener("message", ({ source, data }) => {
	if (source !== parent) return;
	const { id, method, params, result, error } = data;
	if (method === "ui/notifications/tool-input") input = params.arguments ?? {};
	else if (method === "ui/notifications/tool-result") show(params);
	else if (method === "ui/notifications/host-context-changed") setTheme(params);
	else if (method !== undefined) id !== undefined && send({ id, result: {} });
	else if (error) waiting.get(id)?.reject(error);
	else waiting.get(id)?.resolve(result);
});

new ResizeObserver(() =>
	send({ method: "ui/notifications/size-changed", params: { height: document.body.offsetHeight } }),
).observe(document.body);

const appInfo = { name: "guildhall-plan", title: "Plan", version: "1" };
const { hostContext = {} } = await request("ui/initialize", {
	protocolVersion: "2026-01-26",
	appInfo,
	appCapabilities: { availableDisplayModes: ["inline"] },
});
setTheme(hostContext);
send({ method: "ui/notifications/initialized", params: {} });
