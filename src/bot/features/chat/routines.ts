// Questions that AI chat answers at certain times, in the name and with the rights of who set them. A run is taken before it
// begins: after a kill it is not repeated.

import { ComponentType, type Guild, type GuildMember, MessageFlags, PermissionFlagsBits } from "discord.js";
import { inlineText, truncate } from "../../../discord/text.ts";
import type { Log } from "../../../lib/log.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said, sayIn } from "../../../texts/texts.ts";
import type { ComponentHandler } from "../../commands/components.ts";
import type { FeatureOptions, MenuHandler } from "../../commands/feature.ts";
import { requireHeld } from "../../commands/who-may.ts";
import { rowOf } from "../../messages/buttons.ts";
import { noMentions } from "../../messages/split-message.ts";
import { at } from "../../results/result.ts";
import { Durable, requireGuild } from "../../store/durable.ts";
import { type Routine, routineRows } from "../../store/tables/chat.ts";
import { nextTime, readSchedule } from "./routine-times.ts";

const maxRoutines = 20;
/** A run that the bot missed is made up for this long. */
const lateMs = 6 * 3_600_000;
const prefix = "routine";

interface RoutinesOptions extends Pick<FeatureOptions, "connection" | "settings" | "store"> {
	log: Log;
	timezone: string;
	/** Answers in the routine's channel, in the name of its person. */
	run(routine: Routine, member: GuildMember): Promise<void>;
	now(): number;
}

export type Routines = ReturnType<typeof createRoutines>;

export function createRoutines({ connection, settings, store: { sql }, log, timezone, run, now }: RoutinesOptions) {
	const work = new Durable({
		name: "routines",
		log,
		scan: async () =>
			(await routineRows.all(sql, {})).map((routine) => ({
				key: routine.id,
				inMs: routine.next_at - now(),
				failure: "could not run a routine of AI chat",
				fields: { routine: routine.id, guild: routine.guild_id },
				run: () => begin(routine),
			})),
	});

	async function begin(routine: Routine): Promise<void> {
		const guild = requireGuild(connection, routine.guild_id);
		const { next_at, schedule, id, channel_id, person_id } = routine;
		const then = nextTime(JSON.parse(schedule), Math.max(now(), next_at), timezone);
		if (!(await routineRows.change(sql, routine, { next_at: then }, { next_at }))) return;
		const fields = { routine: id, guild: guild.id };
		if (now() - next_at > lateMs) return log.warn("a routine of AI chat was missed: the bot did not run", fields);
		const member = writerIn(guild, channel_id, person_id);
		if (member) return run(routine, member);
		log.warn("a routine of AI chat was skipped: its person has left, or cannot write in its channel", fields);
	}

	/** What there is, with a menu to remove one. */
	async function listOf(guildId: string, locale: string) {
		const say = sayIn(locale);
		const all = await routineRows.all(sql, { guild_id: guildId }, "next_at");
		const lines = all.map(({ question, channel_id, person_id, next_at }) =>
			say("routine.line", {
				question: inlineText(question, 200),
				channel: `<#${channel_id}>`,
				who: `<@${person_id}>`,
				next: at(next_at),
			}),
		);
		const options = all.map(({ id, question }) => ({ label: truncate(question, 90), value: id }));
		const menu = {
			type: ComponentType.StringSelect as const,
			custom_id: prefix,
			placeholder: say("routine.remove"),
			options,
		};
		return {
			content: truncate([say(all.length > 0 ? "routine.list" : "routine.none"), ...lines].join("\n"), 2_000),
			components: all.length > 0 ? [rowOf(menu)] : [],
			allowedMentions: noMentions,
		};
	}

	const command: MenuHandler = {
		type: "slash",
		name: "routine",
		may: "settings",
		options: [
			{ name: "question", kind: "text", max: 1_000 },
			{ name: "when", kind: "text", max: 100 },
			{ name: "channel", kind: "channel" },
		],
		async run(interaction) {
			requireHeld(settings, interaction, { may: "settings" });
			await interaction.deferReply({ flags: MessageFlags.Ephemeral });
			const { options, guildId, locale, user } = interaction;
			const question = options.getString("question");
			if (question !== null) {
				const schedule = readSchedule(options.getString("when") ?? "");
				if (!schedule) throw new SaidError(said("routine.when"));
				const channelId = options.getChannel("channel")?.id ?? interaction.channelId;
				if (!writerIn(connection.guild(guildId), channelId, user.id)) throw new SaidError(said("routine.channel"));
				const { length } = await routineRows.all(sql, { guild_id: guildId });
				if (length >= maxRoutines) throw new SaidError(said("routine.full", { max: maxRoutines }));
				const routine = {
					id: crypto.randomUUID(),
					guild_id: guildId,
					channel_id: channelId,
					person_id: user.id,
					question,
					schedule: JSON.stringify(schedule),
					next_at: nextTime(schedule, now(), timezone),
				};
				await routineRows.insert(sql, [routine]);
				log.info("a routine of AI chat was set", { guild: guildId, channel: channelId, person: user.id });
				work.wake();
			}
			await interaction.editReply(await listOf(guildId, locale));
		},
	};

	const component: ComponentHandler = {
		prefix,
		async run(interaction) {
			if (!interaction.isStringSelectMenu()) return;
			requireHeld(settings, interaction, { may: "settings" });
			await interaction.deferUpdate();
			for (const id of interaction.values) await routineRows.delete(sql, { guild_id: interaction.guildId, id });
			work.wake();
			await interaction.editReply(await listOf(interaction.guildId, interaction.locale));
		},
	};

	return { command, component, start: work.wake, close: () => work.close() };
}

/** The person, if they and the bot may write there. */
function writerIn(guild: Guild | undefined, channelId: string, personId: string): GuildMember | undefined {
	const { ViewChannel, SendMessages } = PermissionFlagsBits;
	const channel = guild?.channels.cache.get(channelId);
	const member = guild?.members.cache.get(personId);
	const mayWrite = member && channel?.isSendable() && channel.permissionsFor(member).has(ViewChannel | SendMessages);
	return mayWrite ? member : undefined;
}
