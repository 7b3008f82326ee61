// A community set up on Discord's page alone: /setup and /settings in a real Chromium, on the simulated
// Discord, and what each of them does afterwards.

import { expect, test } from "bun:test";
import { GuildVerificationLevel, PermissionFlagsBits } from "discord.js";
import { addInvites } from "../../src/simulator/seed.ts";
import { grant } from "../bot/features/running-feature.ts";
import { chromium, openChromium } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { memberNamed, roleNamed, startWorld } from "../support/world.ts";
import { violations } from "./axe.ts";
import { drive } from "./drive.ts";

/** The folder for pictures. Without it, none are made. */
const pictures = process.env.SCREENSHOTS;

// Bots answer a person's first 20 presses within 10 seconds: each of these makes fewer.
const [manager, moderator] = ["José García", "MONA LISA"];
/** What only the person sees, the latest of it. */
const panel = "#messages .ephemeral:nth-last-child(1 of .ephemeral)";
const latest = "#messages li:last-child";

async function openServer() {
	const world = await startWorld({}, { toml: {} });
	const { simulator, guild } = world;
	addInvites(simulator.world);
	const { ManageGuild, ManageChannels, ManageRoles } = PermissionFlagsBits;
	grant(simulator, "Staff", ManageGuild, ManageChannels, ManageRoles);
	simulator.world.members.edit(guild, memberNamed(world, "mona_lisa"), { roles: [roleNamed(world, "Staff").id] });
	await world.heard();
	const browser = await openChromium({ width: 390, height: 1_100 });
	const page = drive(browser);
	await browser.open(simulator.url, "Simulator");
	await page.sees("#connection", "live");
	const panelText = () => browser.evaluate<string>(`document.querySelector("${panel}")?.innerText`);
	return {
		world,
		browser,
		page,
		async picture(name: string) {
			await page.settle();
			if (pictures) await browser.screenshot(`${pictures}/${name}.png`);
		},
		async command(name: string) {
			await page.fill("#text", `/${name}`);
			await page.click("#suggestions button", `/${name}`);
		},
		async visit(channel: string) {
			await page.view("channels");
			await page.click("#channels button", channel);
			await page.isLoaded();
		},
		/** Presses Next until the step with this field is shown. */
		async stepWith(field: string) {
			for (;;) {
				const shown = await panelText();
				if (shown?.includes(`${field}:`)) return;
				await page.click(`${panel} button`, "Next");
				await until(`the step with ${field}`, async () => (await panelText()) !== shown);
			}
		},
		/** Fills in fields of the form of the settings that are shown, by label. */
		async type(texts: Record<string, string>) {
			await page.click(`${panel} button`, "Edit texts and numbers");
			for (const [label, text] of Object.entries(texts))
				await page.fill("#dialog input, #dialog textarea", text, label);
			await page.click("#dialog button", "Submit");
			await page.misses("#dialog", "");
		},
		async join(username: string, notice = `${username} is in The Cooks.`) {
			await page.choose("#person", "new");
			await page.fill("#dialog-answer", username);
			await page.click("#dialog button", "Act as them");
			await page.sees("#empty", `${username} is not a member of The Cooks.`);
			await page.click("#join");
			await page.fill("#dialog-answer", "the-cooks");
			await page.click("#dialog button", "Join");
			await page.sees("#notice", notice);
		},
		async [Symbol.asyncDispose]() {
			await browser[Symbol.asyncDispose]();
			await world[Symbol.asyncDispose]();
		},
	};
}

test.skipIf(!chromium)(
	"a person with Discord alone sets up greetings, roles, the log, reports, and rules for spam and raids, and all work",
	async () => {
		await using server = await openServer();
		const { world, browser, page, picture } = server;
		const { simulator, guild } = world;
		await page.become(manager);
		await server.command("setup");
		await page.sees(panel, "Setup, step 1 of");
		await picture("setup-1");
		await page.choose(`${panel} select[aria-label=Channel]`, "#general");
		await simulator.user("zoe").say("The Cooks/general", "Good morning");
		await page.sees("#messages", "Good morning");
		await page.click(`${panel} form:has(select[aria-label=Channel]) button`, "Choose");
		await page.sees(panel, "In #general, newcomers will read:");
		await server.type({ Greeting: "Hello {user}, have some soup." });
		await page.sees(panel, ", have some soup.");
		await picture("setup-2");
		await server.stepWith("Role");
		await page.pick(panel, "Role", "@Newcomer");
		await page.sees(panel, "Role: @Newcomer");
		await page.sees(panel, "A new member gets @Newcomer.");
		await picture("setup-3");
		for (const field of ["Moderation log", "Reports"]) {
			await server.stepWith(field);
			await page.pick(panel, field, "#staff");
			await page.sees(panel, `${field}: #staff`);
		}
		await server.stepWith("Told by direct message");
		await page.sees(panel, "Told by direct message: warn, temp_ban, spam");
		await page.sees(panel, "Rules: not set");
		await server.stepWith("Act on spam");
		await page.click(`${panel} button`, "Act on spam: off");
		await page.sees(panel, "Act on spam: on");
		await picture("setup-spam");
		await server.stepWith("Raid alarm");
		await server.type({ "Raid alarm": "3 joins in 1d" });
		await page.sees(panel, "Raid alarm: 3 joins in 1d");
		await server.command("settings");
		await page.sees(panel, "Settings of this bot");
		await page.pick(panel, "What do you want to set?", "Spam");
		await server.type({ "Same in messages": "3", Within: "5m" });
		await page.sees(panel, "Within: 5m");
		await picture("settings");
		expect(await violations(browser)).toEqual([]);

		await page.become(moderator);
		await server.command("setup");
		await server.stepWith("/rolemenu");
		await page.click(`${panel} button`, "Make a role menu");
		await page.sees(panel, "Choose the roles and where the menu goes.");
		await page.pick(panel, "Roles", "@Regular");
		await page.click(`${panel} button`, "Title and text");
		await page.fill("#dialog input, #dialog textarea", "Your part", "Title");
		await page.click("#dialog button", "Submit");
		await page.misses("#dialog", "");
		await page.sees(panel, "Your part");
		await page.click(`${panel} button`, "Post");
		await page.sees(panel, "The role menu is here:");
		await page.sees("#messages", "Your part");

		await server.join("nora");
		const nora = memberNamed(world, "nora");
		await page.sees("#messages", "Hello @nora, have some soup.");
		await until("nora has the role of those who join", () => nora.roles.includes(roleNamed(world, "Newcomer").id));
		await page.click("#messages button", "Regular");
		await page.sees(panel, "Added @Regular.");
		expect(nora.roles).toContain(roleNamed(world, "Regular").id);
		await page.write("Your soup is awful");

		await page.become("李伟");
		await page.sees(latest, "Your soup is awful");
		await page.click(`${latest} summary`, "Apps");
		await page.click(`${latest} button`, "Report");
		await page.fill("#dialog textarea", "Rude", "What is wrong with it?");
		await page.click("#dialog button", "Submit");
		await page.sees(panel, "Your report was sent");
		const spam = "Free skins for everybody who signs in today: https://skins.example/claim";
		for (let time = 0; time < 3; time += 1) await page.write(spam);
		await page.misses("#messages", "Free skins");

		await page.become(moderator);
		await server.visit("staff");
		await page.sees("#messages", "Timed out until");
		await page.sees("#messages", "Your soup is awful");
		await page.click("#messages button", "Warn");
		await page.sees("#dialog", "For @nora");
		await page.fill("#dialog textarea", "Be kind to the cook");
		await page.click("#dialog button", "Submit");
		await page.sees("#messages", "Warning");
		await picture("staff");

		for (const name of ["otto", "pia"]) await server.join(name);
		await page.become(moderator);
		await server.visit("staff");
		await page.sees("#messages", "3 people joined within");
		await page.click("#messages button", "Turn on raid mode");
		await page.sees("#messages", "Raid mode is on");
		expect(guild.verification_level).toBe(GuildVerificationLevel.High);
		expect(browser.problems).toEqual([]);
		await server.join("late", "Invites are currently paused for this server.");
	},
);
