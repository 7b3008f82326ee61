// Protection against spam from hijacked accounts: detects it, times the author out, deletes the messages, and posts a
// moderation log entry with buttons to undo the timeout. Off without the section [moderation.spam].

import { type Client, Events } from "discord.js";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { within } from "../../../lib/wait.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import type { BotConfig } from "../../config/config.ts";
import { Durable } from "../../store/durable.ts";
import { deleteOldSpam } from "../../store/tables/spam-incidents.ts";
import type { Cases } from "../cases/cases.ts";
import type { ModerationLog } from "../moderation-log.ts";
import { createAllowances } from "./allowances.ts";
import { createButtons } from "./buttons.ts";
import { createDetector, type Detection } from "./detector.ts";
import { createFileContent } from "./file-content.ts";
import { defaultTiming, Incidents, type IncidentsTiming } from "./incidents.ts";
import { createEntries } from "./log-entry.ts";

const keepMs = 30 * 86_400_000;
const shutdownGraceMs = 3_000;

/** Discord's limit is 28 days, and clocks differ. */
const maxTimeoutMs = 28 * 86_400_000 - 60_000;

type ModerationSettings = NonNullable<BotConfig["toml"]["moderation"]>;
type SpamSettings = NonNullable<ModerationSettings["spam"]>;

export interface SpamOptions extends Pick<FeatureOptions, "connection" | "store" | "mutex" | "log" | "callAs"> {
	settings: SpamSettings;
	/** Undefined if people are not told of their timeout. */
	tell?: { appeal: string | undefined } | undefined;
	cdn: string;
	cases: Pick<Cases, "add" | "find" | "edit">;
	moderationLog: Pick<ModerationLog, "channelOf">;
	timing?: IncidentsTiming;
	maxWatched?: number;
	now?: () => number;
}

export function createSpamFeature(
	options: FeatureOptions,
	{ cases, moderationLog }: Pick<SpamOptions, "cases" | "moderationLog">,
) {
	const { discordCdnUrl, toml } = options.config;
	const { moderation } = toml;
	const settings = moderation?.spam;
	return (
		settings &&
		createSpam({
			...options,
			settings,
			tell: moderation.tell.includes("spam") ? { appeal: moderation.appeal } : undefined,
			cases,
			moderationLog,
			cdn: discordCdnUrl,
		})
	);
}

export function createSpam(options: SpamOptions) {
	const { settings, connection, store, log, cases } = options;
	const { timing = defaultTiming, now = Date.now } = options;
	const closing = new AbortController();
	const isDry = settings.dry;
	const allowances = createAllowances(store, log, now);
	const incidents = new Incidents({
		...options,
		isDry,
		timing,
		now,
		timeoutMs: Math.min(settings.timeout, maxTimeoutMs),
		closing: closing.signal,
		telling: options.tell && { connection, log, appeal: options.tell.appeal },
		entries: createEntries({
			connection,
			log,
			isDry,
			closing: closing.signal,
			backOffMs: timing.backOffMs,
			channelOf: options.moderationLog.channelOf,
		}),
	});
	const detector = createDetector({
		channels: settings.channels,
		times: settings.times,
		windowMs: settings.window,
		honeypots: settings.honeypots,
		links: settings.links,
		exemptRoles: settings.exempt_roles,
		compareFiles: createFileContent({ cdn: options.cdn, log }),
		isAllowed: ({ guild, id }) => allowances.has(guild.id, id),
		spamOf: (member) => incidents.hashesOf(member),
		onSpam,
		onError: (error) => log.error("could not look for spam in a message: internal error", { error }),
	});
	const buttons = createButtons({
		cases,
		allowances,
		store,
		log,
		callAs: options.callAs,
		onUndone(guildId, userId) {
			incidents.release(guildId, userId);
			detector.forget(guildId, userId);
		},
	});
	let isLoaded = false;
	let mustResume = true;
	const work = new Durable({
		name: "spam",
		log,
		backOffMs: [timing.backOffMs?.[0] ?? 1_000, 60_000],
		clean: () => deleteOldSpam(store.sql, now() - keepMs),
		scan: async () =>
			(mustResume && connection.ready) || !isLoaded
				? [{ key: "resume", failure: "could not continue with spam", run: resume }]
				: [],
	});

	async function loadAllowances(): Promise<void> {
		if (!isLoaded) await allowances.load();
		isLoaded = true;
	}

	function onSpam(detection: Detection): void {
		if (isLoaded) {
			incidents.add(detection);
			return;
		}
		// Shortly after a start, the allowances may not be loaded yet.
		const { id, guild } = detection.member;
		void within(timing.storeMs, loadAllowances())
			.catch(() => {})
			.then(() => {
				if (!allowances.has(guild.id, id)) incidents.add(detection);
			});
	}

	async function resume(): Promise<void> {
		await loadAllowances();
		if (!connection.ready) return;
		mustResume = false;
		try {
			await incidents.resume((id) => connection.guild(id)?.available === true);
		} catch (error) {
			mustResume = true;
			throw error;
		}
	}

	return {
		components: [buttons],
		attach(client: Client) {
			client.on(Events.MessageCreate, detector.see);
			client.on(Events.GuildMemberUpdate, (_, member) => incidents.see(member));
			client.on(Events.MessageUpdate, (before, message) => {
				// Discord also sends this event when it adds a link preview.
				if (before.content !== message.content) detector.see(message);
			});
			onSessionOrGuild(client, () => {
				mustResume = true;
				work.wake();
			});
		},
		start: work.wake,
		async close() {
			closing.abort();
			await Promise.all([work.close(), within(shutdownGraceMs, incidents.close())]);
		},
	};
}
