import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { readTable } from "../../../src/lib/instances/table.ts";
import { openPlace } from "../../support/place.ts";

function workplace() {
	const place = openPlace();
	return {
		...place,
		/** Makes a directory with these files. */
		add(name: string, files: Record<string, string>) {
			mkdirSync(place.at(name), { recursive: true });
			for (const [file, text] of Object.entries(files)) place.write(`${name}/${file}`, text);
		},
		fingerprint: () => readTable(place.path).entries[0]?.fingerprint,
	};
}

test("instances are directories with a config.toml, in the order of their names", () => {
	using place = workplace();
	for (const name of ["beta", "Alpha-1.x", "alpha"])
		place.add(name, { "config.toml": "", ".env": "MCP_PORT= 9090 \nX=\n" });
	const { entries, ignored } = readTable(place.path);
	expect(entries.map(({ name }) => name)).toEqual(["Alpha-1.x", "alpha", "beta"]);
	expect(entries[0]).toMatchObject({ path: place.at("Alpha-1.x"), env: { MCP_PORT: "9090" } });
	expect(ignored).toEqual([]);
});

test("other directories are ignored with a reason; files, the example and hidden ones without", () => {
	using place = workplace();
	const files = { "config.toml": "" };
	for (const name of ["example", ".up", ".new-instance-abc", "a b", "Gateway", "your-bot", "-x", "a,b=http"])
		place.add(name, files);
	place.add("empty", {});
	place.add("odd/config.toml", {});
	place.write("README.md");
	place.write("gateway.env");
	const { entries, ignored } = readTable(place.path);
	expect(entries).toEqual([]);
	expect(ignored.map(({ name }) => name)).toEqual(["-x", "Gateway", "a b", "a,b=http", "empty", "odd", "your-bot"]);
	expect(ignored.find(({ name }) => name === "empty")?.reason).toBe("it has no config.toml");
});

test("a link to a directory is an instance, a broken link is nothing", () => {
	using place = workplace();
	using elsewhere = workplace();
	elsewhere.add("real", { "config.toml": "" });
	symlinkSync(elsewhere.at("real"), place.at("linked"));
	symlinkSync("/nowhere", place.at("broken"));
	expect(readTable(place.path).entries.map(({ name }) => name)).toEqual(["linked"]);
});

test("a .env that cannot be read counts as empty, also a FIFO", () => {
	using place = workplace();
	place.add("alpha", { "config.toml": "" });
	place.run(["mkfifo", "alpha/.env"]);
	place.add("beta/.env", {});
	place.add("beta", { "config.toml": "" });
	expect(readTable(place.path).entries.map(({ env }) => env)).toEqual([{}, {}]);
});

test("the fingerprint changes with the files of configuration, and not with data", () => {
	using place = workplace();
	place.add("alpha", { "config.toml": "a", ".env": "A=1" });
	const seen = new Set([place.fingerprint()]);
	place.add("alpha/data", { "store.sqlite": "x" });
	seen.add(place.fingerprint());
	expect(seen.size).toBe(1);
	place.add("alpha", { ".env": "A=1\nB=2" });
	seen.add(place.fingerprint());
	place.add("alpha", { "personality.txt": "" });
	seen.add(place.fingerprint());
	chmodSync(place.at("alpha/.env"), 0o600);
	seen.add(place.fingerprint());
	// Editors save like this: they write a new file and rename it to the old name.
	place.add("alpha", { new: "A=1\nB=2" });
	renameSync(place.at("alpha/new"), place.at("alpha/.env"));
	seen.add(place.fingerprint());
	expect(seen.size).toBe(5);
});

test("a directory that cannot be read is an error that names it", () => {
	expect(() => readTable("/nowhere/instances")).toThrow(
		"/nowhere/instances has 1 error:\n  the directory of the instances cannot be read (ENOENT)",
	);
});
