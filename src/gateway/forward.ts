// What of a client's `tools/call` goes to a backend: all of it, byte for byte, but for what was meant for us.

import { errorCode, RpcError, type RpcRequest } from "../mcp/json-rpc.ts";
import {
	findMember,
	type Member,
	readMembers,
	repeatedKey,
	rewriteObject,
} from "../mcp/json-text.ts";

/** Of `_meta`: the client's own protocol state, and a token for progress that we do not pass on. */
const ownMeta = /^(io\.modelcontextprotocol\/|progressToken$)/;

/**
 * The params to forward, as JSON text: without `arguments.instance`, without our part of `_meta`, and with `{}` for
 * absent arguments. Throws an RpcError where a key stands twice that decides what is called and where.
 */
export function forwardedParams({ text, paramsAt }: RpcRequest): string {
	if (paramsAt === undefined) return "{}";
	const members = readMembers(text, paramsAt);
	refuseRepeated(members, ["name", "arguments"]);
	const textOf = (key: string) => {
		const member = findMember(members, key);
		return member && text.slice(member.start, member.end);
	};

	const meta = textOf("_meta");
	const changed = [`"arguments":${forwardedArguments(textOf("arguments"))}`];
	if (meta !== undefined)
		changed.push(`"_meta":${meta.startsWith("{") ? withoutOwn(meta) : meta}`);
	return rewriteObject(
		text,
		members,
		(key) => key === "arguments" || key === "_meta",
		changed,
	);
}

function forwardedArguments(text: string | undefined): string {
	// Those that are no object are refused when they are read.
	if (!text?.startsWith("{")) return "{}";
	const members = readMembers(text);
	refuseRepeated(members, ["instance", "guild_id"]);
	if (!findMember(members, "instance")) return text;
	return rewriteObject(text, members, (key) => key === "instance");
}

function withoutOwn(meta: string): string {
	return rewriteObject(meta, readMembers(meta), (key) => ownMeta.test(key));
}

function refuseRepeated(members: readonly Member[], keys: readonly string[]) {
	const repeated = repeatedKey(members, keys);
	if (repeated)
		throw new RpcError(
			errorCode.invalidRequest,
			`Invalid request: "${repeated}" stands twice`,
		);
}
