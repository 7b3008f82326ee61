// Protection against spam from hijacked accounts: detects it, times the author out, deletes the messages, and posts a
// moderation log entry with buttons to undo the timeout. On in guilds with the setting spam.on.

import { type Client, Events } from "discord.js";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { within } from "../../../lib/wait.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import type { Values } from "../../settings/keys.ts";
import { Durable } from "../../store/durable.ts";
import type { Cases } from "../cases/cases.ts";
import { createFileContent } from "../cdn-files.ts";
import type { ModerationLog } from "../moderation-log.ts";
import { createAllowances } from "./allowances.ts";
import { createAutomodLog } from "./automod-log.ts";
import { createDetector, type Detection } from "./detector.ts";
import { defaultTiming, Incidents, type IncidentsTiming } from "./incidents.ts";
import { createButtons, createEntries } from "./log-entry.ts";

export interface SpamOptions extends Pick<FeatureOptions, "connection" | "store" | "mutex" | "log" | "callAs"> {
	settings: GuildSettings;
	cdn: string;
	cases: Cases;
	moderationLog: ModerationLog;
	timing?: IncidentsTiming;
	maxWatched?: number;
	now?: () => number;
}

function rulesIn(values: Values) {
	if (!values["spam.on"]) return undefined;
	return {
		channels: values["spam.channels"],
		times: values["spam.times"],
		windowMs: values["spam.window"],
		honeypots: values["spam.honeypots"],
		links: values["spam.links"],
		exemptRoles: values["spam.exempt_roles"],
		presets: values["automod.presets"],
	};
}

export function createSpam(options: SpamOptions) {
	const { settings, connection, store, log, cases } = options;
	const { timing = defaultTiming, now = Date.now } = options;
	const closing = new AbortController();
	const allowances = createAllowances(store, log, now);
	const entries = createEntries({
		...options,
		closing: closing.signal,
		backOffMs: timing.backOffMs,
		...options.moderationLog,
		onPosted: (...entry) => void cases.setEntry(...entry),
	});
	const shared = { ...options, timing, now, closing: closing.signal, entries };
	const incidents = new Incidents(shared);
	const automodLog = createAutomodLog({ ...shared, isFound: (...person) => incidents.isOpen(...person) });
	const detector = createDetector({
		rulesOf: (guildId) => rulesIn(settings.of(guildId)),
		compareFiles: createFileContent({ cdn: options.cdn, log }),
		isAllowed: ({ guild, id }) => allowances.has(guild.id, id),
		spamOf: (member) => incidents.hashesOf(member),
		onSpam,
		onError: (error) => log.error("could not look for spam in a message: internal error", { error }),
	});
	const buttons = createButtons({
		...options,
		allowances,
		onUndone(guildId, userId) {
			incidents.release(guildId, userId);
			automodLog.release(guildId, userId);
			detector.forget(guildId, userId);
		},
	});
	let isLoaded = false;
	const backOffMs = [timing.backOffMs?.[0] ?? 1_000, 60_000] as const;
	const work = new Durable({ name: "spam", log, backOffMs, scan: async () => [] });
	const resume = () =>
		void work.add({
			key: "resume",
			failure: "could not continue with spam",
			async run() {
				await loadAllowances();
				if (connection.ready) await incidents.resume((id) => connection.guild(id)?.available === true);
			},
		});

	async function loadAllowances(): Promise<void> {
		await settings.ready();
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

	return {
		components: [buttons],
		attach(client: Client) {
			client.on(Events.MessageCreate, detector.see);
			client.on(Events.GuildMemberUpdate, (_, member) => incidents.see(member));
			client.on(Events.AutoModerationActionExecution, automodLog.see);
			client.on(Events.MessageUpdate, (before, message) => {
				// Discord also sends this event when it adds a link preview.
				if (!message.partial && !before.partial && before.content !== message.content) detector.see(message);
			});
			onSessionOrGuild(client, resume);
		},
		start: resume,
		async close() {
			closing.abort();
			await Promise.all([work.close(), incidents.close()]);
		},
	};
}
