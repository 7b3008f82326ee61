// Every route that declares permissions refuses an actor who lacks one of them.

import { expect, test } from "bun:test";
import { allRoutes } from "../../../src/simulator/rest/routes/all.ts";
import { allPermissions, bitsOf } from "../../../src/simulator/world/state/permissions.ts";
import { cooksOf, startSimulator } from "../support.ts";

const administrator = bitsOf("Administrator");

/** The bits in which a number is one. */
function bitsIn(all: bigint): bigint[] {
	return Array.from(all.toString(2), (_, index) => 1n << BigInt(index)).filter((bit) => (all & bit) !== 0n);
}

test.each(allRoutes.flatMap(({ name, needs }) => (needs === undefined ? [] : [[name, bitsOf(needs)] as const])))(
	"%s needs each of its permissions",
	async (name, needs) => {
		await using simulator = await startSimulator({ onlyResponses: true });
		const { alpha, world, guild, channel, ada, member, role } = cooksOf(simulator);
		world.roles.edit(guild, role("@everyone"), { permissions: "0" });
		const ids: Record<string, string> = {
			guild_id: guild.id,
			channel_id: channel.id,
			message_id: world.messages.add(channel, ada, { content: "x" }).id,
			user_id: member("zoe").user.id,
			role_id: role("Newcomer").id,
		};
		const [method = "", pattern = ""] = name.split(" ");
		const path = pattern.replace(/:(\w+)/g, (_, key: string) => ids[key] ?? "1");
		for (const bit of bitsIn(needs)) {
			world.roles.edit(guild, role("alpha"), { permissions: String(allPermissions & ~administrator & ~bit) });
			const body = method === "GET" ? undefined : {};
			// Who cannot see a channel has no access to it.
			expect((await alpha(method, path, body)).code).toBe(bit === bitsOf("ViewChannel") ? 50001 : 50013);
		}
	},
);
