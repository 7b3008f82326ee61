// A tool may be quiet for longer than Bun lets a response be by itself: 10 s.

import { expect, test } from "bun:test";
import { modernRequest, postTo, rawTool, startBothServers } from "../support/both-servers.ts";

/** Bun looks every few seconds: at 10 s of silence a response was cut by 12. */
const quietMs = 12_500;

test("a call that is quiet for over 12 s is answered, by bot and gateway, in both eras", async () => {
	const quiet = rawTool("quiet", async (_, { reportProgress }) => {
		reportProgress(1);
		await Bun.sleep(quietMs);
		return '{"content":[{"type":"text","text":"at last"}]}';
	});
	await using servers = await startBothServers({ tools: [quiet] });
	const legacy = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"quiet"}}';
	const streamed =
		'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"quiet","_meta":{"progressToken":1}}}';
	const modern = modernRequest("tools/call", { name: "quiet" });
	const answers = [servers.bot, servers.gateway].flatMap((url) => [
		postTo(url, legacy),
		postTo(url, streamed),
		postTo(url, modern.body, modern.headers),
	]);
	for (const answer of answers) {
		const response = await answer;
		expect(response.status).toBe(200);
		expect(await response.text()).toContain("at last");
	}
});
