// Responses to REQUEST_GUILD_MEMBERS: chunks of up to 1,000 members.
// https://discord.com/developers/docs/events/gateway-events#request-guild-members

import { GatewayIntentBits as Intent } from "discord.js";
import * as v from "valibot";
import { membersNamed } from "../world/guilds/members.ts";
import type { Guild } from "../world/state/entities.ts";
import * as serialize from "../world/state/serialize.ts";
import type { World } from "../world/world.ts";
import type { Session } from "./session.ts";

const chunkSize = 1000;
const namedLimit = 100;

const membersRequest = v.object({
	guild_id: v.string(),
	query: v.optional(v.string()),
	limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
	presences: v.optional(v.boolean(), false),
	user_ids: v.optional(v.union([v.string(), v.array(v.string())])),
	nonce: v.optional(v.string()),
});
type MembersRequest = v.InferOutput<typeof membersRequest>;

/** Undefined if Discord would not answer, for example because the guild belongs to another shard. Created lazily. */
export function memberChunks(d: unknown, session: Session, world: World) {
	const { success, output } = v.safeParse(membersRequest, d);
	if (!success) return undefined;
	const guild = world.guilds.get(output.guild_id);
	if (!guild?.members.has(session.bot.user.id)) return undefined;
	if (!session.serves(guild.id)) return undefined;
	const everyone = output.user_ids === undefined && !output.query;
	if (everyone && !session.hasIntent(Intent.GuildMembers)) return undefined;
	const presences = output.presences && session.hasIntent(Intent.GuildPresences);
	const { limit, nonce } = output;
	const meta = { guild_id: guild.id, nonce };
	return { chunks: chunks(guild, output, presences), limited: everyone && limit === 0 ? meta : undefined };
}

function* chunks(guild: Guild, request: MembersRequest, presences: boolean) {
	const { members, missing } = select(guild, request);
	const count = Math.max(1, Math.ceil(members.length / chunkSize));
	for (let index = 0; index < count; index += 1) {
		const part = members.slice(index * chunkSize, (index + 1) * chunkSize);
		yield {
			guild_id: guild.id,
			members: part.map(serialize.member),
			chunk_index: index,
			chunk_count: count,
			not_found: missing.length > 0 ? missing : undefined,
			presences: presences ? part.map(serialize.presence) : undefined,
			// Longer nonces are ignored.
			nonce: (request.nonce?.length ?? 0) <= 32 ? request.nonce : undefined,
		};
	}
}

function select(guild: Guild, { user_ids, query = "", limit }: MembersRequest) {
	if (user_ids !== undefined) {
		const ids = [user_ids].flat().slice(0, namedLimit);
		return {
			members: ids.flatMap((id) => guild.members.get(id) ?? []),
			missing: ids.filter((id) => !guild.members.has(id)),
		};
	}
	if (query !== "") {
		return { members: membersNamed(guild, query, Math.min(limit || namedLimit, namedLimit)), missing: [] };
	}
	const all = [...guild.members.values()];
	return { members: limit === 0 ? all : all.slice(0, limit), missing: [] };
}
