// What tools reach: they have no other way to Discord's objects than the look-ups that leave out what the person in whose
// name a call acts does not see. A new use of the unfiltered ways has to be explained here.

import { expect, test } from "bun:test";
import { Glob } from "bun";
import { donatorTools } from "../../../src/bot/game/donator-tools.ts";
import { tools } from "../../../src/bot/tools/index.ts";

const root = new URL("../../../src/bot/", import.meta.url).pathname;
const folders = ["tool", "tools", "messages"];

const sources = new Map(
	await Promise.all(
		[...folders.map((folder) => `${folder}/**/*.ts`), "game/*-tools.ts"]
			.flatMap((pattern) => [...new Glob(pattern).scanSync(root)])
			// Read and change channels for the tools alone.
			.concat("../discord/overwrites.ts", "../discord/thread-pages.ts")
			.map(async (path) => [path, await Bun.file(root + path).text()] as const),
	),
);

/** How often each file matches. */
function uses(pattern: RegExp): Record<string, number> {
	const counts = [...sources].map(([path, text]) => [path, text.match(pattern)?.length ?? 0] as const);
	return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

test("tools look up channels and threads only where hidden ones are left out", () => {
	expect(uses(/\b(channels|threads)\s*\.cache\b/g)).toEqual({
		// Messages to the operator's audit channel: no tool sends them.
		"messages/embed-queue.ts": 1,
	});
	expect(uses(/\bchannels\s*\.fetch\w*\(/g)).toEqual({
		// Refreshes cached channels that were looked up before.
		"../discord/overwrites.ts": 2,
	});
	expect(uses(/\bfetchGuildChannels\(/g)).toEqual({
		// Says which channels the person does not see.
		"tools/channels/channel-placement.ts": 1,
	});
});

test("tools look up nothing else of a guild's channels in caches, but for voice states in visible channels", () => {
	expect(
		uses(/\b(voiceStates|scheduledEvents|stageInstances|invites|messages|autoModerationRules)\s*\.(cache|fetch\w*)\b/g),
	).toEqual({ "tools/voice.ts": 1 });
	expect(uses(/\bfetch(Webhooks|Invites|Pins|AuditLogs|Active\w*)\(/g)).toEqual({});
});

/** Discord's lists that contain objects of hidden channels, and the files that leave these out. */
const lists: Record<string, readonly string[]> = {
	guildActiveThreads: ["../discord/thread-pages.ts"],
	guildAuditLog: ["tools/audit-log.ts"],
	guildChannels: ["tools/channels/channel-edit.ts", "tools/channels/new-channel.ts", "tools/channel-moves.ts"],
	guildInvites: ["tools/invites.ts"],
	guildMessagesSearch: ["messages/message-index.ts"],
	guildScheduledEvents: ["tools/scheduled-events.ts"],
	guildWebhooks: ["tools/webhooks.ts"],
	channelJoinedArchivedThreads: ["messages/archived-threads.ts"],
	channelThreads: ["../discord/thread-pages.ts", "messages/archived-threads.ts"],
	// One object, whose channel is looked up afterwards.
	guildScheduledEvent: ["tools/scheduled-events.ts"],
	invite: ["tools/invites.ts"],
	webhook: ["tools/webhooks.ts"],
};

test.each(Object.entries(lists))("Routes.%s is used only where hidden channels are left out", (route, files) => {
	const pattern = new RegExp(`\\bRoutes\\.${route}\\(`, "g");
	expect(Object.keys(uses(pattern)).sort()).toEqual([...files].sort());
});

test("only checks of one side, the bot's or the person's, are explained", () => {
	const oneSided =
		/\b(?:(?:botPermissions|missingForBot|isBelowBot)\(|requireOf\((?:person \?\? )?botMember|require\w+Below\(.*\[(?:botMember|actor\b))/g;
	expect(Object.keys(uses(oneSided)).sort()).toEqual(
		[
			// What the bot keeps for itself in a channel.
			"tools/channels/channel-edit.ts",
			"tools/channels/channel-lock.ts",
			"tools/channels/new-channel.ts",
			// The pipeline checks both, one after the other.
			"tool/pipeline.ts",
			// Ownership: the bot's things are not the person's, and the other way round.
			"tools/deletions.ts",
			"tools/messages.ts",
		].sort(),
	);
});

test("only these tools without a guild are for every member", () => {
	const all = [...tools, ...donatorTools({} as never)];
	const forMembers = all.filter(({ listing, needs }) => {
		const { properties = {} } = listing.inputSchema as { properties?: object };
		const managesBot = needs.person?.managesBot ?? true;
		return !("guild_id" in properties) && !managesBot;
	});
	expect(forMembers.map(({ name }) => name)).toEqual([
		// The guilds of the person.
		"list_guilds",
		// The same for all.
		"find_tools",
	]);
});

/** Tools that change something, and whose permissions depend on what they find: their `run` asks for them. */
const checkThemselves = [
	// Of the person: Manage Events, or Create Events for events that the person created.
	"edit_scheduled_event",
	"delete_scheduled_event",
	// Manage Threads, unless the person created the thread.
	"edit_thread",
	"edit_thread_members",
	// Manage Expressions, or Create Expressions for emoji that the person created.
	"edit_emoji",
	"delete_emoji",
	// Manage Messages, unless the person wrote the message.
	"delete_messages",
	// Mute, Deafen or Move Members, by argument and by the channels of the members.
	"edit_voice_members",
	// Manage Channels in the invite's channel, or Manage Server.
	"delete_invite",
	// Manage Nicknames, or Change Nickname for the person's own.
	"set_nickname",
	// In each kind of channel another permission.
	"create_thread",
];

test.each(
	tools
		.filter(({ listing }) => {
			const { readOnlyHint } = listing.annotations as Record<string, boolean>;
			return !readOnlyHint;
		})
		.map((tool) => [tool.name, tool] as const),
)("%s says what a person needs", (name, { needs, listing }) => {
	const { permissions, person } = needs;
	const all = [permissions, person?.permissions ?? []].flat();
	const { properties = {} } = listing.inputSchema as { properties?: object };
	const isAboutBot = person?.managesBot ?? !("guild_id" in properties);
	const isSaid = isAboutBot || all.some((one) => typeof one === "string" || "inGuild" in one);
	expect(isSaid).toBe(!checkThemselves.includes(name));
});
