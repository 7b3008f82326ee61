// What the actor of a request may see and do: the entities of the path, and the permissions in them. By a token in the path,
// an interaction's application or a webhook is the actor.

import type { Interaction } from "../interactions/interaction.ts";
import { accountOf } from "../world/guilds/webhooks.ts";
import {
	type Account,
	type Channel,
	type Guild,
	inGuild,
	isThread,
	type Member,
	type Role,
} from "../world/state/entities.ts";
import {
	allPermissions,
	bitsOf,
	elevatedPermissions,
	guildPermissions,
	has,
	isAboveMember,
	isAboveRole,
	type Needed,
} from "../world/state/permissions.ts";
import { isSnowflake } from "../world/state/snowflake.ts";
import type { World } from "../world/world.ts";
import { apiError, formError, found } from "./errors.ts";
import type { Call, Found, Route } from "./route.ts";

const nonIdParams = new Set(["interaction_token", "webhook_token", "invite_code", "emoji", "answer_id"]);

/** Throws Discord's error if one does not exist or the sender of the request may not see it. */
export function findEntities(
	world: World,
	route: Route,
	params: Readonly<Record<string, string>>,
	actor: Account,
): Partial<Found> {
	for (const [name, id] of Object.entries(params))
		if (!nonIdParams.has(name) && !isSnowflake(id))
			throw formError("NUMBER_TYPE_COERCE", `Value "${id}" is not snowflake.`, name);
	const entities: Partial<Found> = {};
	const { guild_id, channel_id, message_id, role_id, user_id } = params;

	if (guild_id !== undefined) {
		const guild = found(world.guilds.get(guild_id), "UnknownGuild");
		if (!guild.members.has(actor.user.id))
			throw apiError(route.name === "GET /guilds/:guild_id" ? "UnknownGuild" : "MissingAccess");
		entities.guild = guild;
	}
	if (channel_id !== undefined) {
		const channel = found(world.channels.get(channel_id), "UnknownChannel");
		if (!has(world.channels.permissionsOf(channel, actor.user), "ViewChannel")) throw apiError("MissingAccess");
		entities.channel = channel;
	}
	if (channel_id !== undefined && message_id !== undefined)
		entities.message = found(world.messages.get(channel_id, message_id), "UnknownMessage");
	if (role_id !== undefined) entities.role = found(entities.guild?.roles.get(role_id), "UnknownRole");
	if (user_id !== undefined && /\/(members|voice-states)\/:user_id/.test(route.path))
		entities.member = found(
			entities.guild?.members.get(user_id),
			world.users.get(user_id) ? "UnknownMember" : "UnknownUser",
		);
	return entities;
}

/** Throws Discord's error if only bots may use it, the thread is archived, or the sender lacks a permission. */
export function checkRoute(route: Route, call: Call): void {
	const { actor, channel, guild } = call;
	if (route.botsOnly && !actor.user.bot) throw apiError("OnlyBotsCanUseThisEndpoint");
	const isArchived = channel && isThread(channel) && channel.archived;
	if (isArchived && route.method !== "GET" && !route.inArchived) throw apiError("InvalidActionOnArchivedThread");
	if (route.needs === undefined) return;
	if (channel) requirePermissions(call, channel, route.needs);
	else if (guild) requireGuildPermissions({ ...call, guild }, route.needs);
}

/** All permissions if the sender is a webhook or the channel is a DM of the sender. */
export function permissionsIn({ world, actor, webhook }: Call, channel: Channel): bigint {
	return webhook ? allPermissions : world.channels.permissionsOf(channel, actor.user);
}

/** Throws Discord's error if the sender of the request lacks a required permission in a channel. Nobody manages DMs. */
export function requirePermissions(call: Call, channel: Channel, needed: Needed): void {
	if (!inGuild(channel) && needed === "ManageMessages") throw apiError("CannotExecuteActionOnDMChannel");
	if (!has(permissionsIn(call, channel), needed)) throw apiError("MissingPermissions");
	if (inGuild(channel) && !call.webhook) requireMfa({ ...call, guild: call.world.guilds.of(channel) }, needed);
}

type Acting = Pick<Call<":guild_id">, "guild" | "actor">;

export function requireGuildPermissions(call: Acting & Pick<Call, "world">, needed: Needed): void {
	if (!has(guildPermissions(call.guild, call.actor.user.id), needed)) throw apiError("MissingPermissions");
	requireMfa(call, needed);
}

export function requireMfa({ guild, actor, world }: Acting & Pick<Call, "world">, needed: Needed): void {
	const isElevated = (bitsOf(needed) & elevatedPermissions) !== 0n;
	if (isElevated && guild.mfa_level === 1 && !world.users.hasMfa(actor.user))
		throw apiError("TwoFactorAuthenticationIsRequired");
}

export function requireAbove({ guild, actor }: Acting, member: Member): void {
	if (!isAboveMember(guild, actor.user.id, member)) throw apiError("MissingPermissions");
}

export function requireAboveRole({ guild, actor }: Acting, role: Role): void {
	if (!isAboveRole(guild, actor.user.id, role)) throw apiError("MissingPermissions");
}

/** Returns the ids. Throws unless all are those of roles of the guild. */
export function knownRoles(guild: Guild, ids: Iterable<string>): string[] {
	return Array.from(ids, (id) => found(guild.roles.get(id), "UnknownRole").id);
}

export function requireMembersIntent({ actor }: Call): void {
	if (actor.user.bot && !actor.privilegedIntents.includes("GuildMembers")) throw apiError("MissingAccess");
}

type Parts = Pick<Call, "world" | "interactions">;

/** Who sent a request, and what its token is for. */
export interface Sender {
	actor: Account;
	/** An application sent it in the name of the actor, who has authorized it. */
	byApplication?: true;
	entities?: Partial<Found>;
}

/** Undefined if the path has no token. Throws if the token is invalid or expired. */
export function authenticateByToken(params: Call["params"], parts: Parts): Sender | undefined {
	if (params.webhook_token !== undefined) {
		const webhook = found(parts.world.webhooks.get(params.webhook_id ?? ""), "UnknownWebhook");
		if (webhook.token === undefined || webhook.token !== params.webhook_token) throw apiError("InvalidWebhookToken");
		return { actor: accountOf(webhook), entities: { webhook } };
	}
	if (params.interaction_token === undefined) return undefined;
	const interaction = interactionByToken(params, parts);
	return { actor: interaction.application, entities: { interaction } };
}

function interactionByToken(params: Call["params"], { interactions, world }: Parts): Interaction {
	const { interaction_id, interaction_token = "", application_id } = params;
	const known = interactions.byToken(interaction_token);
	const valid = known && !interactions.isOver(known) ? known : undefined;
	if (valid && !world.channels.has(valid.channel.id)) throw apiError("UnknownChannel");
	if (interaction_id !== undefined) {
		if (valid?.id !== interaction_id) throw apiError("UnknownInteraction");
		return valid;
	}
	if (!valid) throw apiError(world.users.get(application_id ?? "")?.bot ? "InvalidWebhookToken" : "UnknownWebhook");
	// An interaction's webhook exists from its first response on.
	const exists = valid.state === "acknowledged" && valid.application.user.id === application_id;
	if (!exists) throw apiError("UnknownWebhook");
	return valid;
}
