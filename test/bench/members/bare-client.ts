// The least that a bot with discord.js is: a client with the intents of the bot and all members of a guild. It does
// nothing with them and answers nobody.

import { Client, GatewayIntentBits } from "discord.js";

const { API, TOKEN, GUILD } = process.env;
const client = new Client({
	intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMembers, GatewayIntentBits.GuildMessages],
	rest: { api: String(API) },
});
client.once("clientReady", async () => {
	const guild = await client.guilds.fetch(String(GUILD));
	const members = await guild.members.fetch({ time: 600_000 });
	console.log(`loaded ${members.size} members`);
});
process.stdin.on("end", () => process.exit(0)).resume();
await client.login(TOKEN);
