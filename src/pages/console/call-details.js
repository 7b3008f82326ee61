// The details of a call as its bot tells them: why it failed or what it changed, who asked, and what took how long.

import { element } from "../dom.js";
import { post } from "./api.js";
import { callerOf, clientOf, outcomeOf } from "./call-table.js";
import { actionButton, facts, named, preformatted, shown, timeOf } from "./parts.js";

/** @typedef {import("../../mcp/console.ts").AuditedCallDetails & { instance: string, kind?: string }} CallDetails */

/** @typedef {{ instance: string, reason: string }[]} Missing Bots that did not answer. */

/** @param {Missing} missing */
export const describeMissing = (missing) =>
	missing.map((one) => element("p.problem", "Without ", named(one.instance, 64), `: ${shown(one.reason, 300)}`));

/** Milliseconds by which the clocks of a bot and of the gateway may differ. */
const clockSkewMs = 120_000;
/** Before and after a call, Discord may record what it did. */
const recordMs = 2_000;
/** A call may run when its approval is given. */
const approvalExpiryMs = 86_400_000;

/** Of approvals, unless they were given. @type {Record<string, string>} */
const notGiven = {
	pending: "waits for a person",
	denied: "denied",
	expired: "nobody decided in time",
	withdrawn: "withdrawn: the key or connection ended",
};

/**
 * @param {CallDetails} call `effect` is "" if it reached no bot.
 * @param {CallDetails} [atGateway] As the gateway knows it.
 */
export function describeCall(call, atGateway) {
	const { answer, approval, effect, guild, message, ms, names } = call;
	/** @param {string} text */
	const withNames = (text) =>
		text.replaceAll(/(?<!ID: )\b\d{17,20}/g, (id) => (names[id] ? `${names[id]} (${id})` : id));
	const discord = call.discord === null ? null : JSON.parse(call.discord);
	const isRun = call.tool !== "approval" && effect !== "";
	const waited = approval?.waited ?? 0;
	// Of a call whose client has not waited for the approval, the gateway knows only the beginning.
	const rest = (atGateway?.ms ?? -1) - waited - (isRun ? ms : 0);
	const parts = [
		rest >= 0 && `gateway ${rest} ms`,
		waited > 0 && `waiting for approval ${(waited / 1000).toFixed(1)} s`,
		isRun && `bot ${Math.max(0, ms - (discord?.milliseconds ?? 0))} ms`,
		discord && `Discord ${discord.milliseconds} ms`,
	].filter(Boolean);
	const took = approval?.state === "pending" ? "waiting for approval" : parts.join(", ") || `${ms} ms`;
	const client = clientOf(call) || (atGateway ? clientOf(atGateway) : "");
	const by = approval?.by ? ` by ${approval.by === "root" ? "the holder of the token" : withNames(approval.by)}` : "";
	const state = approval === null ? "" : (notGiven[approval.state] ?? "approved");
	const { name, kind } = outcomeOf(call);
	const effects = { read: "only read", write: "may change", destructive: "may destroy" };
	const text = JSON.stringify(JSON.parse(call.arguments), null, 2);
	const requests = discord?.requests.map(describeRequest) ?? [];
	const more = discord ? discord.count - requests.length : 0;
	if (more > 0) requests.push(`${more} more ${more === 1 ? "request" : "requests"} that only read`);
	/** @param {CallDetails} one */
	const answerOf = (one) => {
		const { name, kind } = outcomeOf(one);
		return element(
			"p",
			{ class: `answer ${kind}` },
			element("strong", `${name}: `),
			named(withNames(one.answer ?? ""), 2_000),
		);
	};
	return element(
		"div",
		atGateway?.answer && answerOf(atGateway),
		answer !== null && answerOf(call),
		facts([
			answer === null && ["Outcome", element("span", { class: `state ${kind}` }, name)],
			["Asked by", named(`${callerOf(call)}${client ? ` through ${client}` : ""}`, 200)],
			["Took", took],
			guild !== null && ["Guild", named(withNames(guild), 200)],
			state !== "" && ["Approval", named(state + by, 200)],
			isRun && ["Effect", effects[/** @type {keyof typeof effects} */ (effect)] ?? shown(effect, 20)],
			message !== null && ["Message", shown(message, 20)],
			["At", timeOf(call.at)],
			call.request !== null && ["Request", element("code", shown(call.request, 64))],
		]),
		requests.length > 0 && preformatted("At Discord", withNames(requests.join("\n")), 20_000),
		text !== "{}" && preformatted("Arguments", withNames(text), 20_000),
		call.changes.length > 0 && changesOf(call),
	);
}

/** A button that asks Discord's audit log for old and new values. @param {CallDetails} call */
function changesOf({ instance, guild, at, ms, changes }) {
	const place = element("div");
	const time = (/** @type {number} */ after) => new Date(at + after).toISOString();
	const button = actionButton("button.small", "Before and after", async () => {
		const given = { instance, guild_id: guild ?? "", after: time(-recordMs), before: time(ms + recordMs) };
		const asked = changes.map((one) => post("/tools/call", { name: "get_audit_log", arguments: { ...given, ...one } }));
		const text = (await Promise.all(asked)).map((one) => one.text).join("\n");
		place.replaceChildren(preformatted("Discord's audit log of this call", text, 20_000));
	});
	return element("div.list", element("p.buttons", button), place);
}

/** @param {{ method: string, path: string, status?: number, code?: number | string, milliseconds: number }} request */
function describeRequest({ method, path, status, code, milliseconds }) {
	const answer = status === undefined ? "no answer" : code === undefined ? status : `${status}, code ${code}`;
	return `${method} ${path} → ${answer} (${milliseconds} ms)`;
}

/**
 * What the gateway and the bots know of a call, of its parts, and of approvals that it waited for.
 * @param {import("./types.ts").Call} call
 */
export async function loadDetails({ id, at, instance, parts }) {
	const query = { request: id, from: at - clockSkewMs, before: at + approvalExpiryMs, limit: 200 };
	/** @type {{ calls: CallDetails[], unavailable: Missing }} */
	const { calls, unavailable } = await post("/history", parts > 0 ? query : { ...query, instance: instance ?? "" });
	calls.sort((a, b) => String(a.request).localeCompare(String(b.request), "en", { numeric: true }));
	const all = [...Map.groupBy(calls, ({ request, instance }) => `${request} ${instance}`).values()].map((same) => {
		const atGateway = same.find(({ effect }) => effect === "");
		const atBot = same.filter(({ effect }) => effect !== "");
		return { atGateway, told: atBot.find(({ tool }) => tool !== "approval") ?? atBot[0] ?? atGateway };
	});
	return element(
		"div",
		...all.flatMap(({ told, atGateway }) => [
			all.length > 1 && element("h4", named(told?.instance || "gateway", 64)),
			told && describeCall(told, told === atGateway ? undefined : atGateway),
		]),
		...describeMissing(unavailable),
	);
}
