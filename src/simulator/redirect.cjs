// Lets an unchanged bot that uses discord.js speak to the simulator. It is loaded before the bot: node --require, bun --preload.

const { createRequire } = require("node:module");
const { join } = require("node:path");

const { SIMULATOR_URL: url = "http://127.0.0.1:9200" } = process.env;
// The bot's own discord.js, and the REST client that belongs to it.
const fromBot = createRequire(join(process.cwd(), "package.json"));
const fromLibrary = createRequire(fromBot.resolve("discord.js"));
const { DefaultRestOptions } = fromLibrary("@discordjs/rest");
Object.assign(DefaultRestOptions, { api: `${url}/api`, cdn: url });
