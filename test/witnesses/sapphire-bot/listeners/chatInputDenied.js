import { Events, Listener } from "@sapphire/framework";

export class ChatInputDenied extends Listener {
	constructor(context) {
		super(context, { event: Events.ChatInputCommandDenied });
	}

	run(error, { interaction }) {
		return interaction.reply(error.message);
	}
}
