// The command-line options of keys and of grants (the connections between people and clients). They are apart from the
// commands, which a gateway does not need to load.

/** The gateway's command-line options for API keys, as `parseCommandLine` expects them. */
export const keyOptions = {
	"new-key": { type: "string" },
	access: { type: "string" },
	instances: { type: "string" },
	guilds: { type: "string" },
	person: { type: "string" },
	expires: { type: "string" },
	keys: { type: "boolean" },
	"revoke-key": { type: "string" },
} as const;

const commands = ["new-key", "keys", "revoke-key"] as const;
/** The options that set the scope of a new key. */
export const scopeOptions = ["access", "instances", "guilds", "person", "expires"] as const;

/** The values of the command-line options for API keys; undefined for options that were not given. */
export type KeyValues = {
	[Option in keyof typeof keyOptions]?:
		| ((typeof keyOptions)[Option]["type"] extends "boolean" ? boolean : string)
		| undefined;
};

export const keyUsage = `  --new-key NAME     create a key for clients, print it, and exit. Its scope:
      --access LEVEL     what it may do: read (default), write, or all, which includes what deletes, punishes,
                         gives power or silences many
      --instances A,B    only these instances
      --guilds ID,ID     only these guilds
      --person ID        acts as this Discord user, with this user's rights
      --expires 90d      how long it works, in minutes (m), hours (h), days (d) or weeks (w)
  --keys             list all keys with their scope and last use, then exit
  --revoke-key NAME  end a key, on every gateway within a second, then exit`;

/** Whether the command line contains an option for API keys. */
export function hasKeyOptions(values: KeyValues): boolean {
	return [...commands, ...scopeOptions].some((name) => values[name] !== undefined);
}

export const grantOptions = {
	grants: { type: "boolean" },
	"revoke-grant": { type: "string" },
} as const;

export interface GrantValues {
	grants?: boolean | undefined;
	"revoke-grant"?: string | undefined;
}

export const grantUsage = `  --grants           list what people have allowed clients by signing in, then exit
  --revoke-grant ID  end one of these, on every gateway within a second, then exit`;

/** Whether the command line contains an option for OAuth grants (connections between people and clients). */
export function hasGrantOptions(values: GrantValues): boolean {
	return values.grants !== undefined || values["revoke-grant"] !== undefined;
}
