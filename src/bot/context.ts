// What a tool is given, and the one runner that every tool goes through: arguments checked, guild resolved, deadline,
// Discord's refusals turned into advice, result encoded.

import type { Client, Guild } from "discord.js";
import type * as v from "valibot";
import type { JsonObject } from "../mcp/json-rpc.ts";
import {
	invalidParameters,
	tool as mcpTool,
	type Tool,
	type ToolDefinition,
	ToolError,
} from "../mcp/tool.ts";
import type { Connection } from "./connection.ts";
import { toToolError } from "./errors.ts";
import { withDeadline } from "./rest.ts";

/** What a whole tool may take; each platform call in it has 10 s of its own. */
const toolTimeoutMs = 25_000;

/** What all tools of a bot act on. */
export interface BotContext {
	connection: Connection;
	/** The guild that is meant when none is named. */
	guildId: string | undefined;
}

/** What `run` is given beside its arguments. */
export interface ToolContext {
	discord: Client<true>;
	connection: Connection;
}

/** The same for a tool with a `guild_id`: the guild is settled before it runs. */
export interface GuildToolContext extends ToolContext {
	guild: Guild;
}

type ContextFor<Entries> = "guild_id" extends keyof Entries
	? GuildToolContext
	: ToolContext;

/** A tool of the bot. With `guild_id` among its arguments, its guild is resolved before `run`. */
export function tool<const Entries extends v.ObjectEntries>(
	definition: ToolDefinition<Entries, ContextFor<Entries>>,
): Tool<BotContext> {
	const takesGuild = "guild_id" in definition.input.entries;
	const checked = mcpTool<Entries, BotContext>({
		...definition,
		run: (args, bot) =>
			runBounded(async () => {
				const context: ToolContext = {
					discord: bot.connection.discord,
					connection: bot.connection,
				};
				// The two shapes of context are told apart by the arguments, as in ContextFor.
				const full = takesGuild
					? { ...context, guild: findGuild(context.discord, bot, args) }
					: context;
				return definition.run(args, full as ContextFor<Entries>);
			}),
	});
	if (takesGuild) return checked;
	return {
		...checked,
		// A gateway needed it to find us; to this tool it says nothing.
		call: ({ guild_id: _, ...args }, bot) => checked.call(args, bot),
	};
}

/** Runs `work` within the tool's time, its failures said as Discord's where they are. */
async function runBounded<T>(work: () => Promise<T>): Promise<T> {
	const signal = AbortSignal.timeout(toolTimeoutMs);
	try {
		return await withDeadline(signal, work);
	} catch (error) {
		throw toToolError(error) ?? error;
	}
}

function findGuild(
	discord: Client<true>,
	bot: BotContext,
	args: JsonObject,
): Guild {
	// An empty id means absent.
	const id = (args.guild_id as string | undefined) || bot.guildId;
	if (!id)
		throw invalidParameters([
			"guild_id: is required, because this instance has no GUILD_ID",
		]);
	const guild = discord.guilds.cache.get(id);
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
