// The details of a call as its bot tells them: why it failed or what it changed, who asked, and what took how long.

import { element } from "../dom.js";
import { facts, named, preformatted, shown, timeOf } from "./parts.js";

/** @typedef {import("../../mcp/console.ts").AuditedCallDetails} CallDetails */

/** Outcomes in a bot's audit log: their names, and how bad they are. */
const outcomes = new Map(
	Object.entries({
		done: { name: "done", kind: "good" },
		refused: { name: "refused", kind: "warn" },
		failed: { name: "failed", kind: "bad" },
		error: { name: "internal error", kind: "bad" },
	}),
);

/** @param {string} outcome */
export const botOutcome = (outcome) => outcomes.get(outcome) ?? { name: shown(outcome, 40), kind: "warn" };

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
	const { answer, approval, effect, guild, message, milliseconds, names, outcome } = call;
	/** @param {string} text */
	const withNames = (text) => text.replaceAll(/\d{17,20}/g, (id) => (names[id] ? `${names[id]} (${id})` : id));
	const discord = call.discord === null ? null : JSON.parse(call.discord);
	const rest = Math.max(0, milliseconds - (discord?.milliseconds ?? 0));
	const parts = [
		atGateway && `gateway ${Math.max(0, atGateway.ms - milliseconds)} ms`,
		`bot ${rest} ms`,
		discord && `Discord ${discord.milliseconds} ms`,
	].filter(Boolean);
	// The gateway does not tell bots which client used the token.
	const client = atGateway?.client ?? call.client.replace("guildhall-gateway", "");
	const by = approval?.by ? ` by ${approval.by === "root" ? "the holder of the token" : withNames(approval.by)}` : "";
	const state = approval === null ? "" : (decided.get(approval.state) ?? shown(approval.state, 20));
	const { name, kind } = botOutcome(outcome);
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
			["Asked by", named(`${callerName(call)}${client ? ` through ${client}` : ""}`, 200)],
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
	);
}

/** @param {{ method: string, path: string, status?: number, code?: number | string, milliseconds: number }} request */
function describeRequest({ method, path, status, code, milliseconds }) {
	const answer = status === undefined ? "no answer" : code === undefined ? status : `${status}, code ${code}`;
	return `${method} ${path} → ${answer} (${milliseconds} ms)`;
}

/** @param {CallDetails} call */
export function callerName({ key, person, names }) {
	if (person !== null) return names[person] ? `${names[person]} (${person})` : `person ${person}`;
	// A key's id is its name and a part of its hash.
	if (key !== null && key !== "root") return key.replace(/^key:(.*?)(?::[^:]*)?$/, "key $1");
	return "the holder of the token";
}
