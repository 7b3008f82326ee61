// What the tests of chargebacks have in common: roles and settings in the simulated guild, and what can be seen of a case.

import type { Simulator } from "../../../src/simulator/simulator.ts";
import { buttonsIn } from "../../../src/simulator/world/messages/components.ts";
import type { Guild, Member, Message } from "../../../src/simulator/world/state/entities.ts";
import { present, until } from "../../support/until.ts";
import { roleNamed } from "../../support/world.ts";

export const staffChannel = "The Cooks/staff";
/** Who has the staff's role in the demo's world, and may decide. */
export const staff = "jose.garcia";

export interface ChargebackFixture {
	guild: Guild;
	/** The keys of [game], and of the guild's settings of the game. */
	settings: Record<string, unknown>;
	roles: Record<"restricted" | "staff" | "regular" | "supporter", string>;
	/** A role of an integration's: nobody can give or take it. */
	managed: string;
	/** Who gets their payment back: with two roles that can be taken, and one that cannot. */
	target: {
		id: string;
		member(): Member | undefined;
		/** The member. Throws when they have left. */
		present(): Member;
		roles(): string[];
	};
	/** The bot's messages in the staff channel, in order. */
	alerts(): Message[];
	/** Waits until the latest alert's fields hold this. */
	shown(text: string): Promise<Message>;
	/** Waits until a field of the first alert starts with the text. */
	field(name: string, text: string): Promise<unknown>;
	/** Deletes an alert. */
	remove(alert: Message): void;
	/** The values of an alert's fields by name. */
	fields(alert: Message | undefined): Record<string, string>;
}

/** Makes the roles, and gives some to mona_lisa. */
export function createChargebackFixture(simulator: Simulator): ChargebackFixture {
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const restricted = world.roles.add(guild, { name: "Restricted" }).id;
	const supporter = world.roles.add(guild, { name: "Supporter" }).id;
	const managed = world.roles.add(guild, { name: "Booster", bot_id: "1" }).id;
	const roles = {
		restricted,
		supporter,
		staff: roleNamed(simulator, "Staff").id,
		regular: roleNamed(simulator, "Regular").id,
	};
	const { id } = simulator.user("mona_lisa");
	const member = () => guild.members.get(id);
	world.members.edit(guild, present(member()), { roles: [roles.regular, supporter, managed] });
	const channel = simulator.channel(staffChannel).id;
	const alerts = () => world.messages.in(channel).filter(({ author }) => author.id === simulator.bot("alpha").id);
	const fields = (alert: Message | undefined) => {
		const [embed] = alert?.embeds ?? [];
		return Object.fromEntries(embed?.fields?.map(({ name, value }) => [name, value]) ?? []);
	};
	return {
		guild,
		roles,
		managed,
		alerts,
		fields,
		settings: {
			chargeback: true,
			verify: false,
			restricted_role: restricted,
			staff_channel: channel,
			staff_roles: [roles.staff],
		},
		target: {
			id,
			member,
			present: () => present(member(), "mona_lisa is not a member"),
			roles: () => [...(member()?.roles ?? [])].sort(),
		},
		field: (name, text) =>
			until(`the field ${name} starts with ${text}`, () => fields(alerts()[0])[name]?.startsWith(text)),
		remove: (alert) => world.messages.remove(simulator.channel(staffChannel).channel, alert),
		shown: (text) =>
			until(`the alert shows ${text}`, () => {
				const last = alerts().at(-1);
				return Object.values(fields(last)).join("\n").includes(text) && last;
			}),
	};
}

/** The labels of a message's buttons that can be pressed. */
export function pressable(message: Message | undefined): string[] {
	return buttonsIn(message?.components ?? [])
		.filter(({ disabled }) => !disabled)
		.map(({ label = "" }) => label);
}
