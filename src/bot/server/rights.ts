// Answers the request guildhall/rights, by which a gateway asks in which guilds a person is.

import type { Guild } from "discord.js";
import type { Principal } from "../../lib/principal.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import { type PersonGuild, type PersonRights, rightsMethod } from "../../mcp/rights.ts";
import { methodNotFound, type OtherMethod } from "../../mcp/server.ts";
import { type Admitting, guildsOf, isUpToDate, mayTouch } from "../tool/admission.ts";

// In guilds that still load their members. With thousands of guilds, that takes minutes and as many requests.
const maxLookUps = 50;

/** Only for principals with a person. `contextOf` returns the bot with a principal's limits. */
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
		const guilds = found.map(({ guild: { id, name = "" }, signIn }): PersonGuild => ({ id, name, signIn }));
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
