// What the gateway forwards of a client's `tools/call`: every byte but those that were meant for the gateway.

import { duplicateKey, type RpcRequest } from "../mcp/json-rpc.ts";
import { MemberReader, readMembers, rewriteObject } from "../mcp/json-text.ts";

/** Members of `_meta` for the gateway: the client's protocol state, and a token for progress, which is not forwarded. */
const ownMeta = /^(io\.modelcontextprotocol\/|progressToken$)/;

/**
 * The params to forward, as JSON text: without `arguments.instance`, without our part of `_meta`, and with `{}` for
 * absent arguments. Throws an RpcError for a duplicate key that decides what is called and where.
 */
export function forwardedParams({ id, text, paramsAt }: RpcRequest): string {
	if (paramsAt === undefined) return "{}";
	let forwarded = "";
	let copied = paramsAt;
	/** Copies everything up to `start`, and then `by` in place of the text up to `end`. */
	const replace = (start: number, end: number, by: string) => {
		forwarded += text.slice(copied, start) + by;
		copied = end;
	};
	const members = new MemberReader(text, paramsAt);
	let isEmpty = true;
	let hasName = false;
	let hasArguments = false;
	while (members.next()) {
		const { start, end } = members;
		isEmpty = false;
		const isObject = text.startsWith("{", start);
		if (members.is("name")) {
			if (hasName) throw duplicateKey("name", id);
			hasName = true;
		} else if (members.is("arguments")) {
			if (hasArguments) throw duplicateKey("arguments", id);
			hasArguments = true;
			const instance = isObject ? findInstance(text, start, id) : undefined;
			if (instance) replace(instance.from, instance.to, "");
			// null; anything but null and an object is refused by readToolCall.
			else if (!isObject) replace(start, end, "{}");
		} else if (isObject && members.is("_meta"))
			replace(start, end, withoutOwn(members.value));
	}
	const rest = text.slice(copied, members.after + 1);
	if (hasArguments) return forwarded + rest;
	const comma = isEmpty ? "" : ",";
	return `${forwarded}${rest.slice(0, -1)}${comma}"arguments":{}}`;
}

/** Where `instance` stands among the arguments that begin at `at`, with the comma that goes with it. */
function findInstance(
	text: string,
	at: number,
	id: string,
): { from: number; to: number } | undefined {
	const members = new MemberReader(text, at);
	let before: number | undefined;
	let found: { from: number; to: number } | undefined;
	let hasGuildId = false;
	while (members.next()) {
		if (members.is("instance")) {
			if (found) throw duplicateKey("instance", id);
			found =
				before === undefined
					? { from: members.from, to: members.after }
					: { from: before, to: members.end };
		} else if (members.is("guild_id")) {
			if (hasGuildId) throw duplicateKey("guild_id", id);
			hasGuildId = true;
		}
		before = members.end;
	}
	return found;
}

function withoutOwn(meta: string): string {
	return rewriteObject(meta, readMembers(meta), (key) => ownMeta.test(key));
}
