// What staff do about a report: each act once, whatever fails or is killed, and the end of a report by itself.

import { expect, test } from "bun:test";
import { Reports } from "../../../../src/bot/moderation/reports/reports.ts";
import { reportRows } from "../../../../src/bot/store/tables/reports.ts";
import { StoreUnavailable } from "../../../../src/bot/store/unavailable.ts";
import type { CallAs, PersonCall, PersonResult } from "../../../../src/bot/tool/call-as.ts";
import type { Sql } from "../../../../src/lib/store/statement.ts";
import { testWith } from "../../../support/test-with.ts";
import { present, until } from "../../../support/until.ts";
import { startFeature } from "../../features/running-feature.ts";
import { shownIn, staffChannel } from "./reports-world.ts";

const actsTest = testWith(start);

const done: PersonResult = { text: "Banned.", isError: false, wrote: true };
const staff = { id: "11111111111111111", name: "José" };
const other = { id: "11111111111111112", name: "Zoë" };
const hourMs = 3_600_000;

/** A report #1 with its entry, the tools replaced by `answer`. */
async function start(answer: CallAs = async () => done) {
	const clock = { now: 1_790_000_000_000 };
	const calls: PersonCall[] = [];
	let reports: Reports | undefined;
	/** Whether the database refuses transactions, and statements that store an act. */
	const outage = { isOn: false };
	const bot = await startFeature({
		store(store) {
			const { sql, transaction } = store;
			return Object.assign(store, {
				sql: ((...statement: Parameters<Sql>) =>
					outage.isOn && String(statement[0]).includes("SET acts")
						? Promise.reject(new StoreUnavailable("a test's outage", true))
						: sql(...statement)) as Sql,
				transaction: ((work) =>
					outage.isOn
						? Promise.reject(new StoreUnavailable("a test's outage"))
						: transaction(work)) as typeof transaction,
			});
		},
		settings: (simulator) => ({ moderation: { reports: simulator.channel(staffChannel).id } }),
		create: ({ settings, connection, store, log }) => {
			reports = new Reports({
				settings,
				connection,
				store,
				log,
				callAs: (call) => {
					calls.push(call);
					call.draft?.opened?.([7]);
					return answer(call);
				},
				now: () => clock.now,
				backOffMs: [5, 50],
				updateIntervalMs: 0,
			});
			return reports.worker;
		},
	});
	const current = () => {
		if (!reports) throw new Error("the bot runs");
		return reports;
	};
	const guildId = bot.guild.id;
	const entries = () => bot.simulator.world.messages.in(bot.simulator.channel(staffChannel).id);
	const file = (reporterId: string) => {
		const guild = present(bot.connection.guilds[0]);
		return current().file(guild, {
			reporterId,
			person: { id: bot.simulator.user("mona_lisa").id, isBot: false },
			reason: "insults",
		});
	};
	await file(bot.simulator.user("zoe").id);
	return {
		file,
		bot,
		clock,
		calls,
		outage,
		entries,
		act: (person = staff) =>
			current().act({
				guildId,
				number: 1,
				act: "ban",
				person,
				locale: "en-US",
				call: ({ author_id }) => ({ tool: "ban", args: { user_ids: [author_id] } }),
			}),
		end: () => current().end(guildId, 1, { state: "dismissed", by: null, case: null }),
		row: () => reportRows.first(bot.store.sql, { guild_id: guildId, number: 1 }),
		shown: (text: string) =>
			until(`the entry shows ${text}`, () => {
				const [entry] = entries();
				return entry && shownIn(entry).includes(text) ? entry : false;
			}),
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
}

actsTest("an act calls the tool in the presser's name, with the report in its case", async (world) => {
	expect(await world.act()).toBe(done.text);
	expect(world.calls).toHaveLength(1);
	expect(world.calls[0]).toMatchObject({
		guildId: world.bot.guild.id,
		person: staff,
		tool: "ban",
		draft: { userIds: [world.bot.simulator.user("mona_lisa").id] },
	});
	await world.shown(`Ban by <@${staff.id}>, case #7`);
});

actsTest("each act is possible once", async (world) => {
	await world.act();
	await expect(world.act(other)).rejects.toThrow(`<@${staff.id}> has done this (Ban) for report #1. Nothing was done.`);
	expect(world.calls).toHaveLength(1);
});

test("of two people who press at once, one acts", async () => {
	const { promise, resolve } = Promise.withResolvers<PersonResult>();
	await using world = await start(() => promise);
	const first = world.act();
	await until("the tool runs", () => world.calls.length === 1);
	await expect(world.act(other)).rejects.toThrow(`<@${staff.id}> is doing this`);
	resolve(done);
	expect(await first).toBe(done.text);
	expect(world.calls).toHaveLength(1);
});

test("an act that changed nothing leaves no trace and can be repeated", async () => {
	const results = [{ text: "You lack BAN_MEMBERS.", isError: true, wrote: false }, done];
	await using world = await start(async () => results.shift() ?? done);
	expect(await world.act()).toBe("You lack BAN_MEMBERS.");
	const row = await world.row();
	expect(row).toMatchObject({ acts: "[]", closes_at: null, state: "open" });
	expect(await world.act(other)).toBe(done.text);
});

test("an act that may have failed is shown, and can be repeated", async () => {
	const results = [{ text: "No response.", isError: true, wrote: true }, done];
	await using world = await start(async () => results.shift() ?? done);
	expect(await world.act()).toBe("No response.");
	await world.shown(`Ban by <@${staff.id}>: failed`);
	expect(await world.act()).toBe(done.text);
});

test("an act during which the bot was killed is shown as not confirmed, and can be repeated", async () => {
	const never = new Promise<never>(() => {});
	let isFirst = true;
	await using world = await start(() => {
		const result = isFirst ? never : Promise.resolve(done);
		isFirst = false;
		return result;
	});
	void world.act();
	await world.shown(`Ban by <@${staff.id}>: not confirmed`);
	await world.bot.kill();
	await world.bot.start();
	await expect(world.act(other)).rejects.toThrow("is doing this");
	world.clock.now += 30_000;
	expect(await world.act(other)).toBe(done.text);
	await world.shown(`Ban by <@${other.id}>, case #7`);
});

test("what the tool did is said even if the database fails then", async () => {
	await using world = await start(async () => {
		world.outage.isOn = true;
		return done;
	});
	const answer = await world.act();
	world.outage.isOn = false;
	expect(answer).toStartWith(`${done.text}\nThe report does not show this:`);
});

actsTest("a report with an act ends an hour after the latest, and keeps its case", async (world) => {
	await world.act();
	await world.shown("case #7");
	world.clock.now += hourMs - 1;
	await world.bot.stop();
	await world.bot.start();
	expect(await world.row()).toMatchObject({ state: "open" });
	world.clock.now += 1;
	await world.bot.stop();
	await world.bot.start();
	const entry = await world.shown("Handled by");
	expect(shownIn(entry)).toContain(`Handled by: <@${staff.id}>, case #7`);
	expect(shownIn(entry)).not.toContain("insults");
	await expect(world.act(other)).rejects.toThrow("was handled meanwhile");
	await expect(world.end()).rejects.toThrow(`Report #1 was already handled by <@${staff.id}>.`);
	expect(world.entries()).toHaveLength(1);
});

actsTest("a report without a database is refused, and later ones are taken", async (world) => {
	await world.shown("insults");
	const liwei = world.bot.simulator.user("liwei").id;
	world.outage.isOn = true;
	await expect(world.file(liwei)).rejects.toThrow("database is unavailable");
	world.outage.isOn = false;
	await world.file(liwei);
	await world.shown("Reported by 2 people:");
});
