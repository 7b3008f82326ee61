import { expect, test } from "bun:test";
import { decodePrincipal, encodePrincipal, includesAccess, type Principal } from "../../src/lib/principal.ts";

const full: Principal = {
	id: "key:moderators",
	name: "moderators",
	client: "Claudé 🦊",
	person: { id: "123456789012345678", name: "Hånna", signedIn: true },
	access: "write",
	guilds: ["234567890123456789"],
	toolsets: ["messages"],
	elicits: true,
};

test("a principal survives the header, without its instances", () => {
	const value = encodePrincipal({ ...full, instances: ["alpha"] });
	expect(value).toMatch(/^[\w-]+$/);
	expect(decodePrincipal(value)).toEqual(full);
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

test.each([
	["", "nothing"],
	["{}", "no base64url of JSON"],
	[encode([]), "a list"],
	[encode({ ...full, access: "owner" }), "an unknown access"],
	[encode({ ...full, id: "" }), "no id"],
	[encode({ ...full, scope: "all" }), "an unknown member"],
	[encode({ ...full, guilds: "all" }), "guilds that are no list"],
	[encode({ ...full, guilds: new Array(101).fill("1") }), "more than 100 guilds"],
	[encode({ ...full, person: { id: "me", name: "", signedIn: false } }), "a person without an id of Discord"],
])("%p is no principal: %s", (value) => {
	expect(decodePrincipal(value)).toBeUndefined();
});

test("each access level includes those below it", () => {
	expect(includesAccess("read", "read")).toBe(true);
	expect(includesAccess("read", "write")).toBe(false);
	expect(includesAccess("write", "all")).toBe(false);
	expect(includesAccess("all", "read")).toBe(true);
});
