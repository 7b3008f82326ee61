// What members can report, what they are told, and what staff see of it.

import { describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../../src/simulator/world/state/entities.ts";
import { present, until } from "../../../support/until.ts";
import { roleOverwrite } from "../../../support/world.ts";
import {
	buttonsOf,
	general,
	moderator,
	type ReportsWorld,
	reportsTest,
	shownIn,
	staffChannel,
	startReportsWorld,
} from "./reports-world.ts";

const sent = "Thank you. Your report was sent";
const notFound = "This message does not exist, or you or the bot cannot see it. Nothing was done.";

function linkOf(world: ReportsWorld, message: { id: string; channel_id: string }) {
	return `https://discord.com/channels/${world.guild.id}/${message.channel_id}/${message.id}`;
}

/** Lets everyone see a channel, or nobody but those with a role of their own. */
function showChannel(world: ReportsWorld, name: string, isShown: boolean) {
	const { channel } = world.simulator.channel(name);
	const overwrite = roleOverwrite(world.guild.id, { [isShown ? "allow" : "deny"]: PermissionFlagsBits.ViewChannel });
	world.simulator.world.channels.setOverwrite(channel as GuildChannel, overwrite);
}

describe("members", () => {
	reportsTest("cannot report their own message, or the entries of reports", async (world) => {
		const message = await world.say("mona_lisa", "hello");
		expect(await world.refused("mona_lisa", message)).toBe("You cannot report your own message.");
		await world.report("zoe", message);
		const entry = await world.entry(1);
		expect(await world.refused(moderator, entry)).toBe("Messages in the channel for reports cannot be reported.");
		expect(world.entries()).toHaveLength(1);
	});

	reportsTest("report a message by its link, with the same result as with the menu", async (world) => {
		const message = await world.say("mona_lisa", "cheap watches");
		const given = { message: linkOf(world, message), reason: "look" };
		expect(await world.command("zoe", given)).toStartWith(sent);
		const shown = shownIn(await world.entry(1));
		expect(shown).toContain("```\ncheap watches\n```");
		expect(shown).toContain(`<@${world.id("zoe")}>: look`);
		expect(await world.command("zoe", given)).toBe("You have already reported this.");
	});

	reportsTest("are told where reports are not set up, and their entries move with the setting", async (world) => {
		const { simulator, guild } = world;
		const message = await world.say("mona_lisa", "hello");
		const set = (id: string | null) =>
			world.call(undefined, "set_settings", { settings: { "moderation.reports": id } });
		await set(null);
		const off = "Reports are not set up here: the setting moderation.reports is missing.";
		expect(await world.refused("zoe", message)).toStartWith(off);
		expect(await world.command("zoe", { user: world.id("mona_lisa"), reason: "insults" })).toStartWith(off);
		expect((await world.call(undefined, "list_reports", {})).text).toContain("set_settings with moderation.reports");
		const { channel } = simulator.channel(general);
		expect((await set(channel.id)).text).toContain("@everyone can see");
		const { permission_overwrites = [] } = simulator.channel(staffChannel).channel as GuildChannel;
		const { id } = simulator.world.channels.add(guild, { name: "reports", permission_overwrites });
		await until("it is set", async () => !(await set(id)).isError);
		expect(await world.report("zoe", message)).toStartWith(sent);
		await until("the entry", () => simulator.world.messages.in(id).length === 1);
		expect(world.entries()).toEqual([]);
	});

	reportsTest("report a person with a reason", async (world) => {
		const user = world.id("mona_lisa");
		expect(await world.command("zoe", { user })).toContain("Say why");
		expect(await world.command("zoe", { user, reason: "insults" })).toStartWith(sent);
		const entry = await world.entry(1);
		expect(shownIn(entry)).toContain(`Person: <@${user}>`);
		expect(shownIn(entry)).not.toContain("Copy");
		expect(buttonsOf(entry)).toEqual(["Warn", "Time out", "Ban", "Dismiss"]);
	});

	reportsTest.each([
		["nothing", () => ({}), "Give the link of a message, or a person."],
		["themselves", (world: ReportsWorld) => ({ user: world.id("zoe"), reason: "me" }), "You cannot report yourself."],
		[
			"this bot",
			(world: ReportsWorld) => ({ user: world.simulator.bot("alpha").id, reason: "it" }),
			"This bot cannot be reported",
		],
		["something that is no link", () => ({ message: "hello" }), "That is not a link to a message of this server"],
		[
			"a message of another guild",
			() => ({ message: "https://discord.com/channels/11111111111111111/11111111111111112/11111111111111113" }),
			"That is not a link to a message of this server",
		],
		[
			"a message that does not exist",
			(world: ReportsWorld) => ({
				message: linkOf(world, { id: "11111111111111113", channel_id: world.simulator.channel(general).id }),
			}),
			notFound,
		],
		[
			"a message in a channel that does not exist",
			(world: ReportsWorld) => ({
				message: linkOf(world, { id: "11111111111111113", channel_id: "11111111111111112" }),
			}),
			notFound,
		],
	])("are refused to report %s", async (world, _, values, answer) => {
		expect(await world.command("zoe", values(world))).toStartWith(answer);
	});

	reportsTest("cannot report a message that they cannot see, and do not learn whether it exists", async (world) => {
		const secret = await world.say(moderator, "a secret", staffChannel);
		const message = linkOf(world, secret);
		expect(await world.command("zoe", { message })).toBe(notFound);
		const other = linkOf(world, { ...secret, id: "11111111111111113" });
		expect(await world.command("zoe", { message: other })).toBe(notFound);
	});

	test("cannot report a message of a private thread of others, and do not learn whether it exists", async () => {
		await using world = await startReportsWorld();
		const { simulator } = world;
		const { channel } = simulator.channel("The Cooks/general");
		const owner = present(simulator.world.users.get(world.id(moderator)));
		const thread = simulator.world.messages.threads.add(channel as GuildChannel, owner, {
			name: "secret",
			type: ChannelType.PrivateThread,
		});
		const secret = simulator.world.messages.add(thread, owner, { content: "a secret" });
		const message = linkOf(world, secret);
		expect(await world.command("zoe", { message })).toBe(notFound);
		expect(await world.command("mona_lisa", { message })).toBe(notFound);
	});

	reportsTest("can send the form after a restart of the bot, which reads the message again", async (world) => {
		const message = await world.say("mona_lisa", "hello");
		const zoe = world.simulator.user("zoe");
		const used = await zoe.runOnMessage(message, "Report");
		await used.modal();
		await world.stop();
		await world.start();
		const handle = await zoe.submit(used, { reason: "spam" });
		expect((await handle.reply()).content).toStartWith(sent);
		expect(shownIn(await world.entry(1))).toContain("```\nhello\n```");
	});

	reportsTest("are limited to 5 open reports, which others do not share", async (world) => {
		const messages = [];
		for (let number = 1; number <= 6; number += 1) messages.push(await world.say("mona_lisa", `message ${number}`));
		const last = present(messages.splice(5)[0]);
		for (const message of messages) expect(await world.report("zoe", message)).toStartWith(sent);
		expect(await world.report("zoe", last)).toContain("have not looked at 5 of your reports yet");
		expect(await world.report("liwei", last)).toStartWith(sent);
	});

	reportsTest("cannot begin more than 10 reports a minute", async (world) => {
		const user = world.id("mona_lisa");
		for (let count = 0; count < 10; count += 1) expect(await world.command("zoe", { user })).toContain("Say why");
		expect(await world.command("zoe", { user })).toContain("That was 10 reports within a minute. Try again in ");
	});

	reportsTest("whose reports were dismissed are shown with their number", async (world) => {
		const first = await world.say("mona_lisa", "hello");
		await world.report("zoe", first);
		await world.press(moderator, await world.entry(1), "Dismiss");
		const second = await world.say("mona_lisa", "hello again");
		await world.report("zoe", second);
		expect(shownIn(await world.entry(2))).toContain("[1 of 1 other reports dismissed]");
	});

	reportsTest("get a new entry that names the earlier one, once a report has ended", async (world) => {
		const message = await world.say("mona_lisa", "hello");
		await world.report("zoe", message);
		await world.press(moderator, await world.entry(1), "Dismiss");
		expect(await world.report("zoe", message)).toBe("You have already reported this.");
		await world.report("liwei", message);
		expect(shownIn(await world.entry(2))).toContain("Reported before: #1, dismissed");
	});
});

describe("the channel for reports", () => {
	reportsTest("is not used while everyone can see it", async (world) => {
		const message = await world.say("mona_lisa", "hello");
		showChannel(world, staffChannel, true);
		// Events arrive in order: the bot knows of the change when it answers.
		expect(await world.report("zoe", message)).toStartWith("Reports cannot be sent at the moment.");
		const line = await until("a log line", () => world.logged.lines.find((one) => one.includes("reports are refused")));
		expect(line).toContain("@everyone can see #staff");
		showChannel(world, staffChannel, false);
		expect(await world.report("zoe", message)).toStartWith(sent);
		await world.entry(1);
	});

	reportsTest("loses the texts of ended reports even while everyone can see it", async (world) => {
		const message = await world.say("mona_lisa", "hello");
		await world.report("zoe", message, "a bad word");
		await world.entry(1);
		showChannel(world, staffChannel, true);
		const report = { report: 1, outcome: "dismissed" };
		await world.call(undefined, "resolve_report", report);
		const ended = await world.entry(1, (text) => text.includes("Dismissed by"));
		expect(shownIn(ended)).not.toMatch(/hello|a bad word/);
	});

	reportsTest("gets an entry again that was deleted, with the next report", async (world) => {
		const message = await world.say("mona_lisa", "hello");
		await world.report("zoe", message);
		const entry = await world.entry(1);
		const { channel } = world.simulator.channel(staffChannel);
		world.simulator.world.messages.remove(channel, entry);
		await world.report("liwei", message, "me too");
		const again = await world.entry(1, (text) => text.includes("me too"));
		expect(again.id).not.toBe(entry.id);
		expect(shownIn(again)).toContain("```\nhello\n```");
	});
});

describe("hostile texts", () => {
	reportsTest("that Discord refuses do not keep a report from staff", async (world) => {
		const message = await world.say("mona_lisa", "a harmful link");
		const route = `POST /channels/${world.channelId}/messages`;
		// https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes
		world.simulator.faults.refuse(route, 240_000, { times: 1, status: 400 });
		await world.report("zoe", message, "look at the harmful link");
		const shown = shownIn(await world.entry(1));
		expect(shown).toContain("Discord refuses a copy of this message");
		expect(shown).toContain("(Discord refuses the reason)");
		expect(shown).not.toContain("harmful link\n");
	});

	reportsTest("ping nobody, have no links, and keep to Discord's limits", async (world) => {
		const text = `@everyone <@${world.id("zoe")}> \`\`\` [click](https://evil.example) \u202e\u200b ${"x".repeat(1_800)}`;
		const message = await world.say("mona_lisa", text);
		const reason = `@here **bold** [link](https://evil.example) \u202e <@&1> \n# ${"`".repeat(400)}`;
		await world.report("zoe", message, reason);
		const entry = await world.entry(1);
		expect(entry.mention_everyone).toBe(false);
		expect(entry.mentions).toEqual([]);
		const [facts, copy] = entry.embeds;
		expect(copy?.description).toStartWith("```\n@everyone");
		expect(copy?.description?.slice(4, -4)).not.toContain("```");
		expect(copy?.description).toContain("\\u{202e}\\u{200b}");
		expect(facts?.description).toContain("\\*\\*bold\\*\\*");
		expect(facts?.description).toContain("\\[link]");
		expect(facts?.description).not.toContain("\u202e");
	});

	reportsTest("of the greatest length, with many files, fit into an entry with many reporters", async (world) => {
		const { world: platform } = world.simulator;
		const mona = present(platform.users.get(world.id("mona_lisa")));
		const attachments = Array.from({ length: 10 }, (_, index) => ({
			id: `1111111111111111${index}`,
			filename: `${"_".repeat(200)}${index}.png`,
			size: 1,
			url: `https://cdn.example/${"a".repeat(180)}${index}.png`,
			proxy_url: "https://cdn.example/a.png",
		}));
		const { channel } = world.simulator.channel(general);
		const message = platform.messages.add(channel, mona, { content: "\u202e`".repeat(2_000), attachments } as never);
		for (const person of ["zoe", "liwei", "ada", moderator]) await world.report(person, message, "*".repeat(500));
		const entry = await world.entry(1, (text) => text.includes("by 4"));
		const size = entry.embeds
			.flatMap(({ title = "", description = "", fields = [] }) => [
				title,
				description,
				...fields.flatMap(({ name, value }) => [name, value]),
			])
			.join("").length;
		expect(size).toBeLessThanOrEqual(6_000);
		expect(shownIn(entry)).toContain("… and 8 more");
	});
});

describe("other authors", () => {
	reportsTest("a webhook's message can only be deleted", async (world) => {
		const { world: platform } = world.simulator;
		const { channel } = world.simulator.channel(general);
		const mona = present(platform.users.get(world.id("mona_lisa")));
		const id = "11111111111111119";
		const author = { ...mona, id, username: "Hook", bot: true };
		const message = platform.messages.add(channel, author, { content: "from a webhook", webhook_id: id } as never);
		expect(await world.report("zoe", message)).toStartWith(sent);
		const entry = await world.entry(1);
		expect(shownIn(entry)).toContain("a webhook");
		expect(buttonsOf(entry)).toEqual(["Delete", "Dismiss"]);
		expect(await world.press(moderator, entry, "Delete")).toContain("Case 1.");
	});
});
