// The rule night.strip: who loses what, and who does not, with the real connection and store.

import { expect, test } from "bun:test";
import { PermissionFlagsBits as Bits } from "discord.js";
import { DeletionWatch } from "../../../../src/bot/guild-documents/backups/deletion-watch.ts";
import { markedReason } from "../../../../src/bot/guild-documents/jobs/made-things.ts";
import { createNotify } from "../../../../src/bot/moderation/night/notice.ts";
import { createStrip } from "../../../../src/bot/moderation/night/strip.ts";
import { testWith } from "../../../support/test-with.ts";
import { present, until } from "../../../support/until.ts";
import { memberNamed, roleNamed } from "../../../support/world.ts";
import { grant, startFeature } from "../../features/running-feature.ts";

const nightTest = testWith(startNight);
const staff = "The Cooks/staff";

/** José has Staff, below the bot, and Mona "Above", above it; both may delete and ban. Five deletions are a mass deletion. */
async function startNight() {
	const bot = await startFeature({
		settings: (simulator) => ({
			night: { strip: true, ping_role: roleNamed(simulator, "Regular").id },
			moderation: { log_channel: simulator.channel(staff).id },
		}),
		prepare(simulator) {
			grant(simulator, "Staff", Bits.ManageChannels, Bits.BanMembers);
			const witness = memberNamed(simulator, "zoe");
			const roles = simulator.guild("The Cooks").members.get(simulator.user("jose.garcia").id)?.roles ?? [];
			simulator.world.members.edit(simulator.guild("The Cooks"), witness, { roles });
			for (let number = 0; number < 10; number += 1)
				simulator.world.channels.add(simulator.guild("The Cooks"), { name: `c${number}` });
		},
		create({ settings, connection, store, mutex, log }) {
			const given = { settings, connection, store, mutex, log };
			return new DeletionWatch({
				...given,
				guilds: undefined,
				settings: { deletions: 5, windowMs: 60_000 },
				backups: { keepBefore: async () => undefined },
				notify: createNotify(given),
				night: createStrip(given),
				settleMs: 0,
				maxSleepMs: 5,
				backOffMs: [1, 5],
			});
		},
	});
	const { simulator, guild } = bot;
	const { world } = simulator;
	const id = (name: string) =>
		/^\d+$/.test(name) ? name : (name === "alpha" || name === "beta" ? simulator.bot(name) : simulator.user(name)).id;
	const member = (name: string) => guild.members.get(id(name));
	const log = simulator.channel(staff).id;
	return {
		...bot,
		world,
		id,
		member,
		posts: () => world.messages.in(log).filter(({ embeds }) => embeds.length > 0),
		deleteChannels(name: string, count: number, reason?: string) {
			const doomed = [...guild.channels.values()].filter((one) => /^c\d$/.test(one.name)).slice(0, count);
			for (const one of doomed) world.channels.remove(one, { actor: id(name), ...(reason && { reason }) });
		},
		banPeople(name: string, count: number) {
			for (let number = 0; number < count; number += 1)
				world.bans.add(guild, world.users.add({ username: `raider-${number}` }), 0, { actor: id(name) });
		},
		/** Of José. */
		addWebhook(name: string) {
			const [user = null, by] = [world.users.get(id("jose.garcia")), { actor: id("jose.garcia") }];
			return world.webhooks.add(simulator.channel("The Cooks/general").channel as never, { name, user }, by);
		},
		addBot(name: string) {
			const { user } = world.users.addBot({ username: name });
			world.members.add(guild, user);
			return user.id;
		},
		told: (count: number) =>
			until("it is told", async () => (await bot.store.sql`SELECT id FROM incidents WHERE told = 1`).length === count),
		/** The bot has looked at the audit log up to this entry. */
		marked: (id: string) =>
			until("it is", () =>
				bot.store.sql`SELECT 1 FROM audit_log_marks WHERE wanted = 'deletions' AND entry_id = ${id}`.then(
					([row]) => row,
				),
			),
		async heard() {
			const name = `${guild.name}!`;
			world.guilds.edit(guild, { name });
			await until("the bot has heard", () => bot.connection.guilds.some((one) => one.name === name));
		},
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
}

type Night = Awaited<ReturnType<typeof startNight>>;
/** What the bot did to accounts. */
const acts = ({ simulator }: Night) =>
	["", "/roles/:role_id"].flatMap((path) =>
		simulator.journal.entries(`DELETE /guilds/:guild_id/members/:user_id${path}`),
	);
const descriptionOf = (message: { embeds: readonly object[] } | undefined) =>
	String(Object(message?.embeds[0]).description);

nightTest(
	"who deletes channels in masses loses the roles that allow it, and what it made; a role is pinged once",
	async (night) => {
		const { world, guild, id, member } = night;
		const before = member("jose.garcia")?.roles ?? [];
		const by = { actor: id("jose.garcia") };
		const hook = night.addWebhook("_spy_");
		const evil = night.addBot("evil");
		world.state.audit(guild, by, "BotAdd", evil);
		night.deleteChannels("jose.garcia", 7);
		await until("it is told", () => night.posts().length > 0);
		const staffRole = roleNamed({ guild }, "Staff");
		expect(before).toContain(staffRole.id);
		expect(member("jose.garcia")?.roles).toEqual(before.filter((role) => role !== staffRole.id));
		expect(guild.members.has(evil)).toBe(false);
		expect(world.webhooks.get(hook.id)).toBeUndefined();
		const [message] = night.posts();
		expect(descriptionOf(message)).toContain(`The bot took these roles from the account: <@&${staffRole.id}>.`);
		expect(descriptionOf(message)).toContain("The bot deleted the webhook \\_spy\\_, which the account had made.");
		expect(descriptionOf(message)).toContain(`The bot kicked <@${evil}> (evil).`);
		expect(message?.mention_roles).toHaveLength(1);
		await night.heard();
		expect(night.posts()).toHaveLength(1);
	},
);

nightTest("what cannot be done is said: a role above the bot stays, and a bot is kicked", async (night) => {
	const { world, guild } = night;
	const powers = { permissions: String(Bits.ManageChannels) };
	const above = world.roles.add(guild, { name: "Above", ...powers, position: 50 });
	const own = world.roles.add(guild, { name: "evil", ...powers, managed: true });
	const evil = night.addBot("evil");
	const give = (userId: string, role: string) => {
		const one = guild.members.get(userId);
		if (one) world.members.edit(guild, one, { roles: [role] });
	};
	give(night.id("mona_lisa"), above.id);
	give(evil, own.id);
	const wick = night.addBot("wick");
	give(wick, own.id);
	await night.heard();
	night.deleteChannels("mona_lisa", 5);
	await until("it is told", () => night.posts().length === 1);
	expect(descriptionOf(night.posts()[0])).toContain(
		`It keeps these roles, which the bot cannot take: <@&${above.id}>.`,
	);
	expect(acts(night)).toEqual([]);
	night.deleteChannels(evil, 5);
	await until("it is told", () => night.posts().length === 2);
	expect(guild.members.has(evil)).toBe(false);
	night.banPeople(wick, 5);
	await until("it is told", () => night.posts().length === 3);
	expect(guild.members.has(wick)).toBe(true);
});

nightTest("a notice that is too long, and whose channel is gone, gets to the owner", async (night) => {
	const { world, id } = night;
	for (let number = 0; number < 60; number += 1) night.addWebhook(`_${number}_`.repeat(9));
	world.channels.remove(night.simulator.channel(staff).channel as never, { actor: id("jose.garcia") });
	night.deleteChannels("jose.garcia", 5);
	const dm = await until("the owner is told", () => [...world.channels.values()].find((one) => "recipients" in one));
	const message = await until("the owner has it", () => world.messages.in(dm.id)[0]);
	expect(descriptionOf(message)).toContain("The bot took these roles from the account");
});

nightTest("who deletes and bans is dealt with once, and no notice is repeated after a kill", async (night) => {
	night.addWebhook("spy");
	night.deleteChannels("jose.garcia", 5);
	night.banPeople("jose.garcia", 5);
	await night.told(2);
	expect(night.posts().flatMap(({ mention_roles }) => mention_roles)).toHaveLength(1);
	const text = night.posts().map(descriptionOf).join();
	for (const one of ["took these roles", "no roles left", "the webhook spy", "banned 5 people from <t:"])
		expect(text.split(one)).toHaveLength(2);
	// The bot has not noted that it told, and Discord has forgotten the nonces.
	await night.store.sql`UPDATE incidents SET told = 0`;
	for (const post of night.posts()) Object.assign(post, { nonce: undefined });
	await night.told(2);
	expect(night.posts()).toHaveLength(2);
});

nightTest("a role that is gone does not save the others, and who gets them back loses them again", async (night) => {
	const { world, guild, member } = night;
	const jose = member("jose.garcia");
	const { id: staffRole } = roleNamed(night.simulator, "Staff");
	const gone = world.roles.add(guild, { name: "gone" });
	for (const count of [1, 2]) {
		if (jose) world.members.edit(guild, jose, { roles: [staffRole, gone.id] });
		await night.heard();
		// The bot hears of it later.
		guild.roles.delete(gone.id);
		night.deleteChannels("jose.garcia", 5);
		await until("it is told", () => night.posts().length === count);
		expect(jose?.roles).not.toContain(staffRole);
	}
});

nightTest("what was before the rule was switched on is left, also after a restart", async (night) => {
	const { world, member, settings, guild } = night;
	const before = member("jose.garcia")?.roles ?? [];
	const set = (isOn: boolean) => settings.change(guild.id, { "night.strip": isOn }, { userId: null, door: "test" });
	await night.marked("0");
	await set(false);
	night.banPeople("jose.garcia", 8);
	await night.heard();
	await set(true);
	await night.marked(guild.auditLog.at(-1)?.id ?? "");
	world.guilds.edit(guild, { name: "The Cooks" });
	await night.stop();
	await night.start();
	night.banPeople("zoe", 5);
	await until("Zoe is noticed", () => night.posts().length > 0);
	expect(member("jose.garcia")?.roles).toEqual(before);
});

const falseAlarms: Record<string, (night: Night) => void> = {
	"a moderator who tidies up": ({ deleteChannels }) => deleteChannels("jose.garcia", 4),
	"a moderator who bans four people": ({ banPeople }) => banPeople("jose.garcia", 4),
	"deletions and bans, each below its number"({ deleteChannels, banPeople }) {
		deleteChannels("jose.garcia", 3);
		banPeople("jose.garcia", 3);
	},
	"another bot that purges messages"({ simulator, world, id }) {
		const { channel } = simulator.channel("The Cooks/general");
		const author = present(world.users.get(id("zoe")));
		const messages = Array.from({ length: 50 }, () => world.messages.add(channel, author, { content: "spam" }));
		world.messages.removeMany(channel as never, messages, { actor: id("beta") });
	},
	"a job of ours": ({ deleteChannels }) => deleteChannels("alpha", 8, markedReason("job", "mark", "undo_actions")),
	"an import": ({ deleteChannels }) => deleteChannels("alpha", 8, markedReason("job", "mark", "apply_guild")),
	"our tools for a person": ({ deleteChannels }) => deleteChannels("alpha", 8, "delete_channel (for Ada)"),
	"our ban of several people": ({ banPeople }) => banPeople("alpha", 10),
	"the owner"({ deleteChannels, banPeople }) {
		deleteChannels("ada", 8);
		banPeople("ada", 10);
	},
};

nightTest.each(Object.entries(falseAlarms))("no alarm: %s", async (night, _, happen) => {
	happen(night);
	await night.heard();
	// Whatever comes of it comes before this.
	night.banPeople("zoe", 5);
	await until("Zoe is noticed", () => night.posts().some((one) => descriptionOf(one).includes(night.id("zoe"))));
	expect(acts(night)).toHaveLength(1);
	expect(night.posts().filter(({ mention_roles }) => mention_roles.length > 0)).toHaveLength(1);
});

test("what is found an hour late is left to people", async () => {
	const settings = { of: () => ({ "night.strip": true }) };
	const { act } = createStrip({ settings, store: {}, mutex: {} } as never);
	const row = { guild_id: "1", actor_id: "4", first_at: 0, last_at: Date.now() - 3_600_001 };
	expect(await act({ id: "1", ownerId: "2", client: { user: { id: "3" } } } as never, row as never)).toEqual([]);
});
