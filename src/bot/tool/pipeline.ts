// The steps that every call of a tool goes through, in this order:
//
//   parse → lock → guild → resolve → authorize → run → encode
//
// `src/mcp/tool.ts` parses and encodes. The lock comes before whatever is looked up, so that an edit builds on what the
// one before it left. All steps from the lock on share one deadline, and every platform call in them is bound by it.

import {
	type Guild,
	type GuildBasedChannel,
	GuildMember,
	PermissionFlagsBits,
	Role,
} from "discord.js";
import type * as v from "valibot";
import { Deadlines } from "../../lib/deadlines.ts";
import type { Signal } from "../../lib/signal.ts";
import { type JsonObject, RpcError } from "../../mcp/json-rpc.ts";
import {
	invalidParameters,
	tool as mcpTool,
	type Tool,
	ToolError,
} from "../../mcp/tool.ts";
import {
	type Finder,
	isVoice,
	type Person,
	type Speaker,
} from "../discord/find.ts";
import {
	bitsIn,
	isHeldInGuild,
	neededBy,
	requirePermissions,
} from "../discord/permissions.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { type ToolRun, withinRun } from "../discord/rest/rest.ts";
import {
	requireMembersBelow,
	requireRolesBelow,
} from "../discord/role-hierarchy.ts";
import { withoutTokens } from "../discord/text.ts";
import { defaultReason } from "./arguments.ts";
import type { BotContext, ContextFor, ToolContext } from "./context.ts";
import type { BotToolDefinition, Needs } from "./define.ts";

/** What a whole tool may take; each platform call in it has 10 s of its own. */
const toolTimeoutMs = 25_000;

const deadlines = new Deadlines(toolTimeoutMs);

const timedOut = `The tool has not ended within ${toolTimeoutMs / 1000} seconds and was given up. What it had sent to Discord by then may have taken effect: look before repeating it.`;

const failedAfterWrite =
	"Internal error, after a request to Discord had been sent: whether it took effect is unknown. Look before repeating it.";

/** The tool as an MCP server calls it. */
export function createPipeline<const Entries extends v.ObjectEntries>(
	definition: BotToolDefinition<Entries>,
): Tool<BotContext> {
	const { entries } = definition.input;
	const takesGuild = "guild_id" in entries;
	const parsed = mcpTool<Entries, BotContext>({
		...definition,
		async run(args, bot, call) {
			const bound = bindRun(definition, args);
			const onBug = (error: unknown) =>
				bot.log.error("a tool failed after a write", {
					tool: definition.name,
					error,
				});
			const output = await withinDeadline(bound, call.signal, onBug, () =>
				lock(definition, args, bot, async () => {
					const context = contextOf(bot);
					if (!takesGuild)
						return definition.run(args, context as ContextFor<Entries>, call);
					const guild = findGuild(bot, args as JsonObject);
					const things = await resolve(entries, args as JsonObject, guild, bot);
					authorize(definition, args, guild, things);
					return definition.run(
						args,
						// Their names and types follow from the arguments, as ContextFor has it.
						{ ...context, guild, ...things } as unknown as ContextFor<Entries>,
						call,
					);
				}),
			);
			// Webhook tokens, in whatever text: of a message, a name or an error.
			return typeof output === "string"
				? withoutTokens(output)
				: output.map(withoutTokens);
		},
	});
	const { ignored = [] } = definition;
	// The gateway needed `guild_id` to find this bot; a tool without guilds does not read it.
	const unread = takesGuild ? ignored : [...ignored, "guild_id"];
	return {
		...parsed,
		call(args, bot, call) {
			const read = Object.entries(args).filter(
				([key]) => !unread.includes(key),
			);
			return parsed.call(Object.fromEntries(read), bot, call);
		},
	};
}

/** What binds every platform call of the tool: the reason for the audit log, and whether it may write. */
function bindRun<Entries extends v.ObjectEntries>(
	{ input, effect }: BotToolDefinition<Entries>,
	args: object,
): Pick<ToolRun, "reason" | "mayWrite"> {
	const { reason } = args as { reason?: string };
	return {
		reason: "reason" in input.entries ? reason || defaultReason : undefined,
		// A destructive tool may once its plan is made.
		mayWrite: effect === "write",
	};
}

/** Runs `work` alone among the calls that name the same things. */
function lock<Args extends object, T>(
	definition: Needs<Args>,
	args: Args,
	{ mutex, guildId }: BotContext,
	work: () => Promise<T>,
): Promise<T> {
	const { lock: named = [] } = definition;
	const names: readonly (keyof Args)[] = Array.isArray(named) ? named : [named];
	const keys = names
		.flatMap((name) => args[name] || (guildId ?? []))
		.map(String);
	return keys.length > 0 ? mutex.withLock(keys, work) : work();
}

function contextOf(bot: BotContext): ToolContext {
	const { connection, audit, self, locks } = bot;
	return {
		discord: connection.discord,
		connection,
		audit,
		self,
		locks,
		mayTouch: (guildId) => mayTouch(bot, guildId),
	};
}

/**
 * Runs `work` within the tool's time and while its caller waits, and turns Discord's refusals into advice. One timer
 * serves all calls: with a timer, an AbortController and a race of promises for each, a call took the bot an eighth longer.
 */
async function withinDeadline<T>(
	bound: Pick<ToolRun, "reason" | "mayWrite">,
	caller: Signal | undefined,
	onBug: (error: unknown) => void,
	work: () => Promise<T>,
): Promise<T> {
	const signal = deadlines.begin(caller);
	let wrote = false;
	const onWrite = () => {
		wrote = true;
	};
	const run: ToolRun = { ...bound, endsAt: signal.endsAt, signal, onWrite };
	try {
		return await new Promise<T>((resolve, reject) => {
			// What waits for Discord hears of it first, and knows better whether its request was sent.
			const end = () => setTimeout(() => reject(new ToolError(timedOut)));
			if (signal.aborted) end();
			else signal.addEventListener("abort", end);
			withinRun(run, work).then(resolve, reject);
		});
	} catch (error) {
		const known = error instanceof RpcError ? error : toToolError(error);
		if (known || error instanceof ToolError || !wrote) throw known ?? error;
		onBug(error);
		throw new ToolError(failedAfterWrite, { cause: error });
	} finally {
		deadlines.end(signal);
	}
}

function mayTouch({ guilds }: BotContext, guildId: string): boolean {
	return guilds?.has(guildId) ?? true;
}

function findGuild(bot: BotContext, args: JsonObject): Guild {
	const { connection, guildId } = bot;
	// An empty id means absent.
	const id = (args.guild_id as string | undefined) || guildId;
	if (!id)
		throw invalidParameters([
			"guild_id: is required, because this instance has no GUILD_ID",
		]);
	if (!mayTouch(bot, id))
		throw new ToolError(
			`The operator of this bot does not let its tools touch the guild ${id}. list_guilds shows those that they may.`,
		);
	const guild = connection.discord.guilds.cache.get(id);
	if (!guild)
		throw new ToolError(
			`The bot is not in a guild ${id}. list_guilds shows the guilds that it is in.`,
		);
	if (!guild.available)
		throw new ToolError(
			`Discord says that the guild ${id} is unavailable at the moment. Nothing was done; try again later.`,
		);
	return guild;
}

/** Everything that the arguments name in the guild, by the names that `ContextFor` has. */
async function resolve(
	entries: v.ObjectEntries,
	args: JsonObject,
	guild: Guild,
	{ connection }: BotContext,
): Promise<Record<string, unknown>> {
	const things: Record<string, unknown> = {};
	for (const [key, schema] of Object.entries(entries)) {
		const find = finderOf(schema);
		const value = args[key];
		if (!find || value === undefined) continue;
		things[thingName(key)] = Array.isArray(value)
			? await Promise.all(
					value.map((id: string) => find(guild, id, connection)),
				)
			: await find(guild, value as string, connection);
	}
	return things;
}

/** The `find` of an argument's schema, also of an optional one or a list. */
function finderOf(schema: unknown): Finder<unknown> | undefined {
	const { find, wrapped, item } = schema as {
		find?: Finder<unknown>;
		wrapped?: unknown;
		item?: unknown;
	};
	if (find) return find;
	if (wrapped) return finderOf(wrapped);
	return item ? finderOf(item) : undefined;
}

/** What an argument names, as `ThingName` has it. */
function thingName(key: string): string {
	return key.replace(/_(?:id|code)(s?)$/, "$1");
}

/** Throws a ToolError where the bot lacks a permission, or somebody is not below it in the role hierarchy. */
function authorize<Args extends object>(
	definition: Needs<Args>,
	args: Args,
	guild: Guild,
	things: Record<string, unknown>,
): void {
	const { permissions, guildPermissions, ranked } = definition;
	const { permissionsIn = "channel_id" } = definition;
	if (guildPermissions)
		requirePermissions(guild, undefined, bitsIn(undefined, guildPermissions));
	if (permissions) {
		const all = neededBy(permissions, args, guild);
		const names = all.map(({ permission }) => permission);
		const why = (missing: bigint) =>
			all.flatMap(({ permission, why = "" }) =>
				why && (missing & PermissionFlagsBits[permission]) !== 0n ? [why] : [],
			);
		// If permissions in the guild are enough for all that is asked, Discord does not look at the channel.
		const asksOfChannels =
			permissions.length === 0 ||
			!permissions.every((one) => isHeldInGuild(one, guild));
		for (const channel of channelsOf(things, thingName(permissionsIn))) {
			const needed = bitsIn(channel, names);
			const implied = asksOfChannels ? impliedIn(channel) : 0n;
			requirePermissions(guild, channel, needed | implied, why);
		}
	}
	if (ranked) requireBelow(guild, things, ranked);
}

/** A thing that belongs to a channel, if the channel is known. */
interface Belonging {
	channel?: GuildBasedChannel | undefined;
}

/** The channels that permissions are asked for in; undefined stands for the guild. */
function channelsOf(
	things: Record<string, unknown>,
	named: string,
): readonly (GuildBasedChannel | undefined)[] {
	const { heardIn } = (things.user ?? {}) as Partial<Speaker>;
	const owner = (things.webhook ?? things.invite ?? {}) as Belonging;
	const there = things[named] as
		| GuildBasedChannel
		| GuildBasedChannel[]
		| undefined;
	const channels = [there, heardIn, owner.channel]
		.flat()
		.filter((channel) => channel !== undefined);
	return channels.length > 0 ? channels : [undefined];
}

/** Without these nothing else that is allowed in the channel counts. */
function impliedIn(channel: GuildBasedChannel | undefined): bigint {
	if (!channel) return 0n;
	const { ViewChannel, Connect } = PermissionFlagsBits;
	return isVoice(channel) ? ViewChannel | Connect : ViewChannel;
}

function requireBelow(
	guild: Guild,
	{ role, roles = [], user, users = [] }: Record<string, unknown>,
	ranked: true | "others",
): void {
	const named = [role, roles].flat().filter((one) => one instanceof Role);
	// To give or take a role, the bot must be above the role, not above the member.
	if (named.length > 0) {
		requireRolesBelow(guild, named);
		return;
	}
	const members = [user, users]
		.flat()
		.map((one) =>
			one instanceof GuildMember ? one : (one as Person | undefined)?.member,
		)
		.filter((one) => one !== undefined);
	const others = members.filter(({ id }) => id !== guild.client.user.id);
	requireMembersBelow(guild, ranked === "others" ? others : members);
}
