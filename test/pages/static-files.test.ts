import { expect, test } from "bun:test";
import { Glob } from "bun";
import { serveFiles } from "../../src/pages/static-files.ts";

const files = { "page.html": "<!doctype html><title>é</title>", "page.js": "export {};" };
const serve = serveFiles(files, "/", "/pages");
const get = (path: string, init?: RequestInit) => serve(new Request(`http://localhost${path}`, init), path);

test("files have their type, and load nothing from elsewhere", async () => {
	const page = get("/");
	expect(page?.headers.get("content-type")).toBe("text/html; charset=utf-8");
	expect(page?.headers.get("content-security-policy")).toStartWith("default-src 'none'; script-src 'self';");
	expect(await page?.text()).toContain("<title>é</title>");
	expect(get("/pages/page.js")?.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
	expect(get("/other")).toBeUndefined();
	expect(get("/", { method: "POST" })?.status).toBe(405);
});

test("a file that the browser has is not sent again", () => {
	const etag = get("/pages/page.js")?.headers.get("etag") ?? "";
	const known = { headers: { "if-none-match": etag } };
	expect(get("/pages/page.js", known)?.status).toBe(304);
	expect(get("/", known)?.status).toBe(200);
});

test("a file without a known type is refused at the start", () => {
	expect(() => serveFiles({ "x.bin": "" }, "/", "/pages")).toThrow("the file x.bin has no known media type");
});

test("the console has less than 150 KB", async () => {
	const cwd = `${import.meta.dir}/../../src/pages`;
	const all = [...new Glob("**/*.{js,css,html,svg}").scanSync({ cwd, absolute: true })];
	const files = all.filter((file) => !/pages\/(simulator|plan)\//.test(file));
	expect(files.length).toBeGreaterThan(20);
	expect(files.reduce((sum, file) => sum + Bun.file(file).size, 0)).toBeLessThan(150_000);
});
