// Incident actions: what a guild switches off for a while.

import { expect, test } from "bun:test";
import { as, connect, startSimulator } from "../../support.ts";

const inHours = (hours: number) =>
	new Date(Date.now() + hours * 3_600_000).toISOString();

test("discord.js pauses invites and private messages, and the guild is told as changed", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator);
	const { id } = simulator.guild("The Cooks");
	const guild = await bot.client.guilds.fetch(id);
	const invites_disabled_until = inHours(1);
	const set = await guild.setIncidentActions({
		invitesDisabledUntil: invites_disabled_until,
	});
	expect(set).toMatchObject({ dmsDisabledUntil: null });
	const told = await bot.event("GUILD_UPDATE");
	expect(told.incidents_data).toEqual({
		invites_disabled_until,
		dms_disabled_until: null,
	});
	await guild.setIncidentActions({
		invitesDisabledUntil: null,
		dmsDisabledUntil: inHours(24),
	});
	const { incidentsData } = await guild.fetch();
	expect(incidentsData?.invitesDisabledUntil).toBeNull();
	expect(incidentsData?.dmsDisabledUntil).not.toBeNull();
});

test("they last for a day at most, and take the management of the guild", async () => {
	await using simulator = await startSimulator();
	const path = `/guilds/${simulator.guild("The Cooks").id}/incident-actions`;
	const put = (name: string, hours: number) =>
		as(simulator, simulator.user(name))("PUT", path, {
			dms_disabled_until: inHours(hours),
		});
	expect((await put("alpha", 25)).faults).toHaveProperty("dms_disabled_until");
	expect((await put("jose.garcia", 1)).code).toBe(50013);
});
