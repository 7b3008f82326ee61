import { allBits, bitOf } from "../../../discord/permissions.ts";
import { oneLine } from "../../../discord/text.ts";
import { invalidParameters } from "../../../mcp/tool.ts";

/** Names such as VIEW_CHANNEL, or bit fields as decimal strings. Throws an RpcError that names the argument `field`. */
export function readPermissions(field: string, permissions: readonly string[]): bigint {
	let bits = 0n;
	for (const item of permissions) {
		const bit = /^\d{1,20}$/.test(item) ? BigInt(item) : bitOf(item);
		if (bit === undefined)
			throw invalidParameters([
				`${field}: Discord has no permission ${oneLine(JSON.stringify(item))}; expected a name such as VIEW_CHANNEL`,
			]);
		bits |= bit;
	}
	const unknown = bits & ~allBits;
	if (unknown === 0n) return bits;
	throw invalidParameters([`${field}: Discord has no permission for the bits ${unknown}`]);
}
