// Answers the request guildhall/rights, by which a gateway asks in which guilds a person is.

import type { Guild } from "discord.js";
import type { Principal } from "../../lib/principal.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import {
	type PersonGuild,
	type PersonRights,
	rightsMethod,
} from "../../mcp/rights.ts";
import { methodNotFound, type OtherMethod } from "../../mcp/server.ts";
import { type Admitting, guildsOf, mayTouch } from "../tool/admission.ts";

/**
 * Returns the handler of the MCP method guildhall/rights, which tells the gateway in which guilds a person is. Only
 * requests of a principal (caller) with a person are answered. `contextOf` returns the bot with the limits of a
 * principal.
 */
export function createRights(
	contextOf: (principal: Principal) => Admitting,
): OtherMethod {
	return async (_, { principal }) => {
		if (!principal?.person) throw methodNotFound(rightsMethod);
		const context = contextOf(principal);
		if (!context.connection.state.connected)
			throw new RpcError(
				errorCode.internal,
				"The bot is not connected to Discord",
			);
		const found = await guildsOf(context, principal.person.id);
		const isMissing = ({ id, available }: Guild) =>
			!available &&
			mayTouch(context, id) &&
			!found.some(({ guild }) => guild.id === id);
		const incomplete = context.connection.guilds.some(isMissing);
		const guilds = found.map(
			({ guild: { id, name = "" }, signIn }): PersonGuild => ({
				id,
				name,
				signIn,
			}),
		);
		const rights: PersonRights = { guilds, ...(incomplete && { incomplete }) };
		return JSON.stringify(rights);
	};
}
