// A raid to rehearse with: accounts that join a guild and advertise, until invites are paused.

import { arePaused } from "../rest/routes/invites.ts";
import { chatChannelOf } from "../world/channels/channels.ts";
import { type Guild, isText } from "../world/state/entities.ts";
import { channelPermissions, has } from "../world/state/permissions.ts";
import type { World } from "../world/world.ts";

const accounts = 24;
const everyMs = 200;

export function startRaid(world: World, guild: Guild) {
	let number = 0;
	const timer = setInterval(() => {
		number += 1;
		if (number > accounts || arePaused(guild)) return clearInterval(timer);
		const user = world.users.add({ username: `free_nitro_${world.state.users.size}`, global_name: "Nitro Gifts" });
		world.members.add(guild, user);
		const content = `FREE NITRO for ${number}00!!! https://nitro-gifts.example/claim`;
		const open = guild.channels.values().filter((one) => has(channelPermissions(guild, one, user.id), "SendMessages"));
		// Every sixth account writes in all channels.
		for (const channel of open)
			if (number % 6 === 0 ? isText(channel.type) : channel === chatChannelOf(guild))
				world.messages.add(channel, user, { content });
	}, everyMs);
	timer.unref();
	return { accounts };
}
