import { Events, Listener } from "@sapphire/framework";

export class MessageDenied extends Listener {
	constructor(context) {
		super(context, { event: Events.MessageCommandDenied });
	}

	run(error, { message }) {
		return message.reply(error.message);
	}
}
