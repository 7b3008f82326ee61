// send_file: contents, names and mentions.

import { expect, test } from "bun:test";
import { shareWorld } from "../../support/shared-world.ts";
import { channelNamed, linked, type TestWorld, worldTest } from "../../support/world.ts";

const shared = shareWorld();

function sendTo(world: TestWorld) {
	const channel_id = channelNamed(world, "general").id;
	return {
		send: (args: object) => world.call("send_file", { channel_id, filename: "soup.txt", text: "soup", ...args }),
		last: () => world.simulator.world.messages.in(channel_id).at(-1),
	};
}

worldTest("text and bytes arrive as they are", async (world) => {
	const { send, last } = sendTo(world);
	const read = async () => {
		const [file] = last()?.attachments ?? [];
		const bytes = await (await fetch(file?.url ?? "")).bytes();
		return [file?.filename, file?.size, Buffer.from(bytes).toString("base64")];
	};
	const { text } = await send({ text: "süß\n\u0000", content: "look" });
	expect(text).toBe(
		`File sent: soup.txt, 7 bytes (message ID: ${last()?.id}) to ${linked(world, channelNamed(world, "general"), last()?.id)}`,
	);
	expect(last()?.content).toBe("look");
	const written = Buffer.from("süß\n\u0000").toString("base64");
	expect(await read()).toEqual(["soup.txt", 7, written]);
	const data_base64 = Buffer.from([0, 255, 13, 10]).toString("base64");
	const bytes = { filename: "a.bin", text: undefined, data_base64 };
	await send({ ...bytes, spoiler: true });
	expect(await read()).toEqual(["SPOILER_a.bin", 4, data_base64]);
	expect(last()?.content).toBe("");
});

test.each(["soup.txt", "Menü (2026-01-31) v1.0+b.json", "献立.md", `${"a".repeat(96)}.txt`])(
	"%s is a plain file name",
	async (filename) => {
		const world = await shared();
		const { send } = sendTo(world);
		expect((await send({ filename })).isError).toBe(false);
	},
);

worldTest("the content of a file message pings nobody", async (world) => {
	const { send, last } = sendTo(world);
	const ada = world.simulator.user("ada").id;
	const content = `<@${ada}> @everyone`;
	await send({ content });
	expect(last()).toMatchObject({ mentions: [], mention_everyone: false });
});

worldTest("a file as large as a request can hold is sent", async (world) => {
	const { send, last } = sendTo(world);
	const data_base64 = Buffer.alloc(45_000, 1).toString("base64");
	const sent = await send({ text: undefined, data_base64 });
	expect(sent.isError).toBe(false);
	expect(last()?.attachments[0]?.size).toBe(45_000);
});
