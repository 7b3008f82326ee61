// The part of a client's `tools/call` that is forwarded: every byte except what is meant for the gateway.

import { duplicateKey, type RpcRequest } from "../../mcp/json-rpc.ts";
import { MemberReader, readMembers, rewriteObject } from "../../mcp/json-text.ts";

/** Keys of `_meta` for the gateway: MCP's own and the progress token. */
const ownMeta = /^(io\.modelcontextprotocol\/|progressToken$)/;
const mcpMeta = /^io\.modelcontextprotocol\//;

/**
 * JSON text without `instance` and the gateway's `_meta`. `hasProgress`: with the progress token. Throws an RpcError if a key
 * that routes occurs twice.
 */
export function forwardedParams({ id, text, paramsAt }: RpcRequest, hasProgress = false): string {
	if (paramsAt === undefined) return "{}";
	let forwarded = "";
	let copied = paramsAt;
	/** Positions must increase from call to call. */
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
			// This is null: readToolCall refuses everything else that is not an object.
			else if (!isObject) replace(start, end, "{}");
		} else if (isObject && members.is("_meta"))
			replace(start, end, without(members.value, hasProgress ? mcpMeta : ownMeta));
	}
	const rest = text.slice(copied, members.after + 1);
	if (hasArguments) return forwarded + rest;
	const comma = isEmpty ? "" : ",";
	return `${forwarded}${rest.slice(0, -1)}${comma}"arguments":{}}`;
}

function findInstance(text: string, at: number, id: string): { from: number; to: number } | undefined {
	const members = new MemberReader(text, at);
	let before: number | undefined;
	let found: { from: number; to: number } | undefined;
	let hasGuildId = false;
	while (members.next()) {
		if (members.is("instance")) {
			if (found) throw duplicateKey("instance", id);
			found = before === undefined ? { from: members.from, to: members.after } : { from: before, to: members.end };
		} else if (members.is("guild_id")) {
			if (hasGuildId) throw duplicateKey("guild_id", id);
			hasGuildId = true;
		}
		before = members.end;
	}
	return found;
}

function without(meta: string, keys: RegExp): string {
	return rewriteObject(meta, readMembers(meta), (key) => keys.test(key));
}
