// A Sapphire bot that knows nothing of the simulator. https://sapphirejs.dev

import { SapphireClient } from "@sapphire/framework";
import { GatewayIntentBits } from "discord.js";

const client = new SapphireClient({
	baseUserDirectory: import.meta.dirname,
	defaultPrefix: "!",
	loadMessageCommandListeners: true,
	intents: [
		GatewayIntentBits.Guilds,
		GatewayIntentBits.GuildMembers,
		GatewayIntentBits.GuildMessages,
		GatewayIntentBits.MessageContent,
	],
});
await client.login(process.env.DISCORD_TOKEN);
