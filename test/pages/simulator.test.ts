// The simulator's page in a real Chromium, with a real discord.js bot: on a wide screen and a phone, light and dark.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
	ActionRowBuilder,
	ApplicationCommandOptionType,
	ApplicationCommandType,
	ButtonBuilder,
	ButtonStyle,
	type GuildTextBasedChannel,
	type Interaction,
	LabelBuilder,
	type Message,
	MessageFlags,
	ModalBuilder,
	StringSelectMenuBuilder,
	TextInputBuilder,
	TextInputStyle,
	UserSelectMenuBuilder,
} from "discord.js";
import { addInvites } from "../../src/simulator/seed.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { type Connected, connect, usualIntents } from "../simulator/support.ts";
import { type ChromiumPage, chromium, openChromium } from "../support/chromium.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";
import { violations } from "./axe.ts";
import { drive } from "./drive.ts";

if (!chromium) console.warn("no page is tried in a browser: chromium is not installed");

const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** A PNG of one pixel. */
const pixel = Buffer.from(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
	"base64",
);

const panel = {
	content: "What shall we cook?",
	components: [
		new ActionRowBuilder<ButtonBuilder>().addComponents(
			new ButtonBuilder().setCustomId("soup").setLabel("Soup").setStyle(ButtonStyle.Primary),
			new ButtonBuilder().setCustomId("secret").setLabel("Secret").setStyle(ButtonStyle.Secondary),
		),
		new ActionRowBuilder<StringSelectMenuBuilder>().addComponents(
			new StringSelectMenuBuilder()
				.setCustomId("spice")
				.setPlaceholder("Spice")
				.setMinValues(1)
				.setMaxValues(1)
				.addOptions({ label: "Salt", value: "salt" }, { label: "Pepper", value: "pepper" }),
		),
	],
};

const note = new ModalBuilder()
	.setCustomId("note")
	.setTitle("A note")
	.addLabelComponents(
		new LabelBuilder()
			.setLabel("Text")
			.setTextInputComponent(new TextInputBuilder().setCustomId("text").setStyle(TextInputStyle.Paragraph)),
		new LabelBuilder()
			.setLabel("Who reads it")
			.setUserSelectMenuComponent(new UserSelectMenuBuilder().setCustomId("who")),
	);

/** Starts a bot that greets new members, answers "!panel" with buttons, and has the command /greet. */
async function startBot(simulator: Simulator) {
	const bot = await connect(simulator, "alpha", usualIntents);
	const { client } = bot;
	await client.application.commands.set([
		{
			name: "greet",
			description: "Greet somebody",
			options: [
				{ type: ApplicationCommandOptionType.String, name: "words", description: "What to say", required: true },
				{ type: ApplicationCommandOptionType.User, name: "who", description: "Whom to greet" },
			],
		},
		{ name: "ping", description: "Answers at once" },
		{
			name: "soup",
			description: "Soups",
			options: [
				{
					type: ApplicationCommandOptionType.Subcommand,
					name: "cook",
					description: "Cook a soup",
					options: [
						{
							type: ApplicationCommandOptionType.String,
							name: "kind",
							description: "Which soup",
							required: true,
							autocomplete: true,
						},
					],
				},
			],
		},
		{ type: ApplicationCommandType.User, name: "Praise" },
		{ type: ApplicationCommandType.Message, name: "Take a note" },
	]);
	const general = simulator.channel("The Cooks/general").id;
	client.on("messageCreate", async (message: Message) => {
		if (message.content === "!panel" && message.channel.isSendable()) await message.channel.send(panel).catch(() => {});
	});
	client.on("guildMemberAdd", async (member) => {
		const channel = client.channels.cache.get(general);
		if (channel?.isSendable()) await channel.send(`Welcome ${member}!`);
	});
	client.on("interactionCreate", async (interaction: Interaction) => {
		const flags = MessageFlags.Ephemeral;
		if (interaction.isAutocomplete()) {
			const typed = interaction.options.getFocused();
			await interaction.respond([{ name: `${typed} soup`, value: `${typed}!` }]);
		} else if (interaction.isUserContextMenuCommand()) await interaction.reply(`Well done, ${interaction.targetUser}`);
		else if (interaction.isMessageContextMenuCommand()) await interaction.showModal(note);
		else if (interaction.isModalSubmit()) {
			const text = interaction.fields.getTextInputValue("text");
			const [who] = interaction.fields.getSelectedUsers("who")?.values() ?? [];
			await interaction.reply({ content: `${text} for ${who}`, flags });
		} else if (interaction.isChatInputCommand() && interaction.commandName === "soup")
			await interaction.reply(`cooking ${interaction.options.getString("kind")}`);
		else if (interaction.isChatInputCommand()) {
			const who = interaction.options.getUser("who");
			const words = interaction.options.getString("words") ?? "pong";
			await interaction.reply(who ? `${words}, ${who}` : words);
		} else if (interaction.isStringSelectMenu())
			await interaction.reply({ content: `with ${interaction.values}`, flags });
		else if (interaction.isButton() && interaction.customId === "secret")
			await interaction.reply({ content: "It is a stew.", flags });
		else if (interaction.isButton()) await interaction.update({ content: "Soup it is." });
	});
	return bot;
}

describe.skipIf(!chromium)("the simulator's page", () => {
	let simulator: Simulator;
	let bot: Connected;
	let browser: ChromiumPage;
	let page: ReturnType<typeof drive>;
	beforeAll(async () => {
		simulator = await startSimulator();
		addInvites(simulator.world);
		bot = await startBot(simulator);
		browser = await openChromium(sizes.wide);
		page = drive(browser);
	});
	afterAll(async () => {
		await browser[Symbol.asyncDispose]();
		await bot[Symbol.asyncDispose]();
		await simulator.close();
	});

	/** Loads the page again, as the first person. */
	async function visit(size: keyof typeof sizes, scheme: "light" | "dark") {
		await browser.resize(sizes[size].width, sizes[size].height);
		await browser.prefer(scheme);
		// A file without a script, of the same origin.
		await browser.open(`${simulator.url}/pages/style.css`, "");
		await browser.evaluate("sessionStorage.clear()");
		browser.problems.length = 0;
		await browser.open(simulator.url, "Simulator");
		await page.sees("#connection", "live");
		await page.sees("#channel-name", "general");
	}

	describe.each([
		["wide", "dark"],
		["phone", "light"],
	] as const)("%s and %s", (size, scheme) => {
		const newcomer = `newcomer.${size}`;
		beforeEach(() => visit(size, scheme));

		test("a person writes, replies, reacts and deletes", async () => {
			await page.write(`hello from ${size}`);
			await page.sees("#messages", `hello from ${size}`);
			await page.click("#messages li:last-child .tools button", "Reply");
			await page.sees("#reply", "Reply to Ada: hello");
			await page.write(`again from ${size}`);
			await page.sees("#messages li:last-child .reference", `hello from ${size}`);
			await page.click("#messages li:last-child .tools summary", "React");
			await page.click("#messages li:last-child .emoji-choice button", "🎉");
			await page.sees("#messages li:last-child .reaction[aria-pressed=true]", "🎉 1");
			await page.click("#messages li:last-child .reaction", "🎉");
			await page.misses("#messages li:last-child .reaction", "🎉");
			await page.click("#messages li:last-child .tools button", "Delete");
			await page.misses("#messages", `again from ${size}`);
			expect(simulator.channel("The Cooks/general").transcript()).toContain(`ada: hello from ${size}`);
			expect(browser.problems).toEqual([]);
		});

		test("a person presses buttons and chooses; nobody else sees the ephemeral answers", async () => {
			const spice = size === "wide" ? "salt" : "pepper";
			await page.write("!panel");
			await page.click("#messages li:last-child button", "Soup");
			await page.sees("#messages li:last-child", "Soup it is.");
			await page.click("#messages li:last-child button", "Secret");
			await page.sees("#messages .ephemeral", "It is a stew.");
			await page.choose("#messages select", spice);
			await page.click("#messages form button", "Choose");
			await page.sees("#messages .ephemeral:last-child", `with ${spice}`);
			await page.click("#messages .ephemeral:last-child button", "Dismiss");
			await page.misses("#messages", `with ${spice}`);
			await page.become("José García");
			await page.sees("#messages", "Soup it is.");
			await page.misses("#messages", "It is a stew.");
			expect(browser.problems).toEqual([]);
		});

		test("what a person has chosen stays when the message or the members change, unless the menu does", async () => {
			const { client } = bot;
			const channel = client.channels.cache.get(simulator.channel("The Cooks/general").id);
			if (!channel?.isSendable()) throw new Error("general can be written in");
			const who = new UserSelectMenuBuilder().setCustomId("cook").setPlaceholder("Cook");
			const components = [...panel.components, new ActionRowBuilder<UserSelectMenuBuilder>().addComponents(who)];
			const message = await channel.send({ content: "Before", components });
			const shown = `#message-${message.id}`;
			const chosen = () =>
				browser.evaluate(`[...document.querySelectorAll("${shown} select")].map((one) => one.value)`);
			const zoe = simulator.user("zoe").id;
			await page.choose(`${shown} select[aria-label=Spice]`, "pepper");
			await page.choose(`${shown} select[aria-label=Cook]`, zoe);
			const joined = simulator.world.users.addPerson({ username: `guest.${size}` }).user;
			simulator.world.members.add(simulator.guild("The Cooks"), joined);
			await page.has(`#member-list [data-key="member-${joined.id}"]`);
			await message.edit("After");
			await page.sees(shown, "After");
			await page.has(`${shown} option[value="${joined.id}"]`);
			expect(await chosen()).toEqual(["pepper", zoe]);
			const spices = new StringSelectMenuBuilder()
				.setCustomId("spice")
				.addOptions({ label: "Pepper", value: "pepper" });
			const changed = new ActionRowBuilder<StringSelectMenuBuilder>().addComponents(spices.setPlaceholder("Spices"));
			await message.edit({ components: [changed, ...components.slice(2)] });
			await page.has(`${shown} select[aria-label=Spices]`);
			expect(await chosen()).toEqual(["", zoe]);
			expect(browser.problems).toEqual([]);
		});

		test("mentions complete while a person types, and are sent as Discord's markup", async () => {
			await page.fill("#text", "@al");
			await page.click("#suggestions button", "@alpha");
			await page.misses("#suggestions", "@");
			await browser.type(`and @Regular of ${size}, see #staff, not @nobody or a@zoe`);
			await page.click("#send");
			await page.sees("#messages li:last-child .text", `@alpha and @Regular of ${size}, see #staff, not @nobody`);
			const [cooks, { transcript }] = [simulator.guild("The Cooks"), simulator.channel("The Cooks/general")];
			const regular = cooks.roles.values().find(({ name }) => name === "Regular")?.id;
			const [alpha, staff] = [simulator.bot("alpha").id, simulator.channel("The Cooks/staff").id];
			const sent = `<@${alpha}> and <@&${regular}> of ${size}, see <#${staff}>, not @nobody or a@zoe`;
			expect(transcript()).toEndWith(`ada: ${sent}`);
			await page.click("#messages li:last-child .tools button", "Reply");
			await page.sees("#reply", "Reply to Ada: @alpha and");
			await page.click("#reply button", "Cancel");
			expect(browser.problems).toEqual([]);
		});

		test("a pasted command with its options is not posted", async () => {
			await page.fill("#text", `/greet everybody of ${size}`);
			await page.click("#send");
			await page.sees("#command", "/greet");
			await page.click("#command button", "Cancel");
			expect(simulator.channel("The Cooks/general").transcript()).not.toContain(`everybody of ${size}`);
		});

		test("a person runs commands with and without options", async () => {
			await page.fill("#text", "/pi");
			await page.click("#suggestions button", "/ping");
			await page.sees("#messages li:last-child", "pong");
			await page.write("/greet");
			await page.fill("#option-words", "Good morning");
			await page.choose("#option-who", simulator.user("zoe").id);
			await page.click("#command button", "Run");
			await page.sees("#messages li:last-child .reference", "Ada used /greet");
			await page.sees("#messages li:last-child .text", "Good morning, @Zoë");
			await page.misses("#suggestions", "/greet");
			// This command is registered while the page is open.
			await bot.client.application.commands.create({ name: `late-${size}`, description: "Comes late" });
			await page.fill("#text", "/");
			await page.sees("#suggestions", `/late-${size}`);
			await page.write("/unknown");
			await page.misses("#suggestions", "such a command");
			expect(browser.problems).toEqual([]);
		});

		test("a person gets suggestions, uses context menus, and fills in a modal", async () => {
			await page.fill("#text", "/soup c");
			await page.click("#suggestions button", "/soup cook");
			await page.fill("#option-kind", "leek");
			await page.has("#suggested-kind option[value='leek!']");
			await page.click("#command button", "Run");
			await page.sees("#messages li:last-child .text", "cooking leek");
			await page.click("#messages li:last-child .tools summary", "Apps");
			await page.click("#messages li:last-child button", "Take a note");
			await page.sees("#dialog", "A note");
			await page.sees("#dialog label", "Who reads it (required)");
			await page.fill("#dialog textarea", "too salty");
			await page.choose("#dialog select", simulator.user("zoe").id);
			await page.click("#dialog button", "Submit");
			await page.sees("#messages .ephemeral", "too salty for @Zoë");
			await page.view("members");
			await page.click("#member-list summary", "Zoë");
			await page.click("#member-list details[open] summary", "Apps");
			await page.click("#member-list button", "Praise");
			await page.view("chat");
			await page.sees("#messages li .text", "Well done, @Zoë");
			expect(browser.problems).toEqual([]);
		});

		test("a new person joins by invite, is welcomed, joins voice, and leaves", async () => {
			await page.choose("#person", "new");
			await page.fill("#dialog-answer", newcomer);
			await page.click("#dialog button", "Act as them");
			await page.sees("#empty", `${newcomer} is not a member of The Cooks.`);
			await page.click("#join");
			await page.fill("#dialog-answer", "the-cooks");
			await page.click("#dialog button", "Join");
			await page.sees("#notice", `${newcomer} is in The Cooks.`);
			await page.sees("#messages", `Welcome @${newcomer}!`);
			await page.view("channels");
			await page.misses("#channels", "staff");
			await page.click("#channels button", "Join", { label: "Lounge" });
			await page.sees("#channels .voice", newcomer);
			await page.click("#channels button", "Leave", { label: "Lounge" });
			await page.misses("#channels .voice", newcomer);
			await page.click("#guild-tools button", "Leave");
			await page.view("chat");
			await page.sees("#empty", `${newcomer} is not a member of The Cooks.`);
			expect(simulator.guild("The Cooks").members.has(simulator.user(newcomer).id)).toBe(false);
			expect(browser.problems).toEqual([]);
		});

		test("what a bot does elsewhere is marked until it is opened", async () => {
			const staff = bot.client.channels.cache.get(simulator.channel("The Cooks/staff").id);
			if (!staff?.isSendable()) throw new Error("staff can be written in");
			await staff.send(`look here, ${size}`);
			await page.view("channels");
			await page.sees("#channels .new", "staff 1 new");
			await page.click("#channels button", "staff");
			await page.sees("#messages", `look here, ${size}`);
			await page.view("channels");
			await page.misses("#channels", "1 new");
			const { guild } = staff as GuildTextBasedChannel;
			const made = await guild.channels.create({ name: `made-${size}` });
			await page.sees("#channels .new", `made-${size} new`);
			const zoe = await guild.members.fetch(simulator.user("zoe").id);
			await zoe.timeout(60_000);
			await page.view("members");
			await page.sees("#member-list summary", "🍞 timed out");
			await zoe.timeout(null);
			await page.misses("#member-list summary", "🍞 timed out");
			await made.delete();
			await page.view("channels");
			await page.misses("#channels", `made-${size}`);
			// In a guild that is not open, those of channels that the person cannot see are not marked.
			await page.become("Zoë");
			await page.click("#guilds button", "The Bakers");
			await page.sees("#guild-name", "The Bakers");
			await staff.send(`only for some, ${size}`);

			await simulator.user("liwei").say(simulator.channel("The Bakers/general").id, `in between, ${size}`);
			await page.view("chat");
			await page.sees("#messages", `in between, ${size}`);
			await page.view("channels");
			await page.misses("#guilds button", "with news");
			await simulator.user("zoe").say(simulator.channel("The Cooks/general").id, "for all");
			await page.sees("#guilds button", "The Cooks, with news");
			expect(browser.problems).toEqual([]);
		});
	});

	test("with the keyboard only: skip to writing, reply, react and run a command", async () => {
		await visit("wide", "dark");
		await browser.press("Tab");
		await page.focuses("Skip to the messages");
		await browser.press("Tab");
		await page.focuses("Skip to writing");
		await browser.press("Enter");
		await browser.type("by keyboard");
		await browser.press("Enter");
		await page.sees("#messages li:last-child", "by keyboard");
		await browser.press("Tab", { shift: true });
		await page.focuses("Delete your message");
		await browser.press("Tab", { shift: true });
		await page.focuses("Apps for the message of Ada");
		await browser.press("Tab", { shift: true });
		await page.focuses("React to the message of Ada");
		await browser.press("Enter");
		await browser.press("Tab");
		await page.focuses("React with 👍");
		await browser.press("Space");
		await page.sees("#messages li:last-child .reaction", "👍 1");
		await page.focuses("React to the message of Ada");
		await browser.press("Tab", { shift: true });
		await page.focuses("Reply to the message of Ada");
		await browser.press("Enter");
		await page.focuses("Message");
		await browser.press("Escape");
		await page.misses("#reply", "Reply to");
		await browser.type("/pi");
		await page.sees("#suggestions", "/ping");
		await browser.press("ArrowDown");
		await page.focuses("/ping");
		await browser.press("Enter");
		await page.sees("#messages li:last-child", "pong");
		await page.focuses("Message");
		await page.sees("#log", "alpha: pong");
		await browser.type("@zo");
		await page.sees("#suggestions", "@zoe");
		await browser.press("Enter");
		await browser.type("knows");
		await browser.press("Enter");
		await page.sees("#messages li:last-child .text", "@Zoë 🍞 knows");
		expect(browser.problems).toEqual([]);
	});

	test("everything that is focusable has a name, and texts have contrast", async () => {
		await visit("wide", "dark");
		await page.write("a text with `code`, <@1> and https://example.com");
		await page.write("!panel");
		await page.sees("#messages li:last-child", "What shall we cook?");
		for (const view of ["chat", "channels", "members"]) {
			await page.view(view);
			await page.settle();
			expect(await violations(browser, view === "chat" ? undefined : [390])).toEqual([]);
		}
		expect(browser.problems).toEqual([]);
	});

	test("one press starts a raid: accounts join and advertise", async () => {
		await visit("wide", "dark");
		const { members } = simulator.guild("The Cooks");
		const before = members.size;
		await page.click("#guild-tools button", "Start a raid");
		await page.sees("#notice", "24 accounts join");
		await page.sees("#messages", "FREE NITRO");
		await page.sees("#member-list summary", "Nitro Gifts");
		await until("all have joined", () => members.size === before + 24);
	});

	test("a tour opens its places, has no problem for axe, and stays dismissed until it is wanted", async () => {
		simulator.tour = [
			["A first step", "Look **here**", "ada/The Cooks/general", "-"],
			["A raid", "With [a link](http://127.0.0.1:9100/console)", "zoe/The Bakers/staff", "raid", "Who joined?", "Why?"],
		];
		await visit("wide", "dark");
		await page.sees("#tour", "1 of 2 A first step");
		await page.click("#tour button", "Next");
		await page.sees("#tour", "2 of 2 A raid");
		await page.sees("#channel-name", "staff");
		await page.sees("#guild-name", "The Bakers");
		expect(await browser.evaluate("document.querySelector('#person').selectedOptions[0].text")).toBe("Zoë 🍞");
		expect(await violations(browser)).toEqual([]);
		await page.click("#tour button", "Done");
		await visit("phone", "light");
		await page.misses("#tour", "of 2");
		await page.view("channels");
		await page.click("#take-tour");
		await page.sees("#tour", "1 of 2");
		simulator.tour = [];
		expect(browser.problems).toEqual([]);
	});

	test("hostile texts stay texts, in their place", async () => {
		await visit("phone", "dark");
		const markup = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>";
		const texts = [
			markup,
			`\u202e${"backwards ".repeat(20)}`,
			"\u0301".repeat(1900),
			"x".repeat(2000),
			"*_".repeat(900),
			"[click](javascript:alert(1)) <javascript:alert(1)> [[[[[[((((",
			"|".repeat(1999),
			"`".repeat(1999),
			"> > > >\n>>> \n# \n- \n-# x",
			"\n".repeat(3) + "a\n".repeat(900),
			"<@&1><#1><@!1><:a:1><t:99999999999999><t:9999999999999:R></a b:1>",
		];
		const guild = simulator.guild("The Bakers");
		const place = simulator.channel("The Bakers/general").channel;
		const [liwei] = [simulator.user("liwei")];
		simulator.world.guilds.edit(guild, { name: `\u202e${markup}` });
		if ("topic" in place) simulator.world.channels.edit(place, { topic: markup, name: "x".repeat(100) });
		for (const text of texts) await liwei.say(place.id, text);
		await page.become("李伟");
		await page.view("channels");
		await page.click("#guilds li:nth-child(2) button");
		await page.view("chat");
		await page.sees("#messages", "<img src=x onerror");
		await page.sees("#messages li:last-child", "unknown user");
		await liwei.say(place.id, "<t:1000000000:R>");
		await page.sees("#messages li:last-child", "years ago");
		for (const view of ["channels", "chat", "members"]) {
			await page.view(view);
			expect(await browser.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
		}
		expect(await browser.evaluate("document.title")).toBe("Simulator · Guildhall");
		expect(
			await browser.evaluate("document.querySelectorAll('#messages img, #messages script, [href^=javascript]').length"),
		).toBe(0);
		expect(browser.problems).toEqual([]);
	});

	test("a thousand messages at once are shown, the latest of them, with the older ones on request", async () => {
		await visit("wide", "dark");
		const { channel } = simulator.channel("The Cooks/general");
		const { user } = simulator.world.accounts.get(simulator.user("zoe").token) ?? {};
		if (!user) throw new Error("zoe has an account");
		for (let number = 1; number <= 1000; number++)
			simulator.world.messages.add(channel, user, { content: `number ${number};` });
		await page.sees("#messages", "number 1000;");
		await page.misses("#messages", "number 700;");
		await page.click("#older");
		await page.sees("#messages", "number 700;");
		expect(browser.problems).toEqual([]);
	});

	test("pictures are shown, those from elsewhere are links, and an uploaded page has no rights", async () => {
		await visit("wide", "dark");
		const channel = bot.client.channels.cache.get(simulator.channel("The Cooks/general").id);
		if (!channel?.isSendable()) throw new Error("general can be written in");
		const hostile = "<script>document.title = parent.document.title</script>";
		const { attachments } = await channel.send({
			content: "files",
			files: [
				{ attachment: pixel, name: "pixel.png" },
				{ attachment: Buffer.from(hostile), name: "page.html" },
			],
			embeds: [{ image: { url: "https://example.com/soup.png" } }],
		});
		await page.sees("#messages li:last-child", "page.html 1 KB");
		await page.sees("#messages li:last-child a", "https://example.com/soup.png");
		await until("the picture is loaded", () =>
			browser.evaluate<boolean>("document.querySelector('#messages .picture')?.naturalWidth === 1"),
		);
		expect(browser.problems).toEqual([]);
		const upload = attachments.find(({ name }) => name === "page.html");
		await browser.open(upload?.url ?? "", "");
		expect(await browser.evaluate("self.origin")).toBe("null");
	});

	test("after a restart the page shows the new world, as the same person in the same channel", async () => {
		await visit("wide", "light");
		await page.become("José García");
		await page.click("#channels button", "staff");
		await page.sees("#channel-name", "staff");
		await page.write("before the restart");
		await bot[Symbol.asyncDispose]();
		const { port } = simulator;
		await simulator.close();
		await page.sees("#connection", "reconnecting");
		simulator = await startSimulator({ port });
		addInvites(simulator.world);
		await page.sees("#connection", "live");
		await page.misses("#messages", "before the restart");
		await page.sees("#channel-name", "staff");
		bot = await startBot(simulator);
		await page.write("after the restart");
		await page.sees("#messages", "after the restart");
		expect(simulator.channel("The Cooks/staff").transcript()).toBe("jose.garcia: after the restart");
		await page.misses("#member-list summary", "alpha BOT offline");
		expect(browser.problems).toEqual([]);
	});
});
