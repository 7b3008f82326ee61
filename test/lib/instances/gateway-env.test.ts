import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { newSharedToken, readGatewayEnv, writeSharedToken } from "../../../src/lib/instances/gateway-env.ts";
import { openPlace } from "../../support/place.ts";

function workplace() {
	const place = openPlace();
	const file = place.at("gateway.env");
	const write = (text: string) => place.write("gateway.env", text, 0o600);
	return { ...place, file, write, mode: () => statSync(file).mode & 0o777 };
}

test("there is none in an empty directory", () => {
	using place = workplace();
	expect(readGatewayEnv(place.path)).toBeUndefined();
});

test("a written token is read again, and only the owner can read it", () => {
	using place = workplace();
	const token = newSharedToken();
	expect(token).toMatch(/^[0-9a-f]{64}$/);
	writeSharedToken(place.path, token);
	expect(place.mode()).toBe(0o600);
	expect(readGatewayEnv(place.path)).toEqual({ variables: { MCP_AUTH_TOKEN: token }, token, wasExposed: false });
	expect(readdirSync(place.path)).toEqual(["gateway.env"]);
});

test.each([
	"GATEWAY_PORT=9200",
	"# comment\nGATEWAY_PORT=9200\n",
	"MCP_AUTH_TOKEN=\nGATEWAY_PORT=9200\n",
	"MCP_AUTH_TOKEN=your-shared-token\nGATEWAY_PORT=9200\n",
])("a token is added to %j, whose other lines stay", (text) => {
	using place = workplace();
	place.write(text);
	expect(readGatewayEnv(place.path)?.token).toBeUndefined();
	writeSharedToken(place.path, "secret");
	expect(place.read("gateway.env")).toStartWith(text);
	expect(readGatewayEnv(place.path)).toMatchObject({ variables: { GATEWAY_PORT: "9200" }, token: "secret" });
	expect(place.mode()).toBe(0o600);
});

test.each(["a#b", "a'b", 'a"b', "a`#b", "$HOME", "a\\nb", "=", " a "])("the token %j is written as it is", (token) => {
	using place = workplace();
	writeSharedToken(place.path, token);
	expect(readGatewayEnv(place.path)?.token).toBe(token.trim());
});

test("a token with every kind of quotation mark is refused, and nothing is written", () => {
	using place = workplace();
	const token = "#'\"`";
	expect(() => writeSharedToken(place.path, token)).toThrow("contains every kind of quotation mark");
	expect(readdirSync(place.path)).toEqual([]);
});

test("reading takes away the permissions of others and says so once", () => {
	using place = workplace();
	place.write("MCP_AUTH_TOKEN=secret");
	chmodSync(place.file, 0o644);
	expect(readGatewayEnv(place.path)?.wasExposed).toBe(true);
	expect(place.mode()).toBe(0o600);
	expect(readGatewayEnv(place.path)?.wasExposed).toBe(false);
});

test("a file of another user that others can read is refused", () => {
	using place = workplace();
	if (process.getuid?.() !== 0) return;
	place.write("MCP_AUTH_TOKEN=secret");
	chmodSync(place.file, 0o644);
	Bun.spawnSync(["chown", "12345", place.file]);
	expect(() => readGatewayEnv(place.path)).toThrow("it belongs to another user (12345): run chown and chmod 600 on it");
	expect(place.mode()).toBe(0o644);
});

test("a directory in its place is an error, and what a link names is read", () => {
	using place = openPlace();
	using other = workplace();
	mkdirSync(other.file);
	expect(() => readGatewayEnv(other.path)).toThrow(other.file);
	place.write("real", "MCP_AUTH_TOKEN=secret", 0o600);
	symlinkSync("real", place.at("gateway.env"));
	expect(readGatewayEnv(place.path)?.token).toBe("secret");
});
