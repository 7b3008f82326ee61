import { Events, Listener } from "@sapphire/framework";

export class Greet extends Listener {
	constructor(context) {
		super(context, { event: Events.GuildMemberAdd });
	}

	run(member) {
		const channel = member.guild.channels.cache.find(({ name }) => name === "general");
		return channel.send(`Welcome, ${member}!`);
	}
}
