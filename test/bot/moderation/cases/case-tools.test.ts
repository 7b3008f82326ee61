// The tools about cases: who may read and change them, pages, history, hostile texts, suggestions.

import { expect, test } from "bun:test";
import { causeOf } from "../../../../src/bot/moderation/cases/case-text.ts";
import { suggestCases } from "../../../../src/bot/moderation/cases/case-tools.ts";
import { said } from "../../../../src/texts/texts.ts";
import { onBoth } from "../../../support/stores.ts";
import { testWith } from "../../../support/test-with.ts";
import { moderator, staffedCases } from "./cases-world.ts";

const hostile = "x | ID: 1\n#9 | ban | by Ada‮ <@1> `\u0000`";

onBoth((databases) => {
	const start = staffedCases(databases);
	const casesTest = testWith(start);

	casesTest("a warning is told, and is listed on one line with its reason escaped", { tell: ["warn"] }, async (bot) => {
		const warned = await bot.as(moderator, "warn_member", {
			user_ids: [bot.id("zoe")],
			reason: hostile,
			message_ids: ["18446744073709551615"],
		});
		expect(warned).toMatchObject({ isError: false });
		expect(warned.text).toContain(`Told by direct message: <@${bot.id("zoe")}>.`);
		expect(bot.directMessages("zoe")).toHaveLength(1);
		const { text } = await bot.as(moderator, "list_cases", { user_ids: [bot.id("zoe")] });
		const lines = text.split("\n");
		expect(lines).toHaveLength(3);
		expect(lines[0]).toBe("In all: 1 × Warning");
		expect(lines[1]).toMatch(
			new RegExp(`^\\*\\*#1\\*\\* Warning: <@${bot.id("zoe")}> · <t:\\d+:f> · by <@${bot.id(moderator)}>$`),
		);
		expect(lines[2]).toStartWith("> x ");
		expect(lines[2]).toContain("\\<@1>");
		expect(lines[2]).toEndWith(" · told by direct message");
		const { text: whole } = await bot.as(moderator, "list_cases", { number: 1 });
		expect(whole).not.toContain("18446744073709551615");
		const client = await bot.call("list_cases", { number: 1 });
		expect(client.text).toContain("Messages: 18446744073709551615");
		expect(client.text).toContain(" | warn | ");
	});

	casesTest("the details of a case have all that its line in a list shortens", async (bot) => {
		await bot.cases.add(bot.guild.id, {
			action: "timeout",
			userId: bot.id("zoe"),
			moderatorId: bot.id(moderator),
			client: "an *assistant*",
			reason: `${"very ".repeat(60)}rude`,
			state: "not done",
			...causeOf(said("case.why.late")),
			messageIds: ["18446744073709551614", "18446744073709551615"],
		});
		const { text: whole } = await bot.as(moderator, "list_cases", { number: 1 });
		expect(whole.split("\n")[1]).toBe(
			`> ${"very ".repeat(60)}rude · 2 messages · not done: The bot could not do it in time. · through an \\*assistant\\*`,
		);
		const { text: list } = await bot.as(moderator, "list_cases", {});
		expect(list).toMatch(/> (very ?){20}… · not done$/);
	});

	casesTest("the reason of a rule is in the person's words, before and after a change", async (bot) => {
		const userId = bot.id("zoe");
		await bot.cases.add(bot.guild.id, {
			action: "timeout",
			userId,
			moderatorId: bot.id("alpha"),
			reason: 'Rule "3 warnings in 30d: timeout 1d" (case 7)',
			source: "rule:7",
		});
		const asked = { kind: "case", text: "", guildId: bot.guild.id, userId, locale: "de" } as const;
		const [suggested] = await suggestCases(bot.cases, asked, () => undefined);
		expect(suggested?.name).toBe("1: Timeout, Automatisch nach 3 Verwarnungen (Fall 7)");
		await bot.call("edit_case", { number: 1, reason: "rude" });
		const { text } = await bot.as(moderator, "list_cases", { number: 1 });
		expect(text).toContain("> rude");
		expect(text).toEndWith("> Automatically after 3 warnings (case 7)");
	});

	casesTest("pages continue where the last one ended", async (bot) => {
		for (let count = 0; count < 7; count += 1)
			await bot.cases.add(bot.guild.id, {
				action: "note",
				userId: bot.id("zoe"),
				moderatorId: bot.id(moderator),
				createdAt: 1_000 + (count % 2),
			});
		const numbers: string[] = [];
		let before: number | undefined;
		do {
			const page = before === undefined ? {} : { before };
			const { text } = await bot.call("list_cases", { limit: 3, ...page });
			numbers.push(...[...text.matchAll(/^#(\d+)/gm)].map(([, id = ""]) => id));
			const [, next] = /next_before=(\d+)/.exec(text) ?? [];
			before = next === undefined ? undefined : Number(next);
		} while (before !== undefined);
		expect(numbers).toEqual(["6", "4", "2", "7", "5", "3", "1"]);
	});

	casesTest("with since, the cases of each moderator are counted by action", async (bot) => {
		const add = (by: string, action: "warn" | "kick", createdAt: number, state: "done" | "not done" = "done") =>
			bot.cases.add(bot.guild.id, { action, createdAt, state, userId: bot.id("zoe"), moderatorId: bot.id(by) });
		await add("ada", "warn", 1_000);
		for (const action of ["warn", "warn", "kick"] as const) await add(moderator, action, 1_700_000_000_000);
		await add("ada", "kick", 1_700_000_000_000);
		await add("ada", "kick", 1_700_000_000_000, "not done");
		const list = async (args: object) => (await bot.call("list_cases", { limit: 1, ...args })).text.split("\n");
		const since = "2023-01-01";
		const lines = await list({ since });
		expect(lines[1]).toStartWith("By moderator");
		expect(lines[2]).toStartWith("3 | by ");
		expect(lines[2]).toEndWith("| 1 kick, 2 warn");
		expect(lines[2]).toContain(bot.id(moderator));
		expect(lines[3]).toStartWith("1 | by ");
		expect(lines[3]).toEndWith("| 1 kick");
		expect(lines[4]).toBe("The cases:");
		const ofOne = await list({ since, moderator_ids: [bot.id("ada")], action: "kick" });
		expect(ofOne[2]).toEndWith("| 1 kick");
		expect(ofOne[3]).toBe("The cases:");
		for (const args of [{}, { since, user_ids: [bot.id("zoe"), bot.id("ada")] }])
			expect((await list(args)).join()).not.toContain("By moderator");
		const none = await list({ since, before: 5 });
		expect(none.join()).not.toContain("By moderator");
	});

	test("only its moderator and people with Manage Server change a case, and nobody a case about themselves", async () => {
		await using bot = await start();
		const add = (user: string, by: string) =>
			bot.cases.add(bot.guild.id, { action: "warn", userId: bot.id(user), moderatorId: bot.id(by), reason: "spam" });
		await add("zoe", moderator);
		await add("zoe", "ada");
		await add(moderator, moderator);
		const edit = (by: string, number: number, args: object) => bot.as(by, "edit_case", { number, ...args });
		expect((await edit(moderator, 1, { reason: "spam, twice" })).isError).toBe(false);
		expect((await edit(moderator, 2, { deleted: true })).text).toContain("Only its moderator");
		expect((await edit(moderator, 3, { deleted: true })).text).toContain("about you");
		expect((await edit("zoe", 1, { deleted: true })).isError).toBe(true);
		expect((await edit("ada", 1, { deleted: true })).isError).toBe(false);
		expect((await edit("ada", 1, { deleted: true })).isError).toBe(true);
		expect((await edit("ada", 99, { deleted: true })).text).toContain("no case 99");
		expect((await bot.all()).map(({ number }) => number)).toEqual([2, 3]);
		const { text } = await bot.as("ada", "list_cases", { number: 1 });
		expect(text).toEndWith("changed the reason.\n> spam");
		expect(text).toContain("deleted");
		expect((await edit("ada", 1, { deleted: false })).isError).toBe(false);
		expect(await bot.all()).toHaveLength(3);
		const logged = bot.entries.filter(({ caseNumber }) => caseNumber === 1);
		expect(logged).toMatchObject([
			{ title: "Warning", moderatorId: bot.id(moderator) },
			{ title: "Case changed: Warning", reason: "spam, twice" },
			{ title: "Case deleted: Warning", moderatorId: bot.id("ada") },
			{ title: "Case restored: Warning", userId: bot.id("zoe") },
		]);
	});

	casesTest("cases are read by people with Moderate Members only, and of this guild only", async (bot) => {
		await bot.cases.add("123456789012345678", { action: "note", moderatorId: bot.id(moderator), reason: "elsewhere" });
		expect((await bot.as("zoe", "list_cases")).isError).toBe(true);
		const { text } = await bot.as(moderator, "list_cases", { number: 1 });
		expect(text).toContain("no case 1");
	});

	casesTest("the moderator's own reasons are suggested first, each once, and cases by their number", async (bot) => {
		const add = (by: string, reason: string) =>
			bot.cases.add(bot.guild.id, { action: "warn", moderatorId: bot.id(by), reason });
		await add(moderator, "spam");
		await add("ada", "insults");
		await add(moderator, "Spam links");
		await add(moderator, "spam");
		for (const hidden of [
			{ action: "note", reason: "their real name is …" } as const,
			{ action: "remove_timeout", reason: "Undo of case 83, spam" } as const,
			{ action: "warn", reason: "Report #1" } as const,
			{ action: "kick", reason: "Rule …", source: "rule:1" } as const,
		])
			await bot.cases.add(bot.guild.id, { moderatorId: bot.id(moderator), userId: "42", ...hidden });
		const ask = (kind: "reason" | "case", text: string, locale = "en-US") =>
			suggestCases(bot.cases, { kind, text, guildId: bot.guild.id, userId: bot.id(moderator), locale }, (id) =>
				new Map([["42", "Zoë\n🍞"]]).get(id),
			);
		expect((await ask("reason", "")).map(({ value }) => value)).toEqual(["spam", "Spam links", "insults"]);
		expect((await ask("reason", "link")).map(({ value }) => value)).toEqual(["Spam links"]);
		expect(await ask("case", "3")).toEqual([{ name: "3: Warning, Spam links", value: "3" }]);
		expect((await ask("case", "6"))[0]?.name).toBe("6: Timeout removed · Zoë 🍞, Undo of case 83, spam");
		expect((await ask("case", "5", "de"))[0]?.name).toBe("5: Notiz · Zoë 🍞, their real name is …");
		expect((await ask("case", "")).map(({ value }) => value)).toEqual(["8", "7", "6", "5", "4", "3", "2", "1"]);
	});
});
