// The resources that clients see: those of all bots. A bot's URI without an authority, such as guildhall:/guilds/1/document,
// gets the name of its instance there (guildhall://alpha/guilds/1/document), by which it is read again.
// https://modelcontextprotocol.io/specification/2026-07-28/server/resources

import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Principal } from "../../lib/principal.ts";
import { resourceNotFound } from "../../mcp/resources.ts";
import type { Caller, ResourceMethods } from "../../mcp/server.ts";
import type { Backend } from "../backends/backend.ts";
import type { Views } from "../principals/views.ts";
import { type PromptsOptions, refusalOf, toRpcError } from "./prompts.ts";

const listTimeoutMs = 5_000;
/** Of all bots: some clients read at most 1 MiB. */
const maxListed = 500;
/** Nothing in it can stand for another character, so that a pinned guild cannot hide. */
const ownUri = /^guildhall:\/(?!\/)[\w./~{}-]{1,500}$/;
const lists = {
	"resources/list": { key: "resources", uri: "uri" },
	"resources/templates/list": { key: "resourceTemplates", uri: "uriTemplate" },
} as const;

export function createResources(options: PromptsOptions & { views: Views }): ResourceMethods {
	const { router, views, deadlines, firstList } = options;

	/** Those that the caller may see. */
	async function seenBy(principal: Principal | undefined, signal: AbortSignal): Promise<Backend[]> {
		await firstList();
		const seen = (await views.load(principal, signal)).map(({ backend }) => backend);
		return seen.filter(({ session }) => session.server.hasResources);
	}

	async function list(method: keyof typeof lists, { principal, trace }: Caller): Promise<string> {
		const signal = AbortSignal.timeout(listTimeoutMs);
		const { key, uri } = lists[method];
		const merged = new Map<string, JsonObject>();
		const missing: string[] = [];
		const reading = (await seenBy(principal, signal)).map(async (backend) => {
			const request = { method, params: "{}", principal, trace };
			const answer = await (backend.state.online ? backend.read(request, signal) : undefined)?.catch(() => undefined);
			if (!answer?.message.result) missing.push(backend.name);
			return { backend, items: arrayIn(answer?.message.result, key) };
		});
		for (const { backend, items } of await Promise.all(reading))
			for (const one of items) {
				const own = isObject(one) && typeof one.name === "string" ? String(one[uri]) : "";
				if (!ownUri.test(own) || backend.pins.barred.has(guildIn(own) ?? "")) continue;
				const shown = ofInstance(own, uri === "uri" ? backend.name : "{instance}");
				merged.set(shown, { ...Object(one), [uri]: shown });
			}
		const _meta = missing.length > 0 ? { "guildhall/missing": missing.sort() } : undefined;
		return JSON.stringify({ [key]: [...merged.values()].slice(0, maxListed), _meta });
	}

	/** One that has the page of an App, as one of its tools says: https://github.com/modelcontextprotocol/ext-apps */
	async function backendOfPage(uri: string, { principal }: Caller): Promise<Backend | undefined> {
		const all = await seenBy(principal, AbortSignal.timeout(listTimeoutMs));
		const mark = `"resourceUri":${JSON.stringify(uri)}`;
		return all.find(({ state, tools }) => state.online && tools?.some(({ text }) => text.includes(mark)));
	}

	async function read({ uri }: JsonObject, caller: Caller): Promise<string> {
		const { principal, trace } = caller;
		const signal = deadlines.begin(caller.signal);
		try {
			const [, scheme, instance, path = ""] = /^(guildhall|ui):\/\/([\w.-]+)(\/[\w./~-]+)?$/.exec(String(uri)) ?? [];
			const isPage = scheme === "ui";
			const backend = isPage
				? await backendOfPage(String(uri), caller)
				: path === ""
					? undefined
					: await router.find({ instance, guild_id: guildIn(path) }, signal, principal);
			if (!backend?.session.server.hasResources) throw resourceNotFound(uri);
			const params = JSON.stringify({ uri: isPage ? uri : `${scheme}:${path}` });
			const { message } = await backend.read({ method: "resources/read", params, principal, trace }, signal);
			if (!isObject(message.result)) throw refusalOf(message.error, { uri });
			const contents = arrayIn(message.result, "contents").map((one) =>
				isPage || !isObject(one) ? one : { ...one, uri: ofInstance(String(one.uri), backend.name) },
			);
			return JSON.stringify({ contents });
		} catch (error) {
			throw toRpcError(error, { uri });
		} finally {
			deadlines.end(signal);
		}
	}

	return {
		"resources/list": (_, caller) => list("resources/list", caller),
		"resources/templates/list": (_, caller) => list("resources/templates/list", caller),
		"resources/read": read,
	};
}

function arrayIn(result: unknown, key: string): unknown[] {
	const value: unknown = Object(result)[key];
	return Array.isArray(value) ? value : [];
}

const guildIn = (uri: string) => /\/guilds\/(\d{17,20})(?=\/|$)/.exec(uri)?.[1];

const ofInstance = (uri: string, instance: string) => uri.replace(/^([a-z]+):\/(?!\/)/, `$1://${instance}/`);
