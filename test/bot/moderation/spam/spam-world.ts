// The part "spam" of the feature moderation alone, on the real connection and store, against the simulator.

import { ChannelType } from "discord.js";
import { Cases } from "../../../../src/bot/moderation/cases/cases.ts";
import { createModerationLog } from "../../../../src/bot/moderation/moderation-log.ts";
import type { IncidentsTiming } from "../../../../src/bot/moderation/spam/incidents.ts";
import { createSpam, type SpamOptions } from "../../../../src/bot/moderation/spam/spam.ts";
import { TempBans } from "../../../../src/bot/moderation/temp-bans.ts";
import type { Simulator } from "../../../../src/simulator/simulator.ts";
import type { AutoModerationRule, GuildChannel, User } from "../../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../../support/test-with.ts";
import { present, until } from "../../../support/until.ts";
import { addRule, userNamed } from "../../../support/world.ts";
import { type FeatureSetup, startFeature } from "../../features/running-feature.ts";

export const staffChannel = "The Cooks/staff";

export const quickTiming: IncidentsTiming = {
	storeMs: 60_000,
	timeoutMs: 60_000,
	quietMs: 20,
	watchMs: 60_000,
	gatherMs: 5,
	backOffMs: [5, 20],
};

/** A text that is long enough to count. */
export const advert = "Free gift for all members, claim it on my profile now!";

/** A picture, as Discord states it with a message. Its URL has no content. */
export function picture(id: number, size = 40_000) {
	return {
		id: String(900_000_000_000_000_000n + BigInt(id)),
		filename: "image.png",
		content_type: "image/png",
		size,
		width: 800,
		height: 600,
		url: `http://127.0.0.1:1/attachments/1/${id}/image.png`,
		proxy_url: `http://127.0.0.1:1/attachments/1/${id}/image.png`,
	};
}

export const addKeywordRule = (simulator: Simulator, name: string, actions: AutoModerationRule["actions"]) =>
	addRule(simulator, { name, actions, trigger_metadata: { keyword_filter: ["evil"] } });

type Attachment = ReturnType<typeof picture>;

export type SpamWorld = Awaited<ReturnType<typeof startSpam>>;

/** The bot "alpha" looks for spam in The Cooks, which has five more channels: c0 to c4. */
export async function startSpam(
	spam: Record<string, unknown> = {},
	{
		channels: count = 5,
		options: changes = {},
		moderation = { tell: [] },
		spam: more,
		sections = {},
		...setup
	}: Omit<FeatureSetup, "create" | "settings"> & {
		channels?: number;
		options?: Partial<SpamOptions>;
		/** More keys of moderation. */
		moderation?: Record<string, unknown>;
		/** More keys of spam, which depend on the channels. */
		spam?(channels: readonly GuildChannel[]): Record<string, unknown>;
		sections?: Record<string, unknown>;
	} = {},
) {
	const channels: GuildChannel[] = [];
	const world = await startFeature({
		...setup,
		messageContent: true,
		settings: (simulator) => ({
			features: { moderation: true },
			moderation: { log_channel: simulator.channel(staffChannel).id, ...moderation },
			spam: { on: true, channels: 3, ...spam, ...more?.(channels) },
			...sections,
		}),
		prepare(simulator) {
			const guild = simulator.guild("The Cooks");
			for (let number = 0; number < count; number += 1)
				channels.push(simulator.world.channels.add(guild, { name: `c${number}`, type: ChannelType.GuildText }));
			setup.prepare?.(simulator);
		},
		create(options, simulator) {
			const moderationLog = createModerationLog(options);
			return createSpam({
				...options,
				cdn: simulator.cdn,
				cases: new Cases({ ...options, moderationLog, bans: new TempBans({ ...options, moderationLog }) }),
				moderationLog,
				timing: quickTiming,
				...changes,
			});
		},
	});
	const { simulator, guild } = world;
	const channelAt = (index: number) => {
		return present(channels[index], `there is no channel ${index}`);
	};
	return Object.assign(world, {
		channels,
		set: (changes: Record<string, unknown>) =>
			world.settings.change(guild.id, changes as never, { userId: null, door: "test" }),
		/** Posts as a person. Unlike the REST API, this also works for members who are timed out. */
		post(user: User, channel: number | GuildChannel, content: string, attachments: readonly Attachment[] = []) {
			return simulator.world.messages.add(typeof channel === "number" ? channelAt(channel) : channel, user, {
				content,
				attachments,
			});
		},
		/** The messages of a person that exist, in all channels. */
		messagesOf: ({ id }: User) =>
			[...guild.channels.values()].flatMap((channel) =>
				simulator.world.messages.in(channel.id).filter(({ author }) => author.id === id),
			),
		isTimedOut: ({ id }: User) => Boolean(guild.members.get(id)?.communication_disabled_until),
		/** Resolves when the bot has read all events so far. */
		async heard() {
			const { user } = world.join(`mark${Math.random()}`);
			await until("the bot has heard", () => world.connection.guilds.some((one) => one.members.cache.has(user.id)));
		},
		/** What the bot has written to a person by direct message. */
		told(user: User) {
			const bot = userNamed(simulator, "alpha");
			const dm = bot && simulator.world.channels.findDm(bot, user);
			return dm ? simulator.world.messages.in(dm.id).map(({ content }) => content) : [];
		},
		/** The entries in the moderation log. */
		entries: () =>
			simulator.world.messages
				.in(simulator.channel(staffChannel).id)
				.filter(({ author }) => author.id === simulator.bot("alpha").id),
	});
}

export const spamTest = testWith(startSpam);
