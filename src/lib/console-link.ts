// Links that sign in to the gateway's console once, within ten minutes. They are made with MCP_AUTH_TOKEN; the gateway
// remembers which were used.

/** Loaded when it is used: the console starts without it. */
const nodeCrypto = (): typeof import("node:crypto") => require("node:crypto");

const lifetimeSeconds = 600;

/** `url`: of the console. Browsers do not send what follows the #. `now`: milliseconds since 1970. */
export async function consoleLink(url: string, token: string, now: number): Promise<string> {
	const end = Math.floor(now / 1000) + lifetimeSeconds;
	const text = `${crypto.getRandomValues(Buffer.alloc(9)).toString("base64url")}.${end.toString(36)}`;
	return `${url}#in=${text}.${await proofOf(text, token)}`;
}

/** Undefined if it is not of this token, or has expired. `id` differs for each. */
export async function readTicket(
	ticket: string,
	token: string,
	now: number,
): Promise<{ id: string; expiresAt: number } | undefined> {
	const [, text = "", end = "", proof = ""] = /^([\w-]{12}\.(\w{1,8}))\.([\w-]{22})$/.exec(ticket) ?? [];
	const expiresAt = Number.parseInt(end, 36) * 1000;
	if (!(now < expiresAt && expiresAt <= now + lifetimeSeconds * 1000)) return undefined;
	const expected = await proofOf(text, token);
	return crypto.timingSafeEqual(Buffer.from(proof), Buffer.from(expected)) ? { id: text, expiresAt } : undefined;
}

async function proofOf(text: string, token: string): Promise<string> {
	return (await deriveKey(token, `guildhall console link ${text}`, 16)).toString("base64url");
}

/** Slow on purpose, so that what is made with the key does not help to guess a short token. */
export function deriveKey(token: string, purpose: string, bytes: number): Promise<Buffer> {
	const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
	nodeCrypto().scrypt(token, purpose, bytes, (error, key) => (error ? reject(error) : resolve(key)));
	return promise;
}
