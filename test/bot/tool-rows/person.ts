// The column "person" of the tools' table: what Discord demands of a person who does by hand what a tool does.

import { ChannelType } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { type Demand, type Hidden, newChannel, type Permission, type Scene } from "./scene.ts";

export const inChannel = (
	needs: readonly Permission[],
	hidden: Hidden = { argument: "channel_id" },
	more: Partial<Demand> = {},
): Demand => ({ needs, in: "the channel", hidden, ...more });

export const inGuild = (
	needs: readonly Permission[],
	hidden: Hidden = noChannel,
	more: Partial<Demand> = {},
): Demand => ({ needs, in: "the guild", hidden, ...more });

export const anyMember = (hidden: Hidden = noChannel): Demand => ({ needs: "nothing", hidden });

export const botManager: Demand = { needs: "to manage the bot", hidden: { why: "it is about the bot" } };

export const noChannel = { why: "it is about no channel" };
export const administrator = inGuild(["Administrator"], { why: "administrators see all channels" });

/** In voice channels, where nothing else is allowed without it. */
export const speaks = { also: ["Connect"] as const };

/** A channel that the person does not see. */
export function hiddenChannel(scene: Scene, personId: string, demand: Demand) {
	const { hidden } = demand;
	const type = "type" in hidden && hidden.type ? hidden.type : ChannelType.GuildText;
	const channel = newChannel(scene, type);
	hide(scene, channel, personId);
	return channel;
}

/** Hides a channel from a person until the result is disposed of. */
export function hide({ world }: Scene, channel: GuildChannel, personId: string): Disposable {
	const { channels } = world.simulator.world;
	const bits = { allow: "0", deny: "1024" };
	const overwrite = { id: personId, type: 1, ...bits } as const;
	channels.setOverwrite(channel, overwrite);
	return { [Symbol.dispose]: () => channels.removeOverwrite(channel, overwrite) };
}
