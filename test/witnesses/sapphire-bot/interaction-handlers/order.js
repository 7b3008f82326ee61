import { InteractionHandler, InteractionHandlerTypes } from "@sapphire/framework";

export class Order extends InteractionHandler {
	constructor(context) {
		super(context, { interactionHandlerType: InteractionHandlerTypes.Button });
	}

	parse({ customId }) {
		return customId === "order" ? this.some() : this.none();
	}

	run(interaction) {
		return interaction.reply({ content: "Ordered.", flags: 64 });
	}
}
