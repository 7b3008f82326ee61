// Answers the request guildhall/rights, by which a gateway asks in which guilds a person is.

import type { Guild } from "discord.js";
import type { Principal } from "../../lib/principal.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import { type PersonGuild, type PersonRights, rightsMethod } from "../../mcp/rights.ts";
import { methodNotFound, type OtherMethod } from "../../mcp/server.ts";
import { type Admitting, guildsOf, isUpToDate, mayTouch } from "../tool/admission.ts";

/**
 * Maximum number of guilds whose members are still being loaded in which the bot asks Discord for a person. A bot with
 * thousands of guilds loads their members for minutes, and would need as many requests.
 */
const maxLookUps = 50;

/**
 * Returns the handler of the MCP method guildhall/rights, which tells the gateway in which guilds a person is. Only
 * requests of a principal (caller) with a person are answered. `contextOf` returns the bot with the limits of a
 * principal.
 */
export function createRights(contextOf: (principal: Principal) => Admitting): OtherMethod {
	return async (_, { principal }) => {
		if (!principal?.person) throw methodNotFound(rightsMethod);
		const context = contextOf(principal);
		const { connection } = context;
		const known = knownGuilds(context);
		if (!connection.state.connected && known.size === 0)
			throw new RpcError(errorCode.internal, "The bot is not connected to Discord");
		const found = await guildsOf(context, principal.person.id, [...known]);
		const isMissing = (guild: Guild) =>
			(!guild.available || !known.has(guild)) &&
			mayTouch(context, guild.id) &&
			!found.some(({ guild: { id } }) => guild.id === id);
		const incomplete = connection.guilds.some(isMissing);
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

function knownGuilds(context: Admitting): Set<Guild> {
	const { connection } = context;
	const upToDate = connection.guilds.filter((guild) => mayTouch(context, guild.id) && isUpToDate(connection, guild));
	const isLoaded = (guild: Guild) => !guild.available || connection.hasAllMembers(guild);
	const loading = upToDate.filter((guild) => !isLoaded(guild));
	return new Set([...upToDate.filter(isLoaded), ...loading.slice(0, maxLookUps)]);
}
