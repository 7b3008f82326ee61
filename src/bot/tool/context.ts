// What a tool is given, and the one runner that every tool goes through: arguments checked; the guild and everything in
// it that they name found; permissions and ranks checked; deadline and reason bound to every platform call; Discord's
// refusals turned into advice; result encoded.

import {
	type Client,
	type Guild,
	type GuildBasedChannel,
	GuildMember,
	PermissionFlagsBits,
	Role,
} from "discord.js";
import * as v from "valibot";
import { Deadlines } from "../../lib/deadlines.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Signal } from "../../lib/signal.ts";
import { type JsonObject, RpcError } from "../../mcp/json-rpc.ts";
import {
	invalidParameters,
	tool as mcpTool,
	type ToolCall,
	type ToolDefinition,
	ToolError,
	type ToolOutput,
} from "../../mcp/tool.ts";
import type { TomlSettings } from "../config/settings.ts";
import type { Toolset } from "../config/tool-choice.ts";
import type { Connection } from "../discord/connection.ts";
import { toToolError } from "../discord/errors.ts";
import type { Finder } from "../discord/find.ts";
import { isVoice, type Person, type Speaker } from "../discord/find.ts";
import {
	bitsIn,
	isHeldInGuild,
	type Needed,
	neededBy,
	type Permission,
	requirePermissions,
} from "../discord/permissions.ts";
import { permitWrites, type ToolRun, withinRun } from "../discord/rest.ts";
import {
	requireMembersBelow,
	requireRolesBelow,
} from "../discord/role-hierarchy.ts";
import { withoutTokens } from "../discord/text.ts";
import type { Store } from "../store/store.ts";
import { defaultReason } from "./arguments.ts";
import type { Audit } from "./audit.ts";
import type { Locks } from "./channel-locks.ts";
import type { BotTool, PrivilegedIntent } from "./toolsets.ts";

/** What a whole tool may take; each platform call in it has 10 s of its own. */
const toolTimeoutMs = 25_000;

const deadlines = new Deadlines(toolTimeoutMs);

const tooLate = `The tool has not ended within ${toolTimeoutMs / 1000} seconds and was given up. What it had sent to Discord by then may have taken effect: look before repeating it.`;

const failedAfterWrite =
	"Internal error, after a request to Discord had been sent: whether it took effect is unknown. Look before repeating it.";

/** What the bot knows of itself. */
export interface Self {
	name: string;
	toml: TomlSettings;
	/** The tools that it offers. */
	tools: readonly BotTool[];
	store: Pick<Store, "state" | "since">;
}

/** What all tools of a bot act on. */
export interface BotContext {
	connection: Connection;
	/** The guild that is meant when none is named. */
	guildId: string | undefined;
	/** Held, by id, while a thing is edited. */
	mutex: KeyedMutex;
	/** The calls so far. */
	audit: Pick<Audit, "recent">;
	self: Self;
	locks: Locks;
	/** The only guilds that tools may touch; undefined: all that the bot is in. */
	guilds?: ReadonlySet<string> | undefined;
	log: Log;
}

/** What every tool is given beside its arguments. */
export interface ToolContext {
	discord: Client<true>;
	connection: Connection;
	audit: Pick<Audit, "recent">;
	self: Self;
	locks: Pick<Locks, "of" | "begin" | "forget">;
	/** Whether tools may touch a guild. */
	mayTouch(guildId: string): boolean;
}

/** What an argument names, by its schema: what its `find` gives. */
type FoundBy<Schema> = Schema extends { find: Finder<infer Thing> }
	? Thing
	: Schema extends { wrapped: infer Wrapped }
		? OrAbsent<FoundBy<Wrapped>>
		: Schema extends { item: infer Item }
			? OrNever<FoundBy<Item>>
			: never;
type OrAbsent<Thing> = [Thing] extends [never] ? never : Thing | undefined;
type OrNever<Thing> = [Thing] extends [never] ? never : Thing[];

/** `channel_id` names the `channel`, `role_ids` the `roles`, `invite_code` the `invite`. */
type ThingName<Key> = Key extends `${infer Name}_ids`
	? `${Name}s`
	: Key extends `${infer Name}_${"id" | "code"}`
		? Name
		: never;

/** Everything that the arguments name, found. */
type Things<Entries> = {
	[Key in keyof Entries as [FoundBy<Entries[Key]>] extends [never]
		? never
		: ThingName<Key>]: FoundBy<Entries[Key]>;
};

/** What `run` is given: with a `guild_id` among the arguments, the guild and what they name in it. */
export type ContextFor<Entries> = "guild_id" extends keyof Entries
	? ToolContext & { guild: Guild } & Things<Entries>
	: ToolContext;

/** What a tool needs before it can run. */
interface Needs<Args> {
	/**
	 * What the bot must be allowed: in the channel that `channel_id` names, the one that the user is heard in, and the
	 * webhook's or the invite's, or else in the guild.
	 */
	permissions?: readonly Needed<Args>[];
	/** The argument that names the channels that this is asked for in, where it is not `channel_id`. */
	permissionsIn?: keyof Args & string;
	/** What the bot must be allowed in the guild as a whole, whatever channel the arguments name. */
	guildPermissions?: readonly Permission[];
	/**
	 * The arguments that name what an edit builds on or overwrites: calls that name the same thing run one after another.
	 * Of two at the same time, one would undo what the other did. An empty one stands for the instance's own guild.
	 */
	lock?: (keyof Args & string) | readonly (keyof Args & string)[];
	/**
	 * Whether the roles, or else the people, that `role_id`, `role_ids`, `user_id` and `user_ids` name must rank below the
	 * bot; with "others" the bot itself is let through.
	 */
	ranked?: boolean | "others";
	/** What has to be switched on in the developer portal for it to see everything. */
	intents?: readonly PrivilegedIntent[];
}

export interface BotToolDefinition<Entries extends v.ObjectEntries>
	extends ToolDefinition<Entries, ContextFor<Entries>>,
		Needs<v.InferOutput<v.StrictObjectSchema<Entries, undefined>>> {
	toolset: Toolset;
	/** Whether it is offered only where its toolset is named. */
	extra?: boolean;
	/** Arguments that other servers' tools of this name take, and that say nothing to this one: neither listed nor read. */
	ignored?: readonly string[];
	/** Other names that it is called by, which are not listed: those of the tools that others know it by. */
	aliases?: readonly string[];
}

/** A tool of the bot. */
export function tool<const Entries extends v.ObjectEntries>(
	definition: BotToolDefinition<Entries>,
): BotTool {
	const { toolset, extra = false, aliases = [], ignored = [] } = definition;
	const { permissions = [], guildPermissions = [], intents = [] } = definition;
	const { entries } = definition.input;
	const needs = { permissions, guildPermissions, intents };
	const takesGuild = "guild_id" in entries;
	const checked = mcpTool<Entries, BotContext>({
		...definition,
		async run(args, bot, call) {
			const limits = {
				reason:
					"reason" in entries
						? (args as { reason?: string }).reason || defaultReason
						: undefined,
				mayWrite: definition.effect === "write",
			};
			const work = async () => {
				const { connection, audit, self, locks } = bot;
				const context: ToolContext = {
					discord: connection.discord,
					connection,
					audit,
					self,
					locks,
					mayTouch: (guildId) => mayTouch(bot, guildId),
				};
				const found = takesGuild
					? await findAll(definition, args, bot)
					: undefined;
				// Their names and types follow from the arguments, as ContextFor has it.
				const full = { ...context, ...found } as unknown as ContextFor<Entries>;
				return definition.run(args, full, call);
			};
			const keys = [definition.lock ?? []]
				.flat()
				.flatMap((name) => args[name] || (bot.guildId ?? []))
				.map(String);
			const onBug = (error: unknown) =>
				bot.log.error("a tool failed after a write", {
					tool: definition.name,
					error,
				});
			const said = await bounded(limits, call.signal, onBug, () =>
				keys.length > 0 ? bot.mutex.withLock(keys, work) : work(),
			);
			// Whoever wrote it, and wherever it stands.
			return typeof said === "string"
				? withoutTokens(said)
				: said.map(withoutTokens);
		},
	});
	// A gateway needed the guild to find us; to a tool without guilds it says nothing.
	const unread = takesGuild ? ignored : [...ignored, "guild_id"];
	return {
		...checked,
		toolset,
		extra,
		aliases,
		needs,
		call(args, bot, call) {
			const read = Object.entries(args).filter(
				([key]) => !unread.includes(key),
			);
			return checked.call(Object.fromEntries(read), bot, call);
		},
	};
}

/** What a destructive tool would do, and how to do it. */
export interface Plan {
	/** What would happen, with counts and ids; a function where that takes asking. */
	preview: ToolOutput | (() => Promise<ToolOutput>);
	act(call: ToolCall): Promise<ToolOutput>;
}

function dryRun(byDefault: boolean) {
	const description = byDefault
		? "Only say what would happen; false to have it done."
		: "Only say what would happen.";
	return {
		dry_run: v.optional(
			v.pipe(v.boolean(), v.description(description)),
			byDefault,
		),
	};
}

/** A destructive tool: it makes its plan without writing anything, and acts on it unless it is told `dry_run`. */
export function destructiveTool<const Entries extends v.ObjectEntries>(
	definition: Omit<BotToolDefinition<Entries>, "effect" | "run"> & {
		plan(
			args: v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
			context: ContextFor<Entries>,
		): Plan | Promise<Plan>;
		/** Whether it only says what would happen unless it is told otherwise. */
		dryRunByDefault?: boolean;
	},
): BotTool {
	const { plan, input, dryRunByDefault = false, ...rest } = definition;
	return tool<v.ObjectEntries>({
		// Its arguments are these, and `dry_run`.
		...(rest as Omit<BotToolDefinition<v.ObjectEntries>, "effect" | "run">),
		effect: "destructive",
		input: v.strictObject({ ...input.entries, ...dryRun(dryRunByDefault) }),
		async run({ dry_run, ...args }, context, call) {
			const { preview, act } = await plan(
				args as v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
				context as ContextFor<Entries>,
			);
			if (dry_run) {
				const said = typeof preview === "function" ? await preview() : preview;
				return ["Dry run: nothing was done.", ...[said].flat()];
			}
			permitWrites();
			return act(call);
		},
	});
}

/**
 * Runs `work` within the tool's time and while its caller waits, its failures said as Discord's where they are. With a timer,
 * an AbortController and a race of promises for each, a call took the bot an eighth longer.
 */
async function bounded<T>(
	limits: Pick<ToolRun, "reason" | "mayWrite">,
	caller: Signal | undefined,
	onBug: (error: unknown) => void,
	work: () => Promise<T>,
): Promise<T> {
	const signal = deadlines.begin(caller);
	let wrote = false;
	const onWrite = () => {
		wrote = true;
	};
	const run: ToolRun = { ...limits, endsAt: signal.endsAt, signal, onWrite };
	try {
		return await new Promise<T>((resolve, reject) => {
			// What waits for Discord is told first, and knows better what has become of it.
			const end = () => setTimeout(() => reject(new ToolError(tooLate)));
			if (signal.aborted) end();
			else signal.addEventListener("abort", end);
			withinRun(run, work).then(resolve, reject);
		});
	} catch (error) {
		const told = error instanceof RpcError ? error : toToolError(error);
		if (told || error instanceof ToolError || !wrote) throw told ?? error;
		onBug(error);
		throw new ToolError(failedAfterWrite, { cause: error });
	} finally {
		deadlines.end(signal);
	}
}

/** The guild and what the arguments name in it, each checked for what the tool needs of it. */
async function findAll<Args extends object>(
	definition: Needs<Args> & { input: { entries: v.ObjectEntries } },
	given: Args,
	bot: BotContext,
): Promise<Record<string, unknown>> {
	const { input, permissions, guildPermissions, ranked } = definition;
	const { permissionsIn = "channel_id" } = definition;
	const args = given as JsonObject;
	const guild = findGuild(bot, args);
	const { connection } = bot;
	const things: Record<string, unknown> = {};
	for (const [key, schema] of Object.entries(input.entries)) {
		const find = finderOf(schema);
		const value = args[key];
		if (!find || value === undefined) continue;
		things[thingName(key)] = Array.isArray(value)
			? await Promise.all(
					value.map((id: string) => find(guild, id, connection)),
				)
			: await find(guild, value as string, connection);
	}
	if (guildPermissions)
		requirePermissions(guild, undefined, bitsIn(undefined, guildPermissions));
	if (permissions) {
		const all = neededBy(permissions, given, guild);
		const names = all.map(({ permission }) => permission);
		const why = (missing: bigint) =>
			all.flatMap(({ permission, why = "" }) =>
				why && (missing & PermissionFlagsBits[permission]) !== 0n ? [why] : [],
			);
		// Where permissions in the guild did for all that is asked, Discord does not look at the channel.
		const asksOfChannels =
			permissions.length === 0 ||
			!permissions.every((one) => isHeldInGuild(one, guild));
		const { heardIn } = (things.user ?? {}) as Partial<Speaker>;
		const there = things[thingName(permissionsIn)] as
			| GuildBasedChannel
			| GuildBasedChannel[]
			| undefined;
		const { channel: belongsTo } = (things.webhook ??
			things.invite ??
			{}) as Belonging;
		const places = [there, heardIn, belongsTo].flat();
		const named = places.filter((place) => place !== undefined);
		for (const channel of named.length > 0 ? named : [undefined]) {
			const needed = bitsIn(channel, names);
			const implied = asksOfChannels ? impliedIn(channel) : 0n;
			requirePermissions(guild, channel, needed | implied, why);
		}
	}
	if (ranked) requireBelow(guild, things, ranked);
	return { guild, ...things };
}

/** What an argument names, as `ThingName` has it. */
function thingName(key: string): string {
	return key.replace(/_(?:id|code)(s?)$/, "$1");
}

function requireBelow(
	guild: Guild,
	{ role, roles = [], user, users = [] }: Record<string, unknown>,
	ranked: true | "others",
): void {
	const named = [role, roles].flat().filter((one) => one instanceof Role);
	// Who gives or takes a role has to stand above the role, not above the person.
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

/** A thing that belongs to a channel, as far as that is known. */
interface Belonging {
	channel?: GuildBasedChannel | undefined;
}

/** Without these nothing else that is allowed in the channel counts. */
function impliedIn(channel: GuildBasedChannel | undefined): bigint {
	if (!channel) return 0n;
	const { ViewChannel, Connect } = PermissionFlagsBits;
	return isVoice(channel) ? ViewChannel | Connect : ViewChannel;
}

/** The `find` of an argument's schema, be it optional or a list. */
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

function mayTouch({ guilds }: BotContext, guildId: string): boolean {
	return guilds?.has(guildId) ?? true;
}

function findGuild(bot: BotContext, args: JsonObject) {
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
