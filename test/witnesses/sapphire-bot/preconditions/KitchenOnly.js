import { Precondition } from "@sapphire/framework";

export class KitchenOnly extends Precondition {
	messageRun(message) {
		return this.check(message.channel);
	}

	chatInputRun(interaction) {
		return this.check(interaction.channel);
	}

	check(channel) {
		return channel.name === "staff" ? this.error({ message: "Not among the staff." }) : this.ok();
	}
}
