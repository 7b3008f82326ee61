// An MCP App: the plan of a guild document, with a button that carries it out. It runs in a client's sandbox, without a network,
// and shows the text that the tool gave to the client. Nothing happens without a press of the button, and then only what the
// same call of the AI model would do: the client may ask, the bot checks rights, and waits for approvals.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx

import { element } from "../dom.js";
import { named } from "../untrusted.js";

const maxLine = 2_000;
/** The last lines of a plan that can be carried out. Names in a plan cannot span lines. */
const ending = /\nplan_hash=([0-9a-f]{32})\nNothing was changed\. apply_guild [^\n]*$/;
/** @type {Record<string, string>} */
const classes = { "+": "create", "-": "delete", c: "delete" };
/** Our colours by those of the host. */
const colours = {
	"--color-background-primary": "--back",
	"--color-text-primary": "--text",
	"--color-text-secondary": "--quiet",
	"--color-text-success": "--good",
	"--color-text-danger": "--bad",
};

/** @type {Map<number, PromiseWithResolvers<any>>} */
const waiting = new Map();
/** @type {any} Of the call whose result is shown. */
let input = {};
/** @type {any} */
let host = {};

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

/** @param {any} context */
function dress({ theme, styles }) {
	const { style } = document.documentElement;
	if (theme) style.colorScheme = theme;
	for (const [theirs, ours] of Object.entries(colours)) {
		const colour = styles?.variables?.[theirs];
		if (colour) style.setProperty(ours, colour);
	}
}

/** @param {any} result Of plan_guild or apply_guild. */
function show({ content }) {
	const text = content.map((/** @type {any} */ one) => one.text ?? "").join("\n");
	const [first, ...lines] = text.split("\n");
	const [, hash] = ending.exec(text) ?? [];
	document.body.replaceChildren(
		element("h1", named(first, maxLine)),
		element(
			"ul",
			{ tabindex: 0, "aria-label": "What it says" },
			...lines.map((/** @type {string} */ line) =>
				element("li", { class: classes[line[0] ?? ""] }, named(line, maxLine)),
			),
		),
		element("p", { role: "status" }),
		hash !== undefined && host.serverTools ? element("button.main", { onclick: () => approve(hash) }, "Approve") : "",
	);
}

/** @param {string} plan_hash */
async function approve(plan_hash) {
	const [button, status] = [document.querySelector("button"), document.querySelector("p")];
	if (!button || !status) return;
	button.disabled = true;
	status.textContent = "Asked the client to carry it out …";
	const { guild_id, instance } = input;
	const call = {
		name: "apply_guild",
		arguments: { plan_hash, ...(guild_id && { guild_id }), ...(instance && { instance }) },
	};
	try {
		const result = await request("tools/call", call);
		show(result);
		if (!host.updateModelContext) return;
		const said = {
			type: "text",
			text: `The person pressed Approve at the plan ${plan_hash}. The result of apply_guild:`,
		};
		await request("ui/update-model-context", { content: [said, ...result.content] });
	} catch (error) {
		status.replaceChildren(named(/** @type {any} */ (error).message, maxLine));
		button.disabled = false;
	}
}

addEventListener("message", ({ source, data }) => {
	if (source !== parent) return;
	const { id, method, params, result, error } = data;
	if (method === "ui/notifications/tool-input") input = params.arguments ?? {};
	else if (method === "ui/notifications/tool-result") show(params);
	else if (method === "ui/notifications/host-context-changed") dress(params);
	else if (method !== undefined) id !== undefined && send({ id, result: {} });
	else if (error) waiting.get(id)?.reject(error);
	else waiting.get(id)?.resolve(result);
});

new ResizeObserver(() =>
	send({ method: "ui/notifications/size-changed", params: { height: document.body.offsetHeight } }),
).observe(document.body);

const { hostCapabilities, hostContext = {} } = await request("ui/initialize", {
	protocolVersion: "2026-01-26",
	appInfo: { name: "guildhall-plan", title: "Plan", version: "1" },
	appCapabilities: { availableDisplayModes: ["inline"] },
});
host = hostCapabilities;
dress(hostContext);
send({ method: "ui/notifications/initialized", params: {} });
