// What a person does beside commands: sends files, chooses in menus.

import { expect } from "bun:test";
import { simulatorTest } from "../../support/simulator.ts";
import { connect } from "../support.ts";
import { general } from "./answering.ts";

const picture = (size: number) => ({
	filename: "picture.png",
	content: new Uint8Array(size).fill(7),
	content_type: "image/png",
});

simulatorTest("attachments arrive with size and media type, and can be downloaded", async (simulator) => {
	await using bot = await connect(simulator);
	const files = [picture(1000), { filename: "a b.txt", content: "leek", content_type: "text/plain" }];
	const said = await simulator.user("zoe").say(general, "", { attachments: files });
	expect(said.attachments).toHaveLength(2);
	const event = await bot.event("MESSAGE_CREATE");
	expect(event).toMatchObject({
		content: "",
		attachments: [
			{ filename: "picture.png", size: 1000, content_type: "image/png" },
			{ filename: "a_b.txt", size: 4 },
		],
	});
	const { attachments } = event as { attachments: { url: string }[] };
	expect(attachments[0]?.url).toMatch(/\/picture\.png\?ex=[0-9a-f]+&is=[0-9a-f]+&hm=[0-9a-f]{64}&$/);
	const [served, text] = await Promise.all(attachments.map(({ url }) => fetch(url)));
	expect(served?.headers.get("content-type")).toBe("image/png");
	expect(await served?.bytes()).toEqual(new Uint8Array(1000).fill(7));
	expect(await text?.text()).toBe("leek");
});

simulatorTest("a file sent again has another id and address", async (simulator) => {
	const zoe = simulator.user("zoe");
	const send = () => zoe.say(general, "", { attachments: [picture(10)] });
	const [first, second] = [await send(), await send()];
	expect(first.attachments[0]?.id).not.toBe(second.attachments[0]?.id ?? "");
	expect(first.attachments[0]?.url).not.toBe(second.attachments[0]?.url ?? "");
});

simulatorTest("40 people who write in 20 channels at once: each message arrives once", async (simulator) => {
	await using bot = await connect(simulator);
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const channels = Array.from({ length: 20 }, (_, n) => world.channels.add(guild, { name: `c${n}`, type: 0 }));
	const people = Array.from({ length: 40 }, (_, n) => {
		const { user } = world.users.addPerson({ username: `p${n}` });
		world.members.add(guild, user);
		return simulator.user(user.username);
	});
	const sent = await Promise.all(
		people.flatMap((person) => channels.map(({ id }) => person.say(id, "free", { attachments: [picture(20_000)] }))),
	);
	const last = sent
		.map(({ id }) => id)
		.sort()
		.at(-1);
	await bot.event("MESSAGE_CREATE", ({ id }) => id === last);
	const seen = bot.events.filter(({ t }) => t === "MESSAGE_CREATE");
	expect(seen).toHaveLength(800);
	expect(new Set(seen.map(({ d }) => d.id)).size).toBe(800);
	const [first] = sent;
	const served = await fetch(first?.attachments[0]?.url ?? "");
	expect((await served.bytes()).length).toBe(20_000);
});
