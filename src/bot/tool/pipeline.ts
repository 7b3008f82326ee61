// The steps of every tool call, in order:
//
//   parse → lock → guild → resolve → authorize → run → encode
//
// `src/mcp/tool.ts` parses and encodes. The lock comes before all look-ups, so that an edit sees the result of the previous
// one. All steps from the lock on share one deadline, also for their platform calls.

import { type Guild, type GuildBasedChannel, GuildMember, PermissionFlagsBits, Role } from "discord.js";
import * as v from "valibot";
import { actAs, actingPerson, isForPeople } from "../../discord/acting-person.ts";
import { guildName } from "../../discord/describe.ts";
import { type Finder, MembersLoading, type Person, type VoiceMember } from "../../discord/find.ts";
import { bitsIn, botMember, impliedIn, isHeldInGuild, neededBy, requireOf } from "../../discord/permissions.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { currentRun, noteItems, permitWrites, type ToolRun, timeLeftMs, withinRun } from "../../discord/rest/rest.ts";
import { requireMembersBelow, requireRolesBelow } from "../../discord/role-hierarchy.ts";
import { chosenReason, withCaller, withoutTokens } from "../../discord/text.ts";
import type { JsonObject } from "../../lib/json.ts";
import { rootPrincipal } from "../../lib/principal.ts";
import { Deadlines, type Signal } from "../../lib/signal.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { sleep } from "../../lib/wait.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import { listedAs } from "../../mcp/json-schema.ts";
import { type ArgumentsOf, type Effect, errorResult, tool as mcpTool, type ToolCall } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { render, said } from "../../texts/texts.ts";
import { adviceIn, forModels, type Output, parts, result } from "../results/result.ts";
import { grantedBits } from "../settings/grants.ts";
import {
	admittedGuilds,
	chatIdStart,
	findGuild,
	isAdmitted,
	isOnDiscord,
	ownGuildId,
	personOf,
	possibleGuilds,
	requireBotManager,
	whyNoAccess,
	withPersonName,
} from "./admission.ts";
import { defaultReason } from "./arguments/arguments.ts";
import { allowNames, nameIn } from "./arguments/names.ts";
import { recorded } from "./case-record.ts";
import type {
	BotContext,
	BotTool,
	BotToolDefinition,
	Chosen,
	ContextFor,
	Hints,
	Needs,
	ToolContext,
} from "./context.ts";
import { choosePeople } from "./people.ts";
import type { Preview } from "./review.ts";
import { saidDestructive } from "./titles.ts";

const toolTimeoutMs = 25_000;

/** A call waits for members until so long before its deadline, and looks for them so often. */
const loadReserveMs = 10_000;
const loadLookMs = 250;

const deadlines = new Deadlines(toolTimeoutMs);

const timedOut = `The tool timed out after ${toolTimeoutMs / 1000} seconds. Requests already sent to Discord may have taken effect: check before repeating the call.`;

const failedAfterWrite =
	"Internal error after a request was sent to Discord. Its outcome is unknown: check before repeating the call.";

const dry_run = v.optional(v.pipe(v.boolean(), v.description("Preview."), listedAs({ type: "boolean" })), false);

/**
 * From the definition follows what to resolve, authorize and lock. A call of a tool with a plan returns the plan's preview if
 * `dry_run` is true.
 */
export function tool<const Entries extends v.ObjectEntries>(hints: Hints, given: BotToolDefinition<Entries>): BotTool {
	const { toolset, offered, permissions = [], intents = [], person, permissionsIn, plan } = given;
	// TypeScript cannot infer the entries plus `dry_run`.
	const input = (plan ? { ...given.input, dry_run } : given.input) as Entries;
	const definition = { ...given, ...hints, input };
	const takesGuild = "guild_id" in input;
	const parsed = mcpTool<Entries, BotContext>({
		...definition,
		async run(args, bot, call) {
			const may = given.person?.mayWith?.(args) ?? given.person?.may;
			const granted = (member: GuildMember) => grantedBits(bot.settings, member, may);
			const person = personOf(bot.principal, granted, bot.hidesTextsOf);
			const work = () => runTool(definition, args, bot, call);
			try {
				const output = await (person ? actAs(person, work) : work());
				bot.onEnd?.({ output });
				// Any text may contain a webhook URL.
				const lines = forModels(output).map(withoutTokens);
				const advice = adviceIn(output);
				return advice ? { lines, advice } : lines;
			} catch (error) {
				bot.onEnd?.({ error });
				throw error;
			}
		},
	});
	return {
		...parsed,
		toolset,
		offered,
		effectVaries: given.destructive !== undefined,
		needs: { permissions, intents, person, checkedInRun: permissionsIn === "run", isPlanned: plan !== undefined },
		listing: { ...parsed.listing, inputSchema: allowNames(parsed.listing.inputSchema) },
		async call(args, bot, call) {
			const refusal = whyNoAccess(bot.principal, definition);
			if (refusal !== undefined) return errorResult(refusal);
			// The gateway routes by `guild_id` even for tools without it.
			const { guild_id: _, ...known } = args;
			if (!takesGuild) return parsed.call(known, bot, call);
			const guildId = args.guild_id ? bot.guildId : ownGuildId(bot);
			return parsed.call(args, guildId === bot.guildId ? bot : { ...bot, guildId }, call);
		},
	};
}

type Defined<Entries extends v.ObjectEntries> = BotToolDefinition<Entries> & Hints;

async function runTool<Entries extends v.ObjectEntries>(
	definition: Defined<Entries>,
	args: ArgumentsOf<Entries>,
	bot: BotContext,
	call: ToolCall,
): Promise<Output> {
	const { name, effect } = definition;
	const { input: entries } = definition;
	const takesGuild = "guild_id" in entries;
	const { managesBot = !takesGuild } = definition.person ?? {};
	const limits = runLimits(definition, args, bot);
	const onBug = (error: unknown) =>
		bot.log.error("MCP tool failed after changing something on Discord", { tool: name, error });
	const runLocked = (args: ArgumentsOf<Entries>, chosen?: Chosen) =>
		lock(definition, args, bot, async () => {
			if (!takesGuild) {
				if (managesBot) await requireBotManager(bot);
				else if (bot.principal) await admittedGuilds(bot);
				return run(definition, args, bot, call, {});
			}
			const guild = await findGuild(bot, args as JsonObject, effect);
			const things = await resolve(entries, args as JsonObject, guild, bot);
			authorize(definition, args, guild, things);
			if (managesBot) await requireBotManager(bot);
			return run(definition, args, bot, call, { ...things, chosen }, guild);
		});
	const runOnce = async () => {
		// Callers from outside of the guild must not hold up calls inside it.
		if (bot.principal && takesGuild) await findGuild(bot, args as JsonObject, "read");
		if (!("where" in entries) || effect === "read") return runLocked(args);
		const chosen = await choose(definition, args, bot);
		if (!chosen) return runLocked(args);
		const { dry_run } = args as { dry_run?: boolean };
		const whole = { ...args, user_ids: chosen.ids, dry_run: dry_run || chosen.isShownOnly };
		const ended = new Set<string>();
		const runWhole = () => runLocked(whole, chosen);
		const output = await noteItems((id) => ended.add(id), runWhole).finally(() => chosen.done(ended));
		if (!whole.dry_run && ended.size === 0) chosen.done(new Set(chosen.ids));
		return parts(output, chosen.notes);
	};
	const work = withinDeadline(limits, call.signal, onBug, () => onceLoaded(bot, call, runOnce));
	return takesGuild ? withGuildNote(work, bot, args as JsonObject) : work;
}

/** If it was refused because members of a guild are still being loaded, runs it again when they are. */
async function onceLoaded({ connection }: BotContext, call: ToolCall, work: () => Promise<Output>): Promise<Output> {
	try {
		return await work();
	} catch (error) {
		const run = currentRun();
		if (!(error instanceof MembersLoading) || run?.mayWrite) throw error;
		const { guild } = error;
		while (!connection.hasAllMembers(guild)) {
			if (run?.signal.aborted || timeLeftMs() < loadReserveMs) throw error;
			call.reportProgress(guild.members.cache.size, guild.memberCount);
			await sleep(loadLookMs);
		}
		return work();
	}
}

/** Checks first what the caller may do at all, for any target. */
async function choose<Entries extends v.ObjectEntries>(
	definition: Defined<Entries>,
	args: ArgumentsOf<Entries>,
	bot: BotContext,
): Promise<Chosen | undefined> {
	const { name: tool, effect, input } = definition;
	const guild = await findGuild(bot, args as JsonObject, effect);
	if (definition.person?.managesBot) await requireBotManager(bot);
	authorize(definition, { ...args, user_ids: [] }, guild, {});
	const { max } = input.where as unknown as { max: number };
	return choosePeople({ tool, args, max, isReviewed: bot.review !== undefined }, { ...contextOf(bot), guild });
}

const currentTime = /\bnow is \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

/** After all checks. Before anything changes, `review` sees what the call would do. */
async function run<Entries extends v.ObjectEntries>(
	definition: Defined<Entries>,
	{ dry_run, ...given }: ArgumentsOf<Entries> & { dry_run?: boolean },
	bot: BotContext,
	call: ToolCall,
	things: Record<string, unknown>,
	guild?: Guild,
): Promise<Output> {
	const args = given as ArgumentsOf<Entries>;
	// Typed by `ContextFor`.
	const context = { ...contextOf(bot), ...(guild && { guild }), ...things } as unknown as ContextFor<Entries>;
	const why = await definition.destructive?.(args, context);
	if (why !== undefined) {
		const { name } = definition;
		const refusal = whyNoAccess(bot.principal, { name, effect: "destructive" }, why);
		if (refusal !== undefined) throw new ToolError(refusal);
		call.onDestructive?.();
	}
	const plan = await definition.plan?.(args, context);
	const preview = async (): Promise<Preview> => {
		const people = why !== undefined && !isForPeople() && saidDestructive(why);
		const note = why === undefined ? [] : [result(`Counts as destructive: it ${why}.`, people)];
		if (plan?.preview === undefined) {
			const names = Object.keys(args)
				.sort()
				.flatMap((key) => {
					const all = [things[thingName(key)]].flat().flatMap((thing) => nameIn(thing) ?? []);
					return all.length > 0 ? [`${key}: ${all.join(", ")}`] : [];
				});
			return { lines: undefined, shown: note, names, basis: [...names, ...forModels(note)] };
		}
		const planned = typeof plan.preview === "function" ? await plan.preview() : plan.preview;
		const { chosen } = things as { chosen?: Chosen };
		const basis = chosen?.ids ?? (typeof plan.basis === "function" ? plan.basis(forModels(planned)) : plan.basis);
		const shown = parts(planned, note);
		const lines = forModels(shown);
		const own = basis === undefined ? lines.map((line) => line.replace(currentTime, "now")) : [basis, forModels(note)];
		return { lines, shown, basis: own.flat(), leavesOut: plan.leavesOut };
	};
	if (dry_run) {
		const { lines = [], shown = lines, basis } = await preview();
		bot.onDryRun?.(basis);
		// The command asks a person whether to do it.
		return isForPeople() ? shown : ["Dry run: nothing was done.", ...lines];
	}
	if (bot.review) await bot.review(await preview());
	if (!plan) return (await definition.run?.(args, context, call)) ?? [];
	permitWrites();
	const { record: draft } = plan;
	const output = await recorded(draft, args, bot, guild, async () => {
		if ("act" in plan) return plan.act(call);
		await plan.write();
		return plan.result;
	});
	if (!draft || !guild || !bot.announcer) return output;
	const notes = await bot.announcer.after({ guild, draft, args, place: bot.announceFrom });
	return parts(
		output,
		notes.map((note) => result(render(note, "en"), note)),
	);
}

// Without this line, an assistant that omits `guild_id` would not notice that it works in the wrong guild.
async function withGuildNote(work: Promise<Output>, bot: BotContext, args: JsonObject): Promise<Output> {
	try {
		const output = await work;
		const note = guildNote(bot, args);
		return note === undefined ? output : parts(output, note);
	} catch (error) {
		const note = guildNote(bot, args);
		if (note === undefined || !(error instanceof ToolError)) throw error;
		throw new ToolError(`${error.message}\n${note}`, { cause: error });
	}
}

function guildNote(bot: BotContext, args: JsonObject): string | undefined {
	if (args.guild_id) return undefined;
	const guilds = possibleGuilds(bot);
	const guild = guilds.find(({ id }) => id === bot.guildId);
	// The name of an unavailable guild may be unknown.
	return guild?.available && guilds.length > 1
		? `In the guild ${guildName(guild)}, the bot's own: guild_id was omitted.`
		: undefined;
}

type RunLimits = Omit<ToolRun, "signal" | "endsAt" | "onWrite">;

// A destructive tool must not change anything while it makes its plan.
function runLimits<Entries extends v.ObjectEntries>(
	{ input, effect, plan }: Defined<Entries>,
	args: object,
	bot: BotContext,
): RunLimits {
	const { reason } = args as { reason?: string };
	const isOfChat = bot.principal?.id.startsWith(chatIdStart);
	const none = isOnDiscord(bot.principal) || isOfChat ? "No reason given" : defaultReason;
	const chosen = chosenReason(reason || none);
	const approved = bot.approvedBy && `approved by ${bot.approvedBy}`;
	const caller = [describeCaller(bot), approved].filter(Boolean).join(", ");
	return {
		caller: (bot.principal ?? rootPrincipal).id,
		reason: caller ? withCaller(chosen, caller) : "reason" in input ? chosen : undefined,
		// A tool with a plan may write after that is made.
		mayWrite: effect === "write" && !plan,
		isReviewed: bot.review !== undefined,
		beforeWrite: bot.beforeWrite,
		beforeStore: bot.beforeStore,
		onItem: bot.onItem,
	};
}

function describeCaller(bot: BotContext) {
	const principal = withPersonName(bot);
	if (!principal || principal.id === "root") return undefined;
	const { person, name, client = name } = principal;
	if (!person) return client === name ? `by ${name}` : `by ${client}, key ${name}`;
	// The name of a sign-in is that of the client to which the person agreed.
	const by = person.signedIn ? name : client;
	return `for ${person.name || person.id}, by ${by}`;
}

function lock<Args extends object, T>(
	{ lock: locked = [] }: Needs<Args>,
	args: Args,
	bot: BotContext,
	work: () => Promise<T>,
): Promise<T> {
	const { mutex, guildId } = bot;
	const names = [locked].flat() as (keyof Args)[];
	const keys =
		typeof locked === "function"
			? locked(args, bot).flatMap((key) => key || [])
			: names.flatMap((name) => args[name] || (guildId ?? [])).map(String);
	return keys.length > 0 ? mutex.withLock(keys, work) : work();
}

function contextOf(bot: BotContext): ToolContext {
	return {
		...bot,
		discord: bot.connection.discord,
		mayTouch: (guildId) => isAdmitted(bot, guildId),
		async otherGuild(id) {
			const guild = await findGuild(bot, { guild_id: id }, "read");
			const person = actingPerson(guild);
			if (person) requireOf(person, undefined, PermissionFlagsBits.Administrator);
			return guild;
		},
	};
}

async function withinDeadline<T>(
	limits: RunLimits,
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
			// A pending platform call rejects first, with an error that states whether its request was sent.
			const end = () =>
				setTimeout(() => reject(new SaidError(said("error.timeout"), { models: timedOut, isFailure: true })));
			if (signal.aborted) end();
			else signal.addEventListener("abort", end);
			withinRun(run, work).then(resolve, reject);
		});
	} catch (error) {
		const known = error instanceof RpcError ? error : toToolError(error);
		if (known || error instanceof ToolError || !wrote) throw known ?? error;
		onBug(error);
		throw new SaidError(said("error.after_write"), { models: failedAfterWrite, cause: error, isFailure: true });
	} finally {
		deadlines.end(signal);
	}
}

async function resolve(entries: v.ObjectEntries, args: JsonObject, guild: Guild, { connection }: BotContext) {
	const things: Record<string, unknown> = {};
	for (const [key, schema] of Object.entries(entries)) {
		const find = finderOf(schema);
		const value = args[key];
		if (!find || value === undefined) continue;
		things[thingName(key)] = Array.isArray(value)
			? await Promise.all(value.map((id: string) => find(guild, id, connection)))
			: await find(guild, value as string, connection);
	}
	return things;
}

function finderOf(schema: unknown): Finder<unknown> | undefined {
	const { find, wrapped, item } = schema as { find?: Finder<unknown>; wrapped?: unknown; item?: unknown };
	if (find) return find;
	if (wrapped) return finderOf(wrapped);
	return item ? finderOf(item) : undefined;
}

function thingName(key: string): string {
	return key.replace(/_(?:id|code)(s?)$/, "$1");
}

type Authorized<Args> = Needs<Args> & { effect: Effect };

function authorize<Args extends object>(
	definition: Authorized<Args>,
	args: Args,
	guild: Guild,
	things: Record<string, unknown>,
): void {
	const { ranked } = definition;
	const person = actingPerson(guild);
	if (person) {
		requireAll(definition, args, guild, things, person);
		const { permissionsIn } = definition;
		const more = { ...(permissionsIn !== "run" && { permissionsIn }), ...definition.person };
		requireAll(more, args, guild, things, person);
		requireOpenThreads(definition, things, person);
		if (ranked) requireBelow(guild, things, ranked, person);
	}
	requireAll(definition, args, guild, things);
	if (ranked) requireBelow(guild, things, ranked);
}

function requireAll<Args extends object>(
	definition: Pick<Needs<Args>, "permissions" | "permissionsIn">,
	args: Args,
	guild: Guild,
	things: Record<string, unknown>,
	person?: GuildMember,
): void {
	const { permissions, permissionsIn = "channel_id" } = definition;
	if (!permissions) return;
	const member = person ?? botMember(guild);
	const inGuild = permissions.flatMap((one) => (typeof one === "object" && "inGuild" in one ? [one.permission] : []));
	requireOf(member, undefined, bitsIn(undefined, inGuild));
	if (permissionsIn === "run") return;
	const all = neededBy(permissions, args, guild, person);
	const names = all.map(({ permission }) => permission);
	const why = (missing: bigint) =>
		all.flatMap(({ permission, why = "" }) => (why && (missing & PermissionFlagsBits[permission]) !== 0n ? [why] : []));
	// Discord ignores the channel if guild-wide permissions suffice.
	const checksChannels = permissions.length === 0 || !permissions.every((item) => isHeldInGuild(item, guild, person));
	for (const channel of channelsOf(things, thingName(permissionsIn)))
		requireOf(member, channel, bitsIn(channel, names) | (checksChannels ? impliedIn(channel) : 0n), why);
}

/** Without MANAGE_THREADS, people may only delete messages and react in a locked thread, until it is archived. */
function requireOpenThreads<Args extends object>(
	{ effect, permissionsIn, person: needs }: Authorized<Args>,
	things: Record<string, unknown>,
	person: GuildMember,
): void {
	if (effect === "read" || permissionsIn === "run") return;
	const { inLockedThreads = effect === "destructive" } = needs ?? {};
	const { ManageThreads } = PermissionFlagsBits;
	for (const channel of channelsOf(things, thingName(permissionsIn ?? "channel_id"))) {
		if (!channel?.isThread() || !channel.locked) continue;
		if (inLockedThreads && !channel.archived) continue;
		requireOf(person, channel, ManageThreads, () => [said("refusal.why.locked")]);
	}
}

function channelsOf(things: Record<string, unknown>, argument: string): readonly (GuildBasedChannel | undefined)[] {
	const { connectedTo } = (things.user ?? {}) as Partial<VoiceMember>;
	const owner = (things.webhook ?? things.invite ?? {}) as { channel?: GuildBasedChannel };
	const target = things[argument] as GuildBasedChannel | GuildBasedChannel[] | undefined;
	const channels = [target, connectedTo, owner.channel].flat().filter((channel) => channel !== undefined);
	return channels.length > 0 ? channels : [undefined];
}

function requireBelow(
	guild: Guild,
	{ role, roles = [], user, users = [] }: Record<string, unknown>,
	ranked: true | "others",
	person?: GuildMember,
): void {
	const argument = [role, roles].flat().filter((item) => item instanceof Role);
	// To assign or remove a role, the bot must rank above the role, not above the member.
	const actor = person ?? botMember(guild);
	if (argument.length > 0) {
		requireRolesBelow(guild, argument, [actor]);
		return;
	}
	const members = [user, users]
		.flat()
		.map((item) => (item instanceof GuildMember ? item : (item as Person | undefined)?.member))
		.filter((item) => item !== undefined);
	const others = members.filter(({ id }) => id !== actor.id);
	requireMembersBelow(guild, ranked === "others" ? others : members, [actor]);
}
