// DATABASE_URL, DB_SCHEMA and DATA_DIR: what is refused, and that an issue never shows a password.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeIssues } from "../../../src/bot/store/store.ts";
import { directoryIssue } from "../../../src/lib/store/sqlite.ts";

const issues = (databaseUrl: string | undefined, schema?: string) => storeIssues({ databaseUrl, schema });
const good = "postgres://ada:s3cret@db.example/bots";

test.each([
	[undefined, undefined],
	[undefined, "alpha"],
	[good, "alpha"],
	[good, 'Émile\'s "bar"'],
	["postgresql://ada@[::1]:5433/bots?sslmode=verify-full", "a"],
	["postgres://ada:s3%2Fcr%23et%40@db:5432/b%20ots", "public"],
])("%s with the schema %s is valid", (url, schema) => {
	expect(issues(url, schema)).toEqual([]);
});

test.each([
	"s3cret",
	"mysql://ada:s3cret@db/bots",
	"postgres:ada:s3cret@db/bots",
	"postgres://ada:s3cret@/bots",
	"postgres://ada:s3cret@db",
	"postgres://ada:s3cret@db/",
	"postgres://ada:12/s3cret@db/bots",
	"postgres://ada:12#s3cret@db/bots",
	"postgres://ada:12?s3cret@db/bots",
	"postgres://ada:s3cret%@db/bots",
	"postgres://ada:s3cret@db:99999/bots",
])("DATABASE_URL=%s is refused without being shown", (url) => {
	const [issue, ...others] = issues(url, "alpha");
	expect(issue).toStartWith("DATABASE_URL: expected a URL such as postgres://");
	expect(issue).not.toContain("s3cret");
	expect(others).toEqual([]);
});

test.each([
	[undefined, "DB_SCHEMA: is required with DATABASE_URL"],
	["é".repeat(32), "DB_SCHEMA: expected at most 63 bytes"],
	["a\0b", "DB_SCHEMA: expected a name without control characters"],
	["pg_temp", 'DB_SCHEMA: "pg_temp" is reserved by PostgreSQL'],
	["INFORMATION_SCHEMA", "DB_SCHEMA: "],
])("DB_SCHEMA=%j is refused", (schema, issue) => {
	expect(issues(good, schema)).toEqual([expect.stringContaining(issue)]);
});

test("all issues are reported at once", () => {
	expect(issues("nonsense", undefined)).toHaveLength(2);
});

test("a missing directory is created for its owner only, and an impossible one is refused", () => {
	const parent = mkdtempSync(join(tmpdir(), "guildhall-data-"));
	try {
		const data = join(parent, "alpha", "data");
		expect(directoryIssue(data, "DATA_DIR")).toBeUndefined();
		for (const made of [data, join(parent, "alpha")]) expect(statSync(made).mode & 0o777).toBe(0o700);
		const file = join(data, "file");
		writeFileSync(file, "");
		expect(directoryIssue(file, "DATA_DIR")).toBe(
			`DATA_DIR: cannot create or write the directory ${JSON.stringify(file)} (EEXIST)`,
		);
	} finally {
		rmSync(parent, { recursive: true, force: true });
	}
});
