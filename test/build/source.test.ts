import { describe, expect, test } from "bun:test";
import { readSource } from "../../src/build/source.ts";
import { openPlace } from "../support/place.ts";

function directory() {
	const place = openPlace();
	const git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
	return { ...place, git: (...args: string[]) => place.run([...git, ...args]).stdout };
}

test("without git the commit is unknown, or what BUILD_COMMIT says", () => {
	using place = directory();
	const unknown = { commit: "unknown", dirty: false };
	expect(readSource(place.path, {})).toEqual(unknown);
	const env = { BUILD_COMMIT: " 0123456789abcdef " };
	expect(readSource(place.path, env)).toEqual({ ...unknown, commit: "0123456789ab" });
});

describe.skipIf(!Bun.which("git"))("in a checkout", () => {
	test("the commit is git's, and what goes into an executable makes it dirty", () => {
		using place = directory();
		place.git("init", "-q");
		place.write("src/main.ts");
		place.write("README.md");
		place.git("add", ".");
		place.git("commit", "-q", "-m", "all");
		const commit = place.git("rev-parse", "HEAD").slice(0, 12);
		const env = { BUILD_COMMIT: "another" };
		const clean = { commit, dirty: false };
		expect(readSource(place.path, env)).toEqual(clean);
		place.write("instances/alpha/config.toml");
		place.write("README.md", "changed");
		expect(readSource(place.path, env)).toEqual(clean);
		place.write("src/new.ts");
		expect(readSource(place.path, env)).toEqual({ ...clean, dirty: true });
	});

	test("a checkout around the sources is not theirs, and one without a commit has none", () => {
		using place = directory();
		place.git("init", "-q");
		place.write("inner/src/main.ts");
		expect(readSource(place.path, {}).commit).toBe("unknown");
		place.git("add", ".");
		place.git("commit", "-q", "-m", "all");
		const inner = place.at("inner");
		expect(readSource(inner, {}).commit).toBe("unknown");
	});
});
