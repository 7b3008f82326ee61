// Incident actions: disabled invites and DMs.

import { expect } from "bun:test";
import { connect, testWith } from "../../support.ts";

const test = testWith();

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

test("discord.js disables invites and DMs, with a GUILD_UPDATE event", async ({ simulator }) => {
	await using bot = await connect(simulator);
	const { id } = simulator.guild("The Cooks");
	const guild = await bot.client.guilds.fetch(id);
	const invites_disabled_until = inHours(1);
	const set = await guild.setIncidentActions({ invitesDisabledUntil: invites_disabled_until });
	expect(set).toMatchObject({ dmsDisabledUntil: null });
	const told = await bot.event("GUILD_UPDATE");
	expect(told.incidents_data).toEqual({ invites_disabled_until, dms_disabled_until: null });
	await guild.setIncidentActions({ invitesDisabledUntil: null, dmsDisabledUntil: inHours(24) });
	const { incidentsData } = await guild.fetch();
	expect(incidentsData?.invitesDisabledUntil).toBeNull();
	expect(incidentsData?.dmsDisabledUntil).not.toBeNull();
});

test("incident actions last a day at most and need MANAGE_GUILD", async ({ simulator, as }) => {
	const path = `/guilds/${simulator.guild("The Cooks").id}/incident-actions`;
	const put = (name: string, hours: number) => as(name)("PUT", path, { dms_disabled_until: inHours(hours) });
	expect((await put("alpha", 25)).faults).toHaveProperty("dms_disabled_until");
	expect((await put("jose.garcia", 1)).code).toBe(50013);
});
