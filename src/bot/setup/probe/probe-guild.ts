// `bot --probe-guild`: tries on Discord what the simulator only guesses, in a guild made for it, and removes what it made.

import type { Client, Guild } from "discord.js";
import type { Log } from "../../../lib/log.ts";
import { askOnTerminal } from "../../../lib/program/ask.ts";
import { CheckFailed } from "../../../lib/program/check.ts";
import type { BotConfig } from "../../config/config.ts";
import { bitsIn, describeBits, missingForBot, type Permission } from "../../discord/permissions.ts";
import { describePlatformError } from "../../discord/rest/errors.ts";
import { createConnection, logIn } from "../check.ts";
import { guildName, inviteTo } from "../guild-checks.ts";
import { inviteUrl } from "../invite.ts";
import { probes as allProbes, type Probe } from "./probes.ts";
import { NotTried, probeName, Workspace } from "./workspace.ts";

/**
 * Maximum number of members of a guild in which `--probe-guild` tests Discord's behaviour. Larger guilds are refused,
 * because they are probably not test guilds.
 */
const maxMembers = 20;

/**
 * Two signals within this many milliseconds count as one press of Ctrl-C, because `bun run` forwards the terminal's
 * signal.
 */
const secondSignalMs = 500;

const needed: readonly Permission[] = [
	"ViewChannel",
	"SendMessages",
	"SendMessagesInThreads",
	"CreatePublicThreads",
	"ManageThreads",
	"ReadMessageHistory",
	"AttachFiles",
	"SendPolls",
	"ManageChannels",
	"ManageRoles",
	"ManageWebhooks",
	"ManageGuild",
	"CreateInstantInvite",
	"CreateGuildExpressions",
	"CreateEvents",
	"ManageEvents",
	"SetVoiceChannelStatus",
	"Connect",
	"MuteMembers",
	"MoveMembers",
	"ModerateMembers",
	"BanMembers",
	"ViewAuditLog",
];

export interface ProbeOptions {
	guildId: string;
	/** Whether `--probe-guild` starts without asking the operator for confirmation. */
	yes?: boolean | undefined;
	json?: boolean | undefined;
	/**
	 * Receives, line by line, the report on which assumptions about Discord's behaviour were confirmed. Default: stdout.
	 */
	write?: (line: string) => void;
	/** Receives questions and progress messages, line by line. Default: stderr. */
	report?: (line: string) => void;
	/**
	 * Asks the operator for confirmation. Default: asks on the terminal; resolves with false if stdin is not a
	 * terminal.
	 */
	ask?: (question: string) => Promise<boolean>;
	/** Aborts `--probe-guild`. Everything that was created in the test guild is still removed. */
	signal?: AbortSignal;
	/** Milliseconds between two polls for something that Discord does with a delay, such as an audit log entry. */
	lookMs?: number;
	probes?: readonly Probe[];
	/**
	 * Called before `--probe-guild` creates anything in the test guild. `work` is the object that will create and remove
	 * things there.
	 */
	onStart?: (work: Workspace) => void;
}

type Result = Pick<Probe, "id" | "belief"> & {
	outcome: "confirmed" | "refuted" | "not tried";
	discord: string;
};

const marks = { confirmed: "✓", refuted: "✗", "not tried": "–" };

/**
 * Tests the project's unconfirmed assumptions about Discord's behaviour in a test guild and prints a report. Resolves
 * with true if no assumption was refuted, the tests were not interrupted, and the test guild was cleaned up.
 */
export async function probeGuild(config: BotConfig, log: Log, options: ProbeOptions): Promise<boolean> {
	const { report = console.error } = options;
	const connection = createConnection(config, log);
	try {
		await logIn(config, connection);
		return await probeWith(connection.discord, config, options);
	} catch (error) {
		if (!(error instanceof CheckFailed)) throw error;
		report(error.message);
		if (error.nextStep) report(error.nextStep);
		return false;
	} finally {
		await connection.close();
	}
}

async function probeWith(discord: Client<true>, { toml }: BotConfig, options: ProbeOptions): Promise<boolean> {
	const { guildId, report = console.error, probes = allProbes } = options;
	const guild = discord.guilds.cache.get(guildId);
	if (!guild?.available)
		throw new CheckFailed(
			`the bot is not in the guild ${guildId}, or the guild is unavailable`,
			`Invite the bot: ${inviteTo(discord, toml)}`,
		);
	requireSuitable(guild);
	const left = leftBefore(guild);
	if (left.length > 0)
		report(`An earlier run of --probe-guild was killed and left in the guild: ${left.join("; ")}. Remove it by hand.`);
	const { yes, ask = askOnTerminal } = options;
	const question = `This makes hidden channels with messages, a role, an emoji, events and the like in ${guildName(guild)}, pauses its invites, and then undoes all of it. Go on?`;
	if (!yes && !(await ask(question)))
		throw new CheckFailed(
			"--probe-guild was not confirmed, so nothing was done",
			"Answer the question with yes, or pass --yes.",
		);

	const { signal = new AbortController().signal, lookMs = 2_000 } = options;
	const work = new Workspace(guild, signal, lookMs);
	options.onStart?.(work);
	const results: Result[] = [];
	try {
		for (const [index, probe] of probes.entries()) {
			report(`${index + 1}/${probes.length} ${probe.id}`);
			results.push(await tryOut(probe, work));
		}
	} finally {
		report("removing what was made");
		await work.cleanUp();
	}
	print(guild, results, work.leftovers, options);
	const isRefuted = results.some(({ outcome }) => outcome === "refuted");
	return !isRefuted && work.leftovers.length === 0 && !signal.aborted;
}

function requireSuitable(guild: Guild): void {
	if (guild.memberCount > maxMembers)
		throw new CheckFailed(
			`${guildName(guild)} has ${guild.memberCount} members, but --probe-guild changes only test guilds of at most ${maxMembers}`,
			"Create a guild for --probe-guild, with only you and the bot.",
		);
	const bits = bitsIn(undefined, needed);
	const missing = missingForBot(guild, undefined, bits);
	if (missing !== 0n)
		throw new CheckFailed(
			`the bot lacks ${describeBits(missing)} in ${guildName(guild)}`,
			`Give the bot's role these permissions, or invite the bot again: ${inviteUrl(guild.client.application.id, bits)}`,
		);
}

function leftBefore({ channels, roles, emojis }: Guild): string[] {
	return Object.entries({ channel: channels, role: roles, emoji: emojis })
		.flatMap(([kind, { cache }]) => [...cache.values()].map(({ id, name }) => ({ kind, id, name })))
		.filter(({ name }) => probeName.test(name ?? ""))
		.map(({ kind, id }) => `${kind} ${id}`);
}

async function tryOut({ id, belief, run }: Probe, work: Workspace): Promise<Result> {
	try {
		const { confirmed, discord } = await run(work);
		return {
			id,
			belief,
			outcome: confirmed ? "confirmed" : "refuted",
			discord,
		};
	} catch (error) {
		const discord = error instanceof NotTried ? error.message : describePlatformError(error);
		if (discord === undefined) throw error;
		return { id, belief, outcome: "not tried", discord };
	}
}

function print(
	guild: Guild,
	results: readonly Result[],
	leftovers: readonly string[],
	{ json, write = console.log }: ProbeOptions,
): void {
	if (json) {
		write(JSON.stringify({ guild: guild.id, results, leftovers }));
		return;
	}
	for (const { id, belief, outcome, discord } of results)
		write(`${marks[outcome]} ${id}: ${belief} ${outcome === "not tried" ? "Not tried" : "Discord"}: ${discord}`);
	const count = (wanted: Result["outcome"]) =>
		`${results.filter(({ outcome }) => outcome === wanted).length} ${wanted}`;
	write(`${count("confirmed")}, ${count("refuted")}, ${count("not tried")}`);
	if (leftovers.length > 0) write(`Not removed: ${leftovers.join("; ")}. Remove it by hand.`);
}

/**
 * Runs the tests of Discord's behaviour as a command line program. The first SIGINT, SIGTERM or SIGHUP stops the tests
 * and removes what they created; a second one exits at once and lists what remains.
 */
export function probeProgram(config: BotConfig, log: Log, options: ProbeOptions): Promise<boolean> {
	const controller = new AbortController();
	let work: Workspace | undefined;
	let stoppedAt: number | undefined;
	const stop = () => {
		const now = performance.now();
		if (stoppedAt !== undefined) {
			if (now - stoppedAt < secondSignalMs) return;
			console.error(`--probe-guild did not remove these from the guild: ${work?.remaining.join("; ")}`);
			process.exit(1);
		}
		stoppedAt = now;
		// There is nothing to remove before the start.
		if (!work) process.exit(1);
		console.error("--probe-guild was interrupted, and is removing what it created.");
		controller.abort(new NotTried("interrupted"));
	};
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
	return probeGuild(config, log, {
		...options,
		signal: controller.signal,
		onStart: (started) => {
			work = started;
		},
	});
}
