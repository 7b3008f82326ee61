// A person in whose name tests call tools: a member with one role, whose permissions the tests choose.

import { PermissionFlagsBits } from "discord.js";
import type { Member, Role } from "../../src/simulator/world/state/entities.ts";
import type { McpCaller } from "../support/mcp.ts";
import { present } from "../support/until.ts";
import type { Permission } from "./tool-rows/scene.ts";
import { freshName, newRole, type Scene, startScene } from "./tool-rows/scene.ts";

/** The scene of the calls, and the person in whose name they are made. */
export interface Cast extends Scene {
	person: Member;
	/** The only role of the person. Roles and members that the tests make rank below it. */
	role: Role;
	/** A role above it. */
	higher: Role;
	/** A client that acts in the person's name. */
	client: McpCaller;
}

/** Adds the person to a scene. @everyone has no permission but VIEW_CHANNEL from then on. */
export function castOf(scene: Scene): Cast {
	const { world, guild } = scene;
	const { users, members, roles } = world.simulator.world;
	const everyone = present(guild.roles.get(guild.id));
	const permissions = String(PermissionFlagsBits.ViewChannel);
	roles.edit(guild, everyone, { permissions });
	// A new role ranks below all others.
	const higher = newRole(scene, guild);
	const role = newRole(scene, guild);
	const person = members.add(guild, users.add({ username: freshName() }));
	members.edit(guild, person, { roles: [role.id] });
	return { ...scene, person, role, higher, client: clientOf(scene, person.user.id) };
}

/** A person in a scene of their own, whose bot is an administrator. */
export async function startCast(): Promise<Cast & AsyncDisposable> {
	const scene = await startScene("a-token");
	const cast = castOf(scene);
	makeBotAdministrator(scene);
	return Object.assign(cast, { [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() });
}

/** A client that acts in the name of the user with this id. */
export function clientOf({ world }: Scene, id: string): McpCaller {
	return world.mcp.as({
		id: "key:test",
		name: "test",
		access: "all",
		person: { id, name: "somebody", signedIn: false },
	});
}

/** Gives the person these permissions in the guild, and no others beyond those of everyone. */
export function permit({ world, guild, role }: Cast, permissions: readonly Permission[]) {
	const bits = permissions.reduce((all, name) => all | PermissionFlagsBits[name], 0n);
	world.simulator.world.roles.edit(guild, role, { permissions: String(bits) });
}

/** Makes the bot an administrator, whom Discord refuses nothing: each refusal is the bot's own. */
function makeBotAdministrator({ world, guild }: Scene): void {
	const { roles } = world.simulator.world;
	const role = present([...guild.roles.values()].find(({ tags }) => tags?.bot_id));
	const permissions = String(PermissionFlagsBits.Administrator);
	roles.edit(guild, role, { permissions });
	roles.move(guild, new Map([[role, guild.roles.size]]));
}
