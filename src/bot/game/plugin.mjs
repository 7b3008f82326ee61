// A game server's plugin to start from, for Node 20 or later: GAME_VERIFY_SECRET=… PORT=8080 node plugin.mjs
// Replace the two maps by your game and its database. Contract: README.md and openapi.yaml.

import { createHash, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

const { GAME_VERIFY_SECRET: secret, PORT: port = "8080" } = process.env;
if (!secret) throw new Error("GAME_VERIFY_SECRET is not set");
/** The account for which the game issued each code: random, valid once and for a few minutes. `tier` is a key of game.tiers. */
const codes = new Map([
	["ABC123", { uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5", username: "Steve", tier: "premium" }],
]);
/** The linked account by Discord id. */
const links = new Map();

const routes = {
	"POST /api/verify"({ code, chat_id }) {
		const account = codes.get(code);
		if (!account) return { success: false, error: "This code is not known. Type /link in the game to get one." };
		codes.delete(code);
		links.set(chat_id, account);
		return { success: true, username: account.username, uuid: account.uuid };
	},
	"GET /api/donators": () => ({
		donators: [...links].flatMap(([chat_id, account]) => (account.tier ? { chat_id, ...account } : [])),
	}),
	"POST /api/ban"({ uuid, reason }) {
		console.log(`ban ${uuid} in the game: ${reason}`);
		return { success: true };
	},
};

const hash = (text) => createHash("sha256").update(text).digest();
const isOurs = ({ headers }) => timingSafeEqual(hash(headers.authorization ?? ""), hash(`Bearer ${secret}`));

const server = createServer(async (request, response) => {
	const route = routes[`${request.method} ${request.url}`];
	const status = !isOurs(request) ? 401 : route ? 200 : 404;
	const given = request.method === "POST" ? await json(request).catch(() => ({})) : {};
	response.writeHead(status, { "Content-Type": "application/json" });
	response.end(JSON.stringify(status === 200 ? route(given ?? {}) : { error: `HTTP ${status}` }));
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
