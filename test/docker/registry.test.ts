// The entry for the MCP registry, by the registry's schema for it, as far as the entry uses it.
// https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

const path = join(import.meta.dir, "../../docker/registry/server.json");

const input = z.strictObject({
	description: z.string().optional(),
	isRequired: z.boolean().optional(),
	isSecret: z.boolean().optional(),
	placeholder: z.string().optional(),
	value: z.string().optional(),
	get variables() {
		return z.record(z.string(), input).optional();
	},
});
const server = z.strictObject({
	$schema: z.url(),
	name: z
		.string()
		.min(3)
		.max(200)
		.regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
	title: z.string().min(1).max(100),
	description: z.string().min(1).max(100),
	version: z.string().max(255),
	packages: z.array(
		z.strictObject({
			registryType: z.literal("mcpb"),
			identifier: z.string(),
			fileSha256: z.string(),
			transport: z.strictObject({ type: z.literal("stdio") }),
		}),
	),
	remotes: z.array(
		z.strictObject({
			type: z.literal("streamable-http"),
			url: z.string(),
			variables: z.record(z.string(), input).optional(),
			headers: z.array(input.extend({ name: z.string() })).optional(),
		}),
	),
});

// WRITE_REFERENCE=1 writes it.
test("the documents name the repository of package.json, which is where the owner's name is", async () => {
	const project = join(import.meta.dir, "../..");
	const { repository } = await Bun.file(join(project, "package.json")).json();
	for (const name of ["README.md", "test/install/server.test.ts", "test/end-to-end/readme.test.ts"]) {
		const file = Bun.file(join(project, name));
		const text = await file.text();
		const right = text.replaceAll(
			/github\.com\/[^/]+\/guildhall\/releases/g,
			`github.com/${repository.slice("github:".length)}/releases`,
		);
		if (process.env.WRITE_REFERENCE) await file.write(right);
		else expect(text).toBe(right);
	}
});

test("the entry fits the registry's schema once a release has filled it in", () => {
	const text = readFileSync(path, "utf8").replace('"name": ""', '"name": "io.github.owner/guildhall"');
	const entry = server.parse(JSON.parse(text));
	expect(entry.$schema).toEndWith("/2025-12-11/server.schema.json");
	const [remote] = entry.remotes;
	// Every name in braces is a variable.
	const names = [...(remote?.url ?? "").matchAll(/\{(\w+)\}/g)];
	expect(names.map(([, name = ""]) => name)).toEqual(Object.keys(remote?.variables ?? {}));
	const [header] = remote?.headers ?? [];
	expect(header?.value).toBe("Bearer {token}");
	expect(Object.keys(header?.variables ?? {})).toEqual(["token"]);
});
