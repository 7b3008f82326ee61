// Which guilds the caller of a tool may act in. A guild that is hidden from the caller is refused with the same text as a
// guild that the bot is not in.

import { type Guild, type GuildMember, GuildMemberFlags, PermissionFlagsBits, RESTJSONErrorCodes } from "discord.js";
import { ActingPerson, actingPerson, currentPerson, unknownGuild } from "../../discord/acting-person.ts";
import { roleName } from "../../discord/describe.ts";
import { absentIf, type MemberState } from "../../discord/find.ts";
import { bitOf, officialName, personPermissions, whyReadOnly } from "../../discord/permissions.ts";
import { accessRefusal, includesAccess, type Principal } from "../../lib/principal.ts";
import type { JsonObject } from "../../mcp/json-rpc.ts";
import { type Effect, invalidParameters, ToolError } from "../../mcp/tool.ts";
import type { TomlSettings } from "../config/settings.ts";
import type { BotContext } from "./context.ts";

const { UnknownMember, UnknownUser } = RESTJSONErrorCodes;

/** The data of the bot that is needed to decide whether a tool call may act in a guild. */
export type Admitting = Pick<BotContext, "connection" | "guildId" | "guilds" | "principal" | "self">;

/** Whether the bot receives the events of a guild, so that it knows who is a member and what their roles allow. */
export function isUpToDate(connection: Pick<BotContext["connection"], "state" | "isConnected">, guild: Guild): boolean {
	return connection.state.connected || connection.isConnected(guild);
}

/** Whether the caller's scope and the bot's configuration allow tools to access a guild. */
export function mayTouch({ guilds }: Pick<BotContext, "guilds">, guildId: string): boolean {
	return guilds?.has(guildId) ?? true;
}

/**
 * Whether the running tool call, and the person in whose name the call acts, if any, may access a guild. For a person,
 * `findGuild` or `admittedGuilds` must have looked up the membership before.
 */
export function isAdmitted(bot: Pick<BotContext, "guilds">, guildId: string): boolean {
	const person = currentPerson();
	return mayTouch(bot, guildId) && (person?.members.has(guildId) ?? true);
}

/**
 * Returns why the access level of a caller does not allow calls with this effect ("read", "write" or "destructive");
 * undefined if it does. `why` says, after "it", why a call has this effect by its arguments.
 */
export function whyNoAccess(
	caller: Parameters<typeof accessRefusal>[0] | undefined,
	{ name, effect }: { name: string; effect: Effect },
	why?: string,
): string | undefined {
	const needed = effect === "destructive" ? "all" : effect;
	return !caller || includesAccess(caller.access, needed) ? undefined : accessRefusal(caller, name, needed, why);
}

/** Prefix of the principal's id if the caller is a person on Discord. */
export const commandIdStart = "command:";

/** Whether a principal is a person who used a command or button on Discord, rather than an MCP client. */
export function isOnDiscord(principal: Principal | undefined): boolean {
	return principal?.id.startsWith(commandIdStart) ?? false;
}

/**
 * Returns the person in whose name the calls of a principal (caller) act; undefined if the calls act by the bot's own
 * rights. The person's memberships in guilds are not looked up yet.
 */
export function personOf(principal: Principal | undefined): ActingPerson | undefined {
	return principal?.person && new ActingPerson(principal.person.id, isOnDiscord(principal));
}

/** Returns the principal (caller) with the name of its person, if the bot knows the person. */
export function withPersonName({
	principal,
	connection,
}: Pick<BotContext, "principal" | "connection">): Principal | undefined {
	const { person } = principal ?? {};
	if (!principal || !person || person.name !== "") return principal;
	const user = connection.discord.users.cache.get(person.id);
	return user ? { ...principal, person: { ...person, name: user.displayName } } : principal;
}

/**
 * Returns the guild in which a tool call acts: the one in its argument `guild_id` or, by default, in the setting
 * GUILD_ID. Throws an error if the caller may not access the guild, or if the guild is unavailable.
 */
export async function findGuild(bot: Admitting, args: JsonObject, effect: Effect): Promise<Guild> {
	const { connection, guildId, principal } = bot;
	// An empty id means absent.
	const given = (args.guild_id as string | undefined) || undefined;
	const id = given ?? guildId;
	if (!id) throw guildIdRequired();
	const guild = connection.discord.guilds.cache.get(id);
	if (principal) {
		const isInScope = guild !== undefined && mayTouch(bot, id);
		const admission = isInScope && (await admit(bot, guild, effect));
		if (!admission)
			// The id in GUILD_ID may be hidden from the caller.
			throw given === undefined ? guildIdRequired() : unknownGuild(id);
		if (admission.refusal !== undefined) throw new ToolError(admission.refusal);
	}
	if (!mayTouch(bot, id))
		throw new ToolError(
			`The operator of this bot has not enabled tools for the guild ${id}. Use list_guilds to find guilds for which tools are enabled.`,
		);
	if (!guild) throw unknownGuild(id);
	if (!guild.available)
		throw new ToolError(`The guild ${id} is unavailable on Discord at the moment. Nothing was done; try again later.`);
	return guild;
}

function guildIdRequired() {
	return invalidParameters(["guild_id: is required, because this instance has no GUILD_ID"]);
}

/**
 * The result of the check whether a tool call may act in a guild. `refusal` is the error text if the person in whose
 * name the call acts is a member but may not use the bot there; otherwise undefined.
 */
interface Admission {
	refusal: string | undefined;
}

async function admit(
	{ connection, principal, self }: Admitting,
	guild: Guild,
	effect: Effect,
): Promise<Admission | undefined> {
	const person = currentPerson();
	if (!person || !principal?.person) return { refusal: undefined };
	if (!isUpToDate(connection, guild))
		throw new ToolError(
			"The bot is not connected to Discord's Gateway, so it does not know what you may do at the moment. Nothing was done; try again in a few seconds.",
		);
	const member = await memberIn(guild, person.id, connection, effect);
	if (!member) return undefined;
	const { signedIn } = principal.person;
	const refusal =
		(signedIn ? whyNotSignIn(member, self.toml.mcp) : undefined) ??
		(effect === "read" ? undefined : whyReadOnly(member));
	if (refusal === undefined) person.members.set(guild.id, member);
	return { refusal: refusal && `${refusal} Nothing was done.` };
}

/**
 * Looks up a member of a guild by user id. To read, uses the cache if it holds all members. Before a change, fetches
 * the member from Discord, so that the loss of a role takes effect even if Discord's event about it is late. Returns
 * undefined for a guest, whose roles do not tell that a guest sees only one voice channel.
 * https://docs.discord.com/developers/resources/guild#guild-member-object-guild-member-flags
 */
async function memberIn(
	guild: Guild,
	id: string,
	connection: MemberState,
	effect: Effect,
): Promise<GuildMember | undefined> {
	const cached = guild.members.cache.get(id);
	const isKnown = !guild.available || connection.hasAllMembers(guild);
	const suffices = effect === "read" || !guild.available || !cached;
	const member =
		isKnown && suffices
			? cached
			: await absentIf([UnknownMember, UnknownUser], () => guild.members.fetch({ user: id, force: true }));
	return member?.flags.has(GuildMemberFlags.IsGuest) ? undefined : member;
}

type SignInRule = Pick<TomlSettings["mcp"], "sign_in_permission" | "sign_in_roles">;

/**
 * Returns, as a sentence, why a member may not use the bot in a guild after signing in with Discord. Returns undefined
 * if the member may: with the permission `sign_in_permission`, or with one of the roles `sign_in_roles`.
 */
export function whyNotSignIn(
	{ guild, permissions, roles }: GuildMember,
	{ sign_in_permission, sign_in_roles }: SignInRule,
): string | undefined {
	const bit = bitOf(sign_in_permission) ?? PermissionFlagsBits.ManageGuild;
	if (permissions.has(bit) || roles.cache.hasAny(...sign_in_roles)) return undefined;
	const names = sign_in_roles.flatMap((id) => {
		const role = guild.roles.cache.get(id);
		return role ? [roleName(role)] : [];
	});
	const expected = [officialName(sign_in_permission), ...names].join(" or ");
	return `Signing in gives access to the guild ${guild.id} only with ${expected}, which you lack.`;
}

/**
 * Returns the guilds that the caller of a tool may access. If the call acts in a person's name, looks up the person as
 * a member of each guild of the bot.
 */
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

/**
 * A guild of which a person is a member. `signIn` is true if the configuration lets the person use the bot there by
 * signing in with Discord.
 */
export interface PersonGuild {
	guild: Guild;
	signIn: boolean;
}

/**
 * Returns the guilds of which a person is a member, out of those in `guilds` that the caller may access. Rejects if a
 * membership cannot be determined, such as when Discord does not respond.
 */
export async function guildsOf(
	bot: Admitting,
	personId: string,
	guilds: readonly Guild[] = bot.connection.guilds,
): Promise<PersonGuild[]> {
	const { connection, self } = bot;
	const touchable = guilds.filter(({ id }) => mayTouch(bot, id));
	const all = await Promise.all(
		touchable.map(async (guild) => {
			const member = await memberIn(guild, personId, connection, "read");
			if (!member) return [];
			const signIn = whyNotSignIn(member, self.toml.mcp) === undefined;
			return [{ guild, signIn }];
		}),
	);
	return all.flat();
}

/**
 * Throws a ToolError unless the caller may manage the bot itself, which concerns the guild in the setting GUILD_ID or,
 * if that is not set, all guilds in which tools are enabled. A person in whose name the call acts needs MANAGE_GUILD in
 * these guilds. If the caller's scope is limited to certain guilds, it must include them.
 */
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
	return !person || (personPermissions(person, undefined) & ManageGuild) !== 0n;
}
