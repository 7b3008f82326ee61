// The simulator and the real bot with approval, which is called as a gateway calls it: with a token and a principal.

import { PermissionFlagsBits } from "discord.js";
import { type Bot, startBot } from "../../../src/bot/bot.ts";
import { HttpClient } from "../../../src/gateway/http/http-client.ts";
import { isObject, type JsonObject } from "../../../src/lib/json.ts";
import type { Principal } from "../../../src/lib/principal.ts";
import { type ClientSession, createClient } from "../../../src/mcp/client.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { buttonsIn } from "../../../src/simulator/world/messages/components.ts";
import type { Guild, Message } from "../../../src/simulator/world/state/entities.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { type SettingsOfGuilds, splitSettings, storeSettings } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { channelNamed, memberNamed, quickTiming, roleOverwrite } from "../../support/world.ts";

export const token = "a-token-of-enough-length";

/** The result of a call, or the error of a JSON-RPC response. */
export interface Answer {
	text: string;
	isError: boolean;
	/** The id of the request for approval that the call waits for. */
	pending: string | undefined;
	code?: number;
}

export interface ApprovalWorldOptions {
	/** Keys of [mcp]. */
	mcp?: (simulator: Simulator) => Record<string, unknown>;
	/** The guild's settings `approval.*`. Default: the staff channel, and no roles. */
	approval?: (simulator: Simulator) => { channel?: string | undefined; roles?: readonly string[] };
	/** Other sections of config.toml, and of the guild's settings. */
	toml?: (simulator: Simulator) => Record<string, unknown>;
	/** Settings of other guilds. */
	others?: (simulator: Simulator) => SettingsOfGuilds;
	/** How long a direct call waits for a decision. */
	waitMs?: number;
	/** False: the bot's database cannot be reached. */
	hasDatabase?: boolean;
	/** Before the bot starts. */
	prepare?(simulator: Simulator): void;
}

export interface ApprovalWorld extends AsyncDisposable {
	simulator: Simulator;
	guild: Guild;
	readonly bot: Bot;
	log: ReturnType<typeof recordLog>;
	/** The bot's clock, in epoch milliseconds. */
	clock: { offsetMs: number };
	/** Calls a tool for a principal; undefined: as a direct client. */
	call(principal: Principal | undefined, tool: string, args?: JsonObject, requestId?: string): Promise<Answer>;
	/** Sends another MCP request. */
	ask(principal: Principal | undefined, method: string, params: JsonObject, requestId?: string): Promise<JsonObject>;
	/** The bot's messages in the channel for requests. */
	posts(): Message[];
	/** Presses a button of a message, by default the latest. Resolves with the bot's reply. */
	press(who: string, button: string, message?: Message): Promise<string>;
	/** What the button Details of a message shows, by default of the latest. */
	details(who?: string, message?: Message): Promise<Details>;
	/** The text of get_approval. */
	state(principal: Principal | undefined, id: string): Promise<string>;
	/** Waits until the title of a message contains this. */
	shown(text: string, message?: Message): Promise<Message>;
	person(name: string): { id: string; name: string; signedIn: boolean };
	restart(): Promise<void>;
}

interface Details {
	text: string;
	ephemeral: boolean;
	attachments: Message["attachments"];
}

export const staffChannel = "The Cooks/staff";

/** A key, for a person if one is given. */
export function key(name: string, person?: Principal["person"]): Principal {
	const principal = { id: `key:${name}`, name, access: "all" as const };
	return person ? { ...principal, client: "Claude", person } : principal;
}

export async function startApprovalWorld(options: ApprovalWorldOptions = {}): Promise<ApprovalWorld> {
	const simulator = await startSimulator();
	options.prepare?.(simulator);
	const guild = simulator.guild("The Cooks");
	const { id: channelId } = simulator.channel(staffChannel);
	const log = recordLog();
	const clock = { offsetMs: 0 };
	const { toml, stored } = splitSettings({
		...options.toml?.(simulator),
		mcp: { approval: "destructive", ...options.mcp?.(simulator) },
		approval: { channel: channelId, ...options.approval?.(simulator) },
	});
	const config = connectedConfig(simulator, {
		guildId: guild.id,
		mcpToken: token,
		...(options.hasDatabase === false && {
			databaseUrl: "postgres://nobody:nothing@127.0.0.1:1/none",
			dbSchema: "none",
		}),
		toml,
	});
	if (options.hasDatabase !== false)
		await storeSettings(config, { [guild.id]: stored, ...options.others?.(simulator) });
	const start = async () => {
		const bot = startBot(config, log.log, {
			timing: quickTiming,
			requestsPerSecond: 1_000_000,
			approval: { waitMs: options.waitMs ?? 0, now: () => Date.now() + clock.offsetMs, backOffMs: [5, 50] },
		});
		await until("the bot is ready", () => (options.hasDatabase === false ? bot.ready : bot.loaded));
		const client = createClient({
			dispatch: new HttpClient({ url: bot.url }).dispatch,
			token,
			info: { name: "test client", version: "0" },
		});
		const session = await client.connect(AbortSignal.timeout(90_000));
		return { bot, client, session };
	};
	let life: { bot: Bot; client: ReturnType<typeof createClient>; session: ClientSession } = await start();

	const posts = () =>
		simulator.world.messages.in(channelId).filter(({ author }) => author.id === simulator.bot("alpha").id);
	const latest = () => {
		return present(posts().at(-1));
	};
	const ask: ApprovalWorld["ask"] = async (principal, method, params, requestId) => {
		const { message } = await life.client.request(
			life.session,
			method,
			JSON.stringify(params),
			AbortSignal.timeout(90_000),
			{ principal, requestId },
		);
		return message;
	};
	const call: ApprovalWorld["call"] = async (principal, name, args = {}, requestId) => {
		const params = { name, arguments: args };
		const message = await ask(principal, "tools/call", params, requestId);
		return readAnswer(message);
	};
	return {
		simulator,
		guild,
		log,
		clock,
		call,
		ask,
		posts,
		get bot() {
			return life.bot;
		},
		async press(who, button, message = latest()) {
			const pressed = await simulator.user(who).press(message, button);
			return (await pressed.reply()).content;
		},
		async details(who = "ada", message = latest()) {
			const pressed = await simulator.user(who).press(message, "Details");
			const { content, ephemeral, embeds, attachments } = await pressed.reply();
			return { text: embeds[0]?.description ?? content, ephemeral, attachments };
		},
		async state(principal, id) {
			return (await call(principal, "get_approval", { approval_id: id })).text;
		},
		shown: (text, message = latest()) =>
			until(`the message shows ${text}`, () => {
				const current = simulator.world.messages.get(channelId, message.id);
				return titleOf(current).includes(text) && current;
			}),
		person(name) {
			const { id, username } = simulator.user(name);
			return { id, name: username, signedIn: false };
		},
		async restart() {
			await life.bot.close();
			life = await start();
		},
		async [Symbol.asyncDispose]() {
			await life.bot.close();
			await simulator.close();
		},
	};
}

export const approvalTest = testWith(startApprovalWorld);

/** Arguments of a ban. */
export const ban = ({ simulator }: ApprovalWorld, name = "zoe", more = {}) => ({
	user_ids: [simulator.user(name).id],
	...more,
});

export const isBanned = ({ guild, simulator }: ApprovalWorld, name = "zoe") => guild.bans.has(simulator.user(name).id);

/** Changes zoe's nickname. Resolves when the bot knows it. */
export async function rename(world: ApprovalWorld, nick: string): Promise<void> {
	const { simulator, guild } = world;
	const look = async () => (await world.call(undefined, "get_member", ban(world))).text;
	const before = await look();
	simulator.world.members.edit(guild, memberNamed({ guild }, "zoe"), { nick });
	await until("the bot knows it", async () => (await look()) !== before);
}

export function readAnswer({ result, error }: JsonObject): Answer {
	if (isObject(error))
		return { text: String(error.message), isError: true, pending: undefined, code: Number(error.code) };
	const {
		content,
		isError = false,
		_meta,
	} = result as { content: { text: string }[]; isError?: boolean; _meta?: JsonObject };
	const pending = _meta?.["guildhall/pending"];
	return {
		text: content.map(({ text }) => text).join("\n"),
		isError,
		pending: typeof pending === "string" ? pending : undefined,
	};
}

/** The title of a message's embed. */
export function titleOf(message: Message | undefined): string {
	return message?.embeds[0]?.title ?? "";
}

/** The description of a message's embed. */
export function descriptionOf(message: Message | undefined): string {
	return message?.embeds[0]?.description ?? "";
}

/** The fields of a message's embed by name. */
export function fieldsOf(message: Message | undefined): Record<string, string> {
	return Object.fromEntries((message?.embeds[0]?.fields ?? []).map(({ name, value }) => [name, value]));
}

/** The labels of the buttons that can be pressed. */
export function buttonsOf(message: Message | undefined): string[] {
	return buttonsIn(message?.components ?? []).flatMap(({ label, disabled }) =>
		disabled || label === undefined ? [] : [label],
	);
}

/** The pending id of a call that waits for approval. */
export function pendingId({ pending, text }: Answer): string {
	if (pending === undefined) throw new Error(`not pending: ${text}`);
	return pending;
}

/** Lets everyone see the channel for requests. */
export function openStaff(simulator: Simulator): void {
	const { id } = simulator.guild("The Cooks");
	const overwrite = roleOverwrite(id, { allow: PermissionFlagsBits.ViewChannel });
	simulator.world.channels.setOverwrite(channelNamed(simulator, "staff"), overwrite);
}
