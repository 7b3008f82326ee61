// Tool calls in the name of people on Discord, which commands and buttons make.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { result } from "../../../src/bot/results/result.ts";
import { guild_id } from "../../../src/bot/tool/arguments/arguments.ts";
import { destructiveTool, readTool, writeTool } from "../../../src/bot/tool/define.ts";
import { inlineText } from "../../../src/discord/text.ts";
import { ToolError } from "../../../src/lib/tool-error.ts";
import { said } from "../../../src/texts/texts.ts";
import { testWith } from "../../support/test-with.ts";
import { addToBakers } from "../../support/world.ts";
import { about, banRequest, draftFor, peopleInput, startRecording } from "./recording.ts";

const ban = destructiveTool({
	...about,
	name: "ban",
	permissions: ["BanMembers"],
	input: peopleInput,
	plan: ({ user_ids }, { guild }) => ({
		record: draftFor(user_ids),
		preview: "Would ban.",
		write: () => banRequest(guild, user_ids[0] ?? ""),
		result: "Banned.",
	}),
});

/** Says which guild it acts in, and who calls. */
const look = readTool({
	...about,
	name: "look",
	input: { guild_id },
	run: (_, { guild, principal }) => [guild.name, principal?.person?.name ?? "nobody"],
});

/** Has no argument `guild_id`. */
const count = readTool({ ...about, name: "count", person: { managesBot: false }, input: {}, run: () => "One." });

const broken = writeTool({
	...about,
	name: "broken",
	input: peopleInput,
	run() {
		throw new TypeError("broken on purpose");
	},
});

const refusing = writeTool({
	...about,
	name: "refusing",
	input: peopleInput,
	async run({ user_ids }, { guild }) {
		if (user_ids[0] !== undefined) await banRequest(guild, user_ids[0]);
		throw new ToolError("Not possible.");
	},
});

const token = "a-Secret_1_of_3";
const address = `discord.com/api/webhooks/123456789012345678/${token}`;

/** Tells a webhook's token in three ways. */
const leaking = readTool({
	...about,
	name: "leaking",
	input: { guild_id },
	run: () => [
		address,
		`https://${address}`,
		result(address, said("refusal.reason", { text: inlineText(address, 200) })),
	],
});

const tools = [ban, look, count, broken, refusing, leaking];
const start = () => startRecording({ tools });

const botTest = testWith(start);
type Bot = Awaited<ReturnType<typeof start>>;

/** Lets everybody do what the bot may do. */
async function permit({ simulator, guild, connection }: Bot): Promise<void> {
	const everyone = guild.roles.get(guild.id);
	if (!everyone) throw new Error("a guild has a role of everyone");
	const bits = BigInt(everyone.permissions) | PermissionFlagsBits.BanMembers;
	simulator.world.roles.edit(guild, everyone, { permissions: String(bits) });
	const { promise, resolve } = Promise.withResolvers<void>();
	const role = connection.guilds.find(({ id }) => id === guild.id)?.roles;
	const isKnown = () => role?.everyone.permissions.bitfield === bits;
	if (isKnown()) return;
	connection.discord.on("roleUpdate", () => isKnown() && resolve());
	await promise;
}

describe("a call in a person's name", () => {
	botTest("is refused if the person lacks a permission that the bot has", async (bot) => {
		const args = { user_ids: [bot.id("mona_lisa")] };
		const { text, isError, wrote } = await bot.as("zoe", "ban", args);
		expect(text).toContain("Ban Members");
		expect({ isError, wrote }).toEqual({ isError: true, wrote: false });
		expect(bot.events).toEqual([]);
	});

	botTest("is carried out, recorded as a case and in the bot's audit log", async (bot) => {
		await permit(bot);
		const mona = bot.id("mona_lisa");
		const args = { user_ids: [mona], reason: "spam" };
		expect(await bot.as("zoe", "ban", args)).toEqual({ text: "Banned.\nCase #1.", isError: false, wrote: true });
		expect(bot.events).toEqual(["open", `PUT /bans/${mona}`, "settle"]);
		const { principal } = bot.calls[0] ?? {};
		expect(principal).toMatchObject({
			person: { id: bot.id("zoe"), name: "zoe", signedIn: false },
			guilds: [bot.guild.id],
		});
		const [entry] = bot.simulator.journal.entries();
		expect(entry?.reason).toContain("spam");
		expect(entry?.reason).toContain("for zoe, by /try");
		expect(bot.audited).toHaveLength(1);
		const [call] = bot.audited;
		expect(call?.effect).toBe("destructive");
		expect(call).toMatchObject({
			client: "/try",
			tool: "ban",
			guildId: bot.guild.id,
			outcome: "done",
			principal: { person: { id: bot.id("zoe") } },
		});
		expect(call?.requestId).toMatch(/^[0-9a-f]{8}$/);
	});

	botTest("without the person among the members is refused", async (bot) => {
		await permit(bot);
		const { callAs, guild, id } = bot;
		const result = await callAs({
			guildId: guild.id,
			person: { id: "100000000000000001", name: "gone" },
			tool: "ban",
			args: { user_ids: [id("zoe")] },
			command: "/try",
		});
		expect(result).toMatchObject({ isError: true, wrote: false });
		expect(bot.events).toEqual([]);
	});

	botTest("acts in the guild where it was made, whatever its arguments say", async (bot) => {
		const other = addToBakers(bot);
		const args = { guild_id: other.id };
		expect(await bot.as("zoe", "look", args)).toMatchObject({ text: "The Cooks\nzoe", isError: false });
		expect(await bot.as("zoe", "count")).toMatchObject({ text: "One." });
	});

	test("is not limited by mcp.guilds", async () => {
		const guilds = new Set<string>();
		await using bot = await startRecording({ tools, changes: { guilds } });
		expect(await bot.as("zoe", "look")).toMatchObject({ text: "The Cooks\nzoe", isError: false });
		expect(await bot.call("look", {})).toMatchObject({ isError: true });
	});

	botTest("does not tell a webhook's token, with or without a scheme before its address", async (bot) => {
		const { text } = await bot.as("zoe", "leaking");
		expect(text.split("webhooks/123456789012345678/[hidden]")).toHaveLength(4);
		expect(text.replaceAll("\\", "")).not.toContain("Secret");
		expect(text.replaceAll("\\", "")).not.toContain("1_of");
	});

	botTest("of an unknown tool is a bug, which is logged", async (bot) => {
		expect(await bot.as("zoe", "nothing")).toMatchObject({
			text: "Internal error. The bot's log has the details.",
			isError: true,
			wrote: false,
		});
		expect(bot.logged.lines.join("\n")).toContain("no tool nothing");
	});
});

botTest("a read and a dry run change nothing for the audit channel", async (bot) => {
	await permit(bot);
	await bot.as("zoe", "look");
	const args = { user_ids: [bot.id("mona_lisa")], dry_run: true };
	expect(await bot.as("zoe", "ban", args)).toEqual({
		text: "Would ban.",
		isError: false,
		wrote: false,
		basis: ["Would ban."],
	});
	expect(bot.audited.map(({ effect }) => effect)).toEqual(["read", "read"]);
	expect(bot.events).toEqual([]);
});

describe("a call that fails", () => {
	test.each([[[]], [["mona_lisa"]]])("says whether it sent Discord a write: %j", async (names: string[]) => {
		await using bot = await start();
		const args = { user_ids: names.map(bot.id) };
		expect(await bot.as("zoe", "refusing", args)).toEqual({
			text: "Not possible.",
			isError: true,
			wrote: names.length > 0,
		});
		expect(bot.audited[0]?.outcome).toBe(names.length > 0 ? "failed" : "refused");
	});

	botTest("because of its arguments is refused", async (bot) => {
		const result = await bot.as("zoe", "ban", { user_ids: 5 });
		expect(result).toMatchObject({ isError: true, wrote: false });
		expect(result.text).toContain("user\\_ids");
		expect(bot.audited[0]?.outcome).not.toBe("done");
	});

	botTest("because of a bug is logged without what the person wrote", async (bot) => {
		expect(await bot.as("zoe", "broken", { user_ids: [], reason: "between us" })).toEqual({
			text: "Internal error. The bot's log has the details.",
			isError: true,
			wrote: false,
		});
		const logged = bot.logged.lines.join("\n");
		expect(logged).toContain("broken on purpose");
		expect(logged).not.toContain("between us");
		expect(bot.audited[0]).toMatchObject({ outcome: "error" });
	});
});
