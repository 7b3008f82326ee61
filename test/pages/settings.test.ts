// A community set up on Discord's page alone: /setup and /settings in a real Chromium, on the simulated Discord.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import { toml } from "../../src/bot/config/settings.ts";
import { addInvites } from "../../src/simulator/seed.ts";
import { grant } from "../bot/features/running-feature.ts";
import { chromium, openChromium } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { channelNamed, roleNamed, startWorld } from "../support/world.ts";
import { violations } from "./axe.ts";
import { drive } from "./drive.ts";

/** The folder for pictures. Without it, none are made. */
const pictures = process.env.SCREENSHOTS;

test.skipIf(!chromium)(
	"from an invitation to greetings and roles for those who join, in /setup and /settings",
	async () => {
		await using world = await startWorld({}, { toml: v.parse(toml, { bot_name: "Alpha" }) });
		const { simulator, guild } = world;
		addInvites(simulator.world);
		grant(simulator, "Staff", PermissionFlagsBits.ManageGuild, PermissionFlagsBits.ManageRoles);
		await world.heard();
		await using browser = await openChromium({ width: 390, height: 1_100 });
		const page = drive(browser);
		await browser.open(simulator.url, "Simulator");
		await page.sees("#connection", "live");
		const picture = async (name: string) => {
			await page.settle();
			if (pictures) await browser.screenshot(`${pictures}/${name}.png`);
		};
		await page.become("José García");
		await page.fill("#text", "/setu");
		await page.click("#suggestions button", "/setup");
		const last = "#messages .ephemeral:last-child";
		await page.sees(last, "Setup, step 1 of");
		await picture("setup-1");
		await page.pick(`${last} select`, channelNamed(world, "general").id, "Choose");
		await page.sees(last, "newcomers will read:");
		await page.click(`${last} button`, "Edit texts and numbers");
		await page.fill("#dialog textarea", "Hello {user}, have some soup.");
		await picture("setup-form");
		await page.click("#dialog button", "Submit");
		await page.sees(last, "have some soup");
		await picture("setup-2");
		await page.click(`${last} button`, "Next");
		await page.sees(last, "step 2 of");
		await page.pick(`${last} select`, roleNamed(world, "Newcomer").id, "Choose");
		await page.sees(last, "@Newcomer");
		await picture("setup-3");
		await page.fill("#text", "/setti");
		await page.click("#suggestions button", "/settings");
		await page.sees(last, "Settings of this bot");
		await page.pick(`${last} select`, "auto_role", "Choose");
		await page.sees(last, "Role for active members");
		await picture("settings");
		expect(await violations(browser)).toEqual([]);

		await page.choose("#person", "new");
		await page.fill("#dialog-answer", "nora");
		await page.click("#dialog button", "Act as them");
		await page.sees("#empty", "nora is not a member of The Cooks.");
		await page.click("#join");
		await page.fill("#dialog-answer", "the-cooks");
		await page.click("#dialog button", "Join");
		await page.sees("#messages", "Hello @nora, have some soup.");
		const { id } = simulator.user("nora");
		await until("she has the role", () => guild.members.get(id)?.roles.includes(roleNamed(world, "Newcomer").id));
		expect(browser.problems).toEqual([]);
	},
	60_000,
);
