// Which guilds the caller of a tool may act in. A guild that is hidden from the caller is refused with the same text as a
// guild that the bot is not in.

import { type Guild, type GuildMember, GuildMemberFlags, PermissionFlagsBits, RESTJSONErrorCodes } from "discord.js";
import { ActingPerson, actingPerson, currentPerson, unknownGuild } from "../../discord/acting-person.ts";
import { guildName, roleName } from "../../discord/describe.ts";
import { absentIf, type MemberState } from "../../discord/find.ts";
import { bitOf, officialName, permissionsOf, whyReadOnly } from "../../discord/permissions.ts";
import type { JsonObject } from "../../lib/json.ts";
import { accessRefusal, includesAccess, type Principal } from "../../lib/principal.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { type Effect, invalidParameters } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import type { BotContext } from "./context.ts";

const { UnknownMember, UnknownUser } = RESTJSONErrorCodes;

export type Admitting = Pick<BotContext, "connection" | "guildId" | "guilds" | "principal" | "self" | "settings">;

/** Whether the bot gets the guild's events, so that it knows members and what their roles allow. */
export function isUpToDate(connection: Pick<BotContext["connection"], "state" | "isConnected">, guild: Guild): boolean {
	return connection.state.connected || connection.isConnected(guild);
}

/** Only by the caller's scope and the configuration. */
export function mayTouch({ guilds }: Pick<BotContext, "guilds">, guildId: string): boolean {
	return guilds?.has(guildId) ?? true;
}

/** With the person of the call. `findGuild` or `admittedGuilds` must have looked up the membership before. */
export function isAdmitted(bot: Pick<BotContext, "guilds">, guildId: string): boolean {
	const person = currentPerson();
	return mayTouch(bot, guildId) && (person?.members.has(guildId) ?? true);
}

/** `context` with these tools, and only with guilds within the principal's limits. */
export function scopeTo(
	principal: Principal,
	context: BotContext,
	tools: Pick<BotContext["self"], "tools" | "listed" | "beyond">,
): BotContext {
	const { self, guildId, audit } = context;
	const scoped: BotContext = { ...context, principal, self: { ...self, ...tools } };
	if (!principal.guilds) return scoped;
	const own = new Set(principal.guilds);
	const guilds = context.guilds?.intersection(own) ?? own;
	return {
		...scoped,
		guilds,
		// An error that names it would reveal a guild outside the limits.
		guildId: guildId !== undefined && guilds.has(guildId) ? guildId : undefined,
		audit: { recent: (filter) => audit.recent({ ...filter, guildIds: [...guilds] }) },
	};
}

/** As a sentence; undefined if it does. `why` says, after "it", why a call has this effect by its arguments. */
export function whyNoAccess(
	caller: Parameters<typeof accessRefusal>[0] | undefined,
	{ name, effect }: { name: string; effect: Effect },
	why?: string,
): string | undefined {
	const needed = effect === "destructive" ? "all" : effect;
	return !caller || includesAccess(caller.access, needed) ? undefined : accessRefusal(caller, name, needed, why);
}

/** Start of the principal's id for a person on Discord. */
export const commandIdStart = "command:";
export const chatIdStart = "chat:";

/** Used a command or button on Discord, not an MCP client. */
export function isOnDiscord(principal: Principal | undefined): boolean {
	return principal?.id.startsWith(commandIdStart) ?? false;
}

export function personOf(
	principal: Principal | undefined,
	granted?: ActingPerson["granted"],
	hidesTextsOf?: ActingPerson["hidesTextsOf"],
): ActingPerson | undefined {
	return principal?.person && new ActingPerson(principal.person.id, isOnDiscord(principal), granted, hidesTextsOf);
}

export function withPersonName({
	principal,
	connection,
}: Pick<BotContext, "principal" | "connection">): Principal | undefined {
	const { person } = principal ?? {};
	if (!principal || !person || person.name !== "") return principal;
	const user = connection.discord.users.cache.get(person.id);
	return user ? { ...principal, person: { ...person, name: user.displayName } } : principal;
}

type Reachable = Pick<BotContext, "connection" | "guilds" | "principal">;

/** The setting GUILD_ID or, without it, the only guild that the caller may use. Undefined if there may be several. */
export function ownGuildId(bot: Reachable & Pick<BotContext, "guildId">): string | undefined {
	if (bot.guildId !== undefined) return bot.guildId;
	const [only, ...others] = possibleGuilds(bot);
	return others.length === 0 ? only?.id : undefined;
}

/** Of a person, also guilds of which not all members are loaded: the person may be one of them. */
export function possibleGuilds(bot: Reachable): readonly Guild[] {
	const { connection, principal } = bot;
	return connection.guilds.filter(
		(guild) =>
			mayTouch(bot, guild.id) && (isKnownIn(principal, guild) || !guild.available || !connection.hasAllMembers(guild)),
	);
}

/** Of a person, only guilds in which the person is known to be a member. */
export function usableGuilds(bot: Reachable): readonly Guild[] {
	return bot.connection.guilds.filter((guild) => mayTouch(bot, guild.id) && isKnownIn(bot.principal, guild));
}

function isKnownIn(principal: Principal | undefined, { members }: Guild): boolean {
	return !principal?.person || members.cache.has(principal.person.id);
}

/** By `guild_id` or `BotContext.guildId`. Throws if the guild is not allowed or unavailable. */
export async function findGuild(bot: Admitting, args: JsonObject, effect: Effect): Promise<Guild> {
	const { connection, principal } = bot;
	const { cache } = connection.discord.guilds;
	// An empty id means absent.
	const given = (args.guild_id as string | undefined) || undefined;
	const id = given ?? ownGuildId(bot);
	if (!id) throw guildIdRequired(bot);
	const guild = cache.get(id);
	if (principal) {
		const isInScope = guild !== undefined && mayTouch(bot, id);
		const admission = isInScope && (await admit(bot, guild, effect));
		if (!admission)
			// The id in GUILD_ID may be hidden from the caller.
			throw given === undefined ? guildIdRequired(bot) : unknownGuild(id);
		if (admission.refusal !== undefined) throw admission.refusal;
	}
	if (!mayTouch(bot, id))
		throw new ToolError(
			`The operator of this bot has not enabled tools for the guild ${id}. Use list_guilds to find guilds for which tools are enabled.`,
		);
	if (!guild) throw unknownGuild(id);
	if (!guild.available)
		throw new SaidError(said("refusal.unavailable"), {
			models: `The guild ${id} is unavailable on Discord at the moment. Nothing was done; try again later.`,
		});
	return guild;
}

const maxNamed = 20;

function guildIdRequired(bot: Admitting) {
	if (possibleGuilds(bot).length === 0)
		return invalidParameters(["guild_id: is required, because this bot is in no guild that you may use"]);
	const guilds = usableGuilds(bot);
	const named = guilds.slice(0, maxNamed).map(guildName).join(", ");
	const more = guilds.length > maxNamed ? ` and ${guilds.length - maxNamed} more: list_guilds` : "";
	const list = named === "" ? "" : `: ${named}${more}`;
	return invalidParameters([`guild_id: is required, because this bot is in several guilds${list}`]);
}

async function admit(bot: Admitting, guild: Guild, effect: Effect) {
	const { connection, principal } = bot;
	const person = currentPerson();
	if (!person || !principal?.person) return { refusal: undefined };
	if (!isUpToDate(connection, guild))
		throw new SaidError(said("refusal.offline"), {
			isFailure: true,
			models:
				"The bot is not connected to Discord's Gateway, so it does not know what you may do at the moment. Nothing was done; try again in a few seconds.",
		});
	const member = await memberIn(guild, person.id, connection, effect);
	if (!member) return undefined;
	const noSignIn = principal.person.signedIn ? whyNotSignIn(member, bot) : undefined;
	const limit = effect === "read" ? undefined : whyReadOnly(member);
	const refusal = noSignIn === undefined ? limit : new ToolError(`${noSignIn} Nothing was done.`);
	if (refusal === undefined) person.members.set(guild.id, member);
	return { refusal };
}

// A change fetches the member, so that the loss of a role counts even if its event is late. Guests count as no members:
// their roles do not tell that they see only one voice channel.
// https://docs.discord.com/developers/resources/guild#guild-member-object-guild-member-flags
async function memberIn(guild: Guild, id: string, connection: MemberState, effect: Effect) {
	const cached = guild.members.cache.get(id);
	const isKnown = !guild.available || connection.hasAllMembers(guild);
	const suffices = effect === "read" || !guild.available || !cached;
	const member =
		isKnown && suffices
			? cached
			: await absentIf([UnknownMember, UnknownUser], () => guild.members.fetch({ user: id, force: true }));
	return member?.flags.has(GuildMemberFlags.IsGuest) ? undefined : member;
}

/** As a sentence; undefined if `sign_in_permission` or one of `sign_in.roles` allows it. */
function whyNotSignIn(
	{ guild, permissions, roles }: GuildMember,
	{ self, settings }: Pick<Admitting, "self" | "settings">,
): string | undefined {
	const { sign_in_permission } = self.toml.mcp;
	const bit = bitOf(sign_in_permission) ?? PermissionFlagsBits.ManageGuild;
	if (permissions.has(bit)) return undefined;
	const { "sign_in.roles": signInRoles } = settings.of(guild.id);
	if (roles.cache.hasAny(...signInRoles)) return undefined;
	const names = signInRoles.flatMap((id) => {
		const role = guild.roles.cache.get(id);
		return role ? [roleName(role)] : [];
	});
	const expected = [officialName(sign_in_permission), ...names].join(" or ");
	return `Signing in gives access to the guild ${guild.id} only with ${expected}, which you lack.`;
}

/** If the call acts in a person's name, looks up the person in each guild of the bot. */
export async function admittedGuilds(bot: Admitting): Promise<Guild[]> {
	const { connection } = bot;
	const touchable = connection.guilds.filter(({ id }) => mayTouch(bot, id));
	const upToDate = touchable.filter((guild) => isUpToDate(connection, guild));
	// While a shard is not connected, people see the guilds of the others.
	const guilds = currentPerson() && upToDate.length > 0 ? upToDate : touchable;
	const admissions = await Promise.all(guilds.map((guild) => admit(bot, guild, "read")));
	return guilds.filter((_, index) => {
		const admission = admissions[index];
		return admission && admission.refusal === undefined;
	});
}

/** `signIn`: the configuration lets the person use the bot there by signing in with Discord. */
export interface PersonGuild {
	guild: Guild;
	signIn: boolean;
}

/** Out of `guilds`. Rejects if a membership cannot be determined, such as when Discord does not respond. */
export async function guildsOf(
	bot: Admitting,
	personId: string,
	guilds: readonly Guild[] = bot.connection.guilds,
): Promise<PersonGuild[]> {
	const { connection } = bot;
	const touchable = guilds.filter(({ id }) => mayTouch(bot, id));
	const all = await Promise.all(
		touchable.map(async (guild) => {
			const member = await memberIn(guild, personId, connection, "read");
			if (!member) return [];
			const signIn = whyNotSignIn(member, bot) === undefined;
			return [{ guild, signIn }];
		}),
	);
	return all.flat();
}

/** In GUILD_ID or, without it, all guilds with tools: within the scope; a person needs MANAGE_GUILD. Or throws. */
export async function requireBotManager(bot: Admitting): Promise<void> {
	const { connection, guildId, principal, self } = bot;
	if (!principal?.person && !principal?.guilds) return;
	const enabled = self.toml.mcp.guilds;
	const all = connection.guilds.filter(({ id }) => enabled?.includes(id) ?? true);
	const own = all.filter(({ id }) => id === guildId);
	const needed = own.length > 0 ? own : all;
	const admitted = await admittedGuilds(bot);
	const isManager = needed.length > 0 && needed.every((guild) => admitted.includes(guild) && manages(guild));
	if (isManager) return;
	const where = guildId === undefined ? "all guilds of the bot" : "the bot's own guild";
	throw new ToolError(
		principal.person
			? `You lack MANAGE_GUILD in ${where}, which this tool requires because it is about the bot itself. Nothing was done.`
			: `This tool is about the bot itself, so it requires access to ${where}. Nothing was done.`,
	);
}

function manages(guild: Guild): boolean {
	const person = actingPerson(guild);
	const { ManageGuild } = PermissionFlagsBits;
	return !person || (permissionsOf(person, undefined) & ManageGuild) !== 0n;
}
