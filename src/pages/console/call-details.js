// The details of a call as its bot tells them: why it failed or what it changed, who asked, and what took how long.

import { element } from "../dom.js";
import { ApiError, post } from "./api.js";
import { callerOf, clientOf, outcomeOf } from "./call-table.js";
import { actionButton, facts, named, preformatted, shown, timeOf } from "./parts.js";

/** @typedef {import("../../mcp/console.ts").AuditedCallDetails & { instance: string }} CallDetails */

/** Milliseconds by which the clocks of a bot and of the gateway may differ. */
const clockSkewMs = 120_000;
/** Before and after a call, Discord may record what it did. */
const recordMs = 5_000;
/** A call may run when its approval is given. */
const approvalExpiryMs = 86_400_000;

/** Of states in which an approval is no longer open. */
const decided = new Map(
	Object.entries({
		...{ approved: "approved", running: "approved", done: "approved", failed: "approved", unknown: "approved" },
		...{ pending: "waits for a person", denied: "denied", expired: "nobody decided in time" },
		withdrawn: "withdrawn: the key or connection ended",
	}),
);

/**
 * @param {CallDetails} call
 * @param {{ ms: number, client: null | string }} [atGateway] What the gateway knows of it: how long it took with the bot, and
 * the client also of calls with the token.
 */
export function describeCall(call, atGateway) {
	const { answer, approval, effect, guild, message, ms, names, outcome } = call;
	/** @param {string} text */
	const withNames = (text) =>
		text.replaceAll(/(?<!ID: )\b\d{17,20}/g, (id) => (names[id] ? `${names[id]} (${id})` : id));
	const discord = call.discord === null ? null : JSON.parse(call.discord);
	const rest = Math.max(0, ms - (discord?.milliseconds ?? 0));
	const parts = [
		atGateway && `gateway ${Math.max(0, atGateway.ms - ms)} ms`,
		`bot ${rest} ms`,
		discord && `Discord ${discord.milliseconds} ms`,
	].filter(Boolean);
	const client = atGateway?.client ?? clientOf(call);
	const by = approval?.by ? ` by ${approval.by === "root" ? "the holder of the token" : withNames(approval.by)}` : "";
	const state = approval === null ? "" : (decided.get(approval.state) ?? shown(approval.state, 20));
	const { name, kind } = outcomeOf(outcome);
	const effects = { read: "only read", write: "may change", destructive: "may destroy" };
	const text = JSON.stringify(JSON.parse(call.arguments), null, 2);
	const requests = discord?.requests.map(describeRequest) ?? [];
	const more = discord ? discord.count - requests.length : 0;
	if (more > 0) requests.push(`${more} more ${more === 1 ? "request" : "requests"} that only read`);
	return element(
		"div",
		answer !== null &&
			element("p", { class: `answer ${kind}` }, element("strong", `${name}: `), named(withNames(answer), 2_000)),
		facts([
			answer === null && ["Outcome", element("span", { class: `state ${kind}` }, name)],
			["Asked by", named(`${callerOf(call)}${client ? ` through ${client}` : ""}`, 200)],
			["Took", parts.join(", ")],
			guild !== null && ["Guild", named(withNames(guild), 200)],
			state !== "" && ["Approval", named(state + by, 200)],
			["Effect", effects[/** @type {keyof typeof effects} */ (effect)] ?? shown(effect, 20)],
			message !== null && ["Message", shown(message, 20)],
			["At", timeOf(call.at)],
			call.request !== null && ["Request", element("code", shown(call.request, 64))],
		]),
		requests.length > 0 && preformatted("At Discord", withNames(requests.join("\n")), 20_000),
		text !== "{}" && preformatted("Arguments", withNames(text), 20_000),
		effect !== "read" && guild !== null && changesOf(call),
	);
}

/** A button that asks Discord's audit log for old and new values, and who else acted then. @param {CallDetails} call */
function changesOf({ instance, guild: guild_id, at, ms }) {
	const place = element("div");
	const time = (/** @type {number} */ after) => new Date(at + after).toISOString();
	const button = actionButton("button.small", "Before and after", async () => {
		const given = { instance, guild_id, after: time(-recordMs), before: time(ms + recordMs) };
		const { text } = await post("/tools/call", { name: "get_audit_log", arguments: given });
		place.replaceChildren(preformatted("Discord's audit log of these seconds", text, 20_000));
	});
	return element("div.list", element("p.buttons", button), place);
}

/** @param {{ method: string, path: string, status?: number, code?: number | string, milliseconds: number }} request */
function describeRequest({ method, path, status, code, milliseconds }) {
	const answer = status === undefined ? "no answer" : code === undefined ? status : `${status}, code ${code}`;
	return `${method} ${path} → ${answer} (${milliseconds} ms)`;
}

/**
 * What the bot knows of a call of the gateway, and of an approval that it waited for.
 * @param {import("./types.ts").Call} call
 */
export async function loadDetails(call) {
	const { id, at, instance, guild } = call;
	let reason = "No bot received this call.";
	if (instance !== null)
		try {
			const query = { instance, request: id, from: at - clockSkewMs, before: at + approvalExpiryMs, limit: 10 };
			/** @type {{ calls: CallDetails[], unavailable: { reason: string }[] }} */
			const { calls, unavailable } = await post("/history", query);
			const details = calls.find(({ tool }) => tool !== "approval") ?? calls[0];
			if (details) return describeCall(details, call);
			reason = unavailable[0]?.reason ?? "The bot's audit log does not contain this call.";
		} catch (error) {
			if (!(error instanceof ApiError)) throw error;
			reason = error.message;
		}
	const list = facts([
		["Request", element("code", shown(id, 64))],
		["At", timeOf(at)],
		guild !== null && ["Guild", shown(guild, 20)],
	]);
	return element("div", list, element("p", shown(reason, 300)));
}
