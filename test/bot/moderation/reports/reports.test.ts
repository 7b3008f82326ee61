// Members report messages and people; staff see entries with buttons.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../../src/simulator/world/state/entities.ts";
import { onBoth } from "../../../support/stores.ts";
import { testWith } from "../../../support/test-with.ts";
import { present, until } from "../../../support/until.ts";
import { channelNamed, memberOverwrite, userNamed } from "../../../support/world.ts";
import { buttonsOf, general, moderator, reportsTest, shownIn, startReportsWorld } from "./reports-world.ts";

const thanks = "Thank you. Your report was sent to the staff of this server. They see who reported; others do not.";

onBoth((databases) => {
	const storedTest = testWith(async () => startReportsWorld(await databases.place()));

	storedTest("a report is an entry with author, link, reporter, reason and a copy", async (world) => {
		const message = await world.say("mona_lisa", "cheap watches");
		expect(await world.report("ada", message, "an advertisement")).toBe(thanks);
		const entry = await world.entry(1);
		const shown = shownIn(entry);
		expect(shown).toContain(`<@${world.id("mona_lisa")}>`);
		expect(shown).toContain(`<@${world.id("ada")}>`);
		expect(shown).toContain("an advertisement");
		expect(shown).toContain("```\ncheap watches\n```");
		expect(shown).toContain(`https://discord.com/channels/${world.guild.id}/${message.channel_id}/${message.id}`);
		expect(buttonsOf(entry)).toEqual(["Delete", "Warn", "Time out", "Ban", "Dismiss"]);
	});

	storedTest("several reports of a message are one entry with a count", async (world) => {
		const message = await world.say("mona_lisa", "cheap watches");
		await world.report("ada", message, "first");
		expect(await world.report("zoe", message, "second")).toBe(thanks);
		expect(await world.report("ada", message)).toBe("You have already reported this.");
		const entry = await world.entry(1, (text) => text.includes("second"));
		expect(shownIn(entry)).toContain("Reported by 2 people:");
		expect(shownIn(entry)).toContain("```\ncheap watches\n```");
		expect(world.entries()).toHaveLength(1);
	});

	test("people get answers and forms in their language; an entry has the guild's, and after a restart its new one", async () => {
		await using world = await startReportsWorld(await databases.place());
		const { simulator, guild } = world;
		simulator.world.guilds.edit(guild, { preferred_locale: "de" });
		for (const person of ["ada", moderator]) simulator.world.users.locales.set(world.id(person), "de");
		const mona = present(simulator.world.users.get(world.id("mona_lisa")));
		const { channel } = simulator.channel(general);
		const url = "https://cdn.example/a.png";
		const file = { id: "11111111111111111", filename: "a.png", size: 1, url, proxy_url: url };
		const message = simulator.world.messages.add(channel, mona, { content: "", attachments: [file] } as never);
		expect(await world.report("zoe", message, "odd")).toBe(thanks);
		expect(await world.report("ada", message)).toStartWith("Danke. Deine Meldung ist beim Team dieses Servers.");
		const [entry] = await until("an entry of both", () => {
			const entries = world.entries();
			return entries[0] && shownIn(entries[0]).includes("2 Personen") && entries;
		});
		if (!entry) throw new Error("there is an entry");
		expect(shownIn(entry).split("\n")).toEqual([
			"Meldung #1",
			"Gemeldet von 2 Personen:",
			`<@${world.id("zoe")}>: odd`,
			`<@${world.id("ada")}>: spam`,
			`Verfasst von: <@${mona.id}>`,
			`Nachricht: https://discord.com/channels/${guild.id}/${channel.id}/${message.id} in <#${channel.id}>`,
			"Kopie der Nachricht",
			"Die Nachricht hat keinen Text.",
			`Dateien: a.png: <${url}>`,
		]);
		expect(buttonsOf(entry)).toEqual(["Löschen", "Verwarnen", "Timeout", "Bannen", "Verwerfen"]);
		const form = await (await simulator.user(moderator).press(entry, "Timeout")).modal();
		expect(form).toMatchObject({ title: "Timeout (#1)", inputs: [{ label: "Dauer" }, { label: "Grund" }] });
		expect(form.texts).toEqual([`Für <@${mona.id}>`]);
		const { text } = await world.call(undefined, "list_reports", {});
		expect(text).toContain("| text: The message has no text., files: a.png");

		await world.stop();
		simulator.world.guilds.edit(guild, { preferred_locale: "en-US" });
		await world.start();
		expect(await world.report("liwei", message, "me too")).toBe(thanks);
		const changed = await world.entry(1, (shown) => shown.includes("me too"));
		expect(changed.id).toBe(entry.id);
		expect(shownIn(changed)).toEndWith(`Copy of the message\nThe message has no text.\nFiles: a.png: <${url}>`);
		expect(buttonsOf(changed)).toEqual(["Delete", "Warn", "Time out", "Ban", "Dismiss"]);
		expect(await world.press(moderator, changed, "Delete")).toContain("Fall 1");
		const acted = await world.entry(1, (shown) => shown.includes(`Delete by <@${world.id(moderator)}>, case #1`));
		expect(await world.press(moderator, acted, "Done")).toBe("Meldung #1 ist erledigt.");
	});

	storedTest("Dismiss removes the copy, the reasons and the buttons", async (world) => {
		const message = await world.say("mona_lisa", "cheap watches");
		await world.report("ada", message, "an advertisement");
		const entry = await world.entry(1);
		expect(await world.press(moderator, entry, "Dismiss")).toContain("Report #1 is dismissed.");
		const ended = await world.entry(1, (text) => text.includes("dismissed"));
		const shown = shownIn(ended);
		expect(shown).not.toContain("cheap watches");
		expect(shown).not.toContain("an advertisement");
		expect(shown).toContain(`Dismissed by: <@${world.id(moderator)}>`);
		expect(buttonsOf(ended)).toEqual([]);
	});

	test("the copy of a report that ended during an outage of Discord is removed after a restart", async () => {
		await using world = await startReportsWorld(await databases.place());
		const { faults } = world.simulator;
		const message = await world.say("mona_lisa", "cheap watches");
		await world.report("ada", message, "an advertisement");
		await world.entry(1);
		faults.answer("PATCH /channels/:channel_id/messages/:message_id", { status: 500, times: 1_000 });
		const report = { report: 1, outcome: "dismissed" };
		await world.call(undefined, "resolve_report", report);
		await world.stop();
		expect(shownIn(await world.entry(1))).toContain("cheap watches");
		faults.clear();
		await world.start();
		const ended = await world.entry(1, (text) => text.includes("dismissed"));
		expect(shownIn(ended)).not.toMatch(/cheap watches|an advertisement/);
	});

	storedTest("a report is posted once after a restart, and its buttons work", async (world) => {
		const message = await world.say("mona_lisa", "cheap watches");
		await world.report("ada", message);
		const entry = await world.entry(1);
		await world.stop();
		await world.start();
		await world.report("zoe", message, "again");
		await world.entry(1, (text) => text.includes("again"));
		expect(await world.press(moderator, entry, "Dismiss")).toContain("Report #1 is dismissed.");
		expect(world.entries()).toHaveLength(1);
	});
});

describe("staff", () => {
	reportsTest("warn and time out the author, each a case with the message", async (world) => {
		const message = await world.say("mona_lisa", "cheap watches");
		await world.report("ada", message);
		const entry = await world.entry(1);
		const warned = await world.fill(moderator, entry, "Warn", { reason: "no advertising" });
		expect(warned).toMatch(/^Warned <@\d+>\./);
		const out = await world.fill(moderator, entry, "Time out", { duration: "1h", reason: "" });
		expect(out).toMatch(/^Timed out <@\d+> until /);
		const after = await world.entry(1, (text) => text.includes("Time out by"));
		expect(shownIn(after)).toMatch(/Warn by <@\d+>, case #1\nTime out by/);
		for (const number of [1, 2]) {
			const { text } = await world.call(undefined, "list_cases", { number });
			expect(text).toContain(message.id);
		}
	});

	reportsTest("get the tool's refusal, and a mistake in the form stores nothing", async (world) => {
		const message = await world.say("ada", "I own this");
		await world.report("zoe", message);
		const entry = await world.entry(1);
		// Ada owns the guild.
		const refused = await world.fill(moderator, entry, "Ban", { days: "0" });
		expect(refused).toMatch(/owner/i);
		expect(await world.fill(moderator, entry, "Ban", { days: "9" })).toContain(
			"The number of days must be from 0 to 7.",
		);
		const wrong = await world.fill(moderator, entry, "Time out", { duration: "soon", reason: "" });
		expect(wrong).toContain("duration");
		const { text } = await world.call(undefined, "list_reports", {});
		expect(text).not.toContain("Ban");
		expect(text).not.toContain("Time out");
	});

	reportsTest("get nothing from a copy of the buttons in another channel", async (world) => {
		const { simulator } = world;
		const message = await world.say("mona_lisa", "hello");
		await world.report("zoe", message);
		const entry = await world.entry(1);
		const bot = userNamed(simulator, "alpha");
		const forged = simulator.world.messages.add(simulator.channel(general).channel as GuildChannel, bot, {
			content: "free coins",
			components: entry.components,
		});
		for (const person of [moderator, "zoe"])
			for (const button of ["Dismiss", "Ban"])
				expect(await world.press(person, forged, button)).toBe("There is no report #1 here. Nothing was done.");
		expect(world.guild.bans.has(world.id("mona_lisa"))).toBe(false);
		expect(buttonsOf(await world.entry(1))).toContain("Ban");
	});

	reportsTest("need the permissions of what they do", async (world) => {
		const { world: platform } = world.simulator;
		const seen = memberOverwrite(world.id("liwei"), { allow: PermissionFlagsBits.ViewChannel });
		platform.channels.setOverwrite(channelNamed(world, "staff"), seen);
		const message = await world.say("mona_lisa", "hello");
		await world.report("zoe", message);
		const entry = await world.entry(1);
		for (const button of ["Delete", "Dismiss"]) expect(await world.press("liwei", entry, button)).toMatch(/You lack/);
		expect(await world.fill("liwei", entry, "Warn", { reason: "mine" })).toMatch(/You lack/);
		expect(shownIn(await world.entry(1))).not.toContain("liwei");
	});

	reportsTest("delete the message and ban its author in their own name, with cases", async (world) => {
		const message = await world.say("mona_lisa", "cheap watches");
		await world.report("ada", message);
		const entry = await world.entry(1);
		expect(await world.press(moderator, entry, "Delete")).toContain("Case 1.");
		expect(world.simulator.world.messages.get(message.channel_id, message.id)).toBeUndefined();
		const after = await world.entry(1, (text) => text.includes("case #1"));
		expect(buttonsOf(after)).toEqual(["Warn", "Time out", "Ban", "Done"]);
		// The copy stays although the message is gone.
		expect(shownIn(after)).toContain("cheap watches");
		const answer = await world.fill(moderator, entry, "Ban", { reason: "advertising", days: "1" });
		expect(answer).toContain("Case 2.");
		expect(world.guild.bans.has(world.id("mona_lisa"))).toBe(true);
		await world.entry(1, (text) => text.includes("case #2"));
		expect(await world.press(moderator, entry, "Done")).toContain("handled");
		const ended = await world.entry(1, (text) => text.includes("Handled by"));
		expect(shownIn(ended)).toContain("case #2");
		expect(shownIn(ended)).not.toContain("cheap watches");
	});
});
