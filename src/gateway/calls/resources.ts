// The resources that clients see: those of all bots. A bot's URI without an authority, such as guildhall:/guilds/1/document,
// gets the name of its instance there (guildhall://alpha/guilds/1/document), by which it is read again.
// https://modelcontextprotocol.io/specification/2026-07-28/server/resources

import * as v from "valibot";
import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Principal } from "../../lib/principal.ts";
import { type ResourceMethods, resourceNotFound } from "../../mcp/resources.ts";
import type { Caller } from "../../mcp/server.ts";
import type { Backend } from "../backends/backend.ts";
import type { Views } from "../principals/views.ts";
import type { PromptsOptions } from "./prompts.ts";
import { refusalOf, toRpcError } from "./prompts.ts";

/** Of one bot. */
const maxListed = 500;
const listTimeoutMs = 2_000;

const text = v.optional(v.pipe(v.string(), v.maxLength(1_000)));
const listed = {
	name: v.pipe(v.string(), v.maxLength(1_000)),
	title: text,
	description: text,
	mimeType: text,
	size: v.optional(v.pipe(v.number(), v.safeInteger())),
	annotations: v.optional(v.object({ lastModified: text })),
};
/** Nothing in them can stand for another character, so that a pinned guild cannot hide. */
const ownUri = v.pipe(v.string(), v.maxLength(500), v.regex(/^[a-z]+:\/(?!\/)[\w./~{}-]+$/));
const schemas = {
	"resources/list": { key: "resources", uri: "uri", item: v.object({ uri: ownUri, ...listed }) },
	"resources/templates/list": {
		key: "resourceTemplates",
		uri: "uriTemplate",
		item: v.object({ uriTemplate: ownUri, ...listed }),
	},
} as const;

interface ResourcesOptions extends PromptsOptions {
	views: Views;
}

export function createResources({ backends, router, views, deadlines, firstList }: ResourcesOptions): ResourceMethods {
	/** Those that are online, and that the caller may see. */
	async function seenBy(principal: Principal | undefined, signal: AbortSignal): Promise<Backend[]> {
		await firstList();
		const seen = principal ? (await views.load(principal, signal)).map(({ backend }) => backend) : backends;
		return seen.filter(({ state, session }) => state.online && session.hasResources);
	}

	async function list(method: keyof typeof schemas, { principal, trace }: Caller): Promise<string> {
		const signal = AbortSignal.timeout(listTimeoutMs);
		const { key, uri, item } = schemas[method];
		const lists = (await seenBy(principal, signal)).map(async (backend) => {
			const answer = await backend.read({ method, params: "{}", principal, trace }, signal).catch(() => undefined);
			const all = (answer?.message as JsonObject | undefined)?.result;
			const items = isObject(all) && Array.isArray(all[key]) ? all[key].slice(0, maxListed) : [];
			return items.flatMap((one) => {
				const read = v.safeParse(item as v.GenericSchema<unknown, JsonObject>, one);
				const own = read.success ? String(read.output[uri]) : "";
				if (!read.success || backend.pins.barred.has(guildIn(own) ?? "")) return [];
				return [{ ...read.output, [uri]: ofInstance(own, method === "resources/list" ? backend.name : "{instance}") }];
			});
		});
		const merged = new Map((await Promise.all(lists)).flat().map((one) => [one[uri], one]));
		return JSON.stringify({ [key]: [...merged.values()] });
	}

	/** The first that has the page of an App, as one of its tools says: https://github.com/modelcontextprotocol/ext-apps */
	async function backendOfPage(uri: string, { principal }: Caller): Promise<Backend | undefined> {
		const all = await seenBy(principal, AbortSignal.timeout(listTimeoutMs));
		return all.find(({ tools }) => tools?.some(({ text }) => text.includes(`"resourceUri":${JSON.stringify(uri)}`)));
	}

	async function read({ uri }: JsonObject, caller: Caller): Promise<string> {
		const { principal, trace } = caller;
		const signal = deadlines.begin(caller.signal);
		try {
			const [, scheme, instance, path = ""] = /^([a-z]+):\/\/([\w.-]+)(\/[\w./~-]+)$/.exec(String(uri)) ?? [];
			const isPage = scheme === "ui";
			const backend = isPage
				? await backendOfPage(String(uri), caller)
				: instance === undefined
					? undefined
					: await router.find({ instance, guild_id: guildIn(path) }, signal, principal);
			if (!backend?.session.hasResources) throw resourceNotFound(uri);
			const params = JSON.stringify({ uri: isPage ? uri : `${scheme}:${path}` });
			const { message } = await backend.read({ method: "resources/read", params, principal, trace }, signal);
			if (!isObject(message.result)) throw refusalOf(message.error, { uri });
			const { contents } = message.result;
			const all: unknown[] = Array.isArray(contents) ? contents : [];
			const shown = all.map((one) =>
				isPage || !isObject(one) ? one : { ...one, uri: ofInstance(String(one.uri), backend.name) },
			);
			return JSON.stringify({ contents: shown });
		} catch (error) {
			throw toRpcError(error);
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

const guildIn = (uri: string) => /\/guilds\/(\d{17,20})(?=\/|$)/.exec(uri)?.[1];

const ofInstance = (uri: string, instance: string) => uri.replace(/^([a-z]+):\/(?!\/)/, `$1://${instance}/`);
