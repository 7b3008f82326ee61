// Options of commands on keys and grants, apart from the commands, which a gateway does not need to load.

/** For `parseCommandLine`. */
export const storeOptions = {
	"new-key": { type: "string" },
	access: { type: "string" },
	instances: { type: "string" },
	guilds: { type: "string" },
	person: { type: "string" },
	expires: { type: "string" },
	keys: { type: "boolean" },
	"revoke-key": { type: "string" },
	grants: { type: "boolean" },
	"revoke-grant": { type: "string" },
} as const;

export const scopeOptions = ["access", "instances", "guilds", "person", "expires"] as const;

/** Undefined for options that were not given. */
export type StoreValues = {
	[Option in keyof typeof storeOptions]?:
		| ((typeof storeOptions)[Option]["type"] extends "boolean" ? boolean : string)
		| undefined;
};

export const storeUsage = `  --new-key NAME     create a key for clients, print it, and exit. Its scope:
      --access LEVEL     what it may do: read (default), write, or all, which includes what deletes, punishes,
                         gives power or silences many
      --instances A,B    only these instances
      --guilds ID,ID     only these guilds
      --person ID        acts as this Discord user, with this user's rights
      --expires 90d      how long it works, in minutes (m), hours (h), days (d) or weeks (w)
  --keys             list all keys with their scope and last use, then exit
  --revoke-key NAME  end a key, on every gateway within a second, then exit
  --grants           list what people have allowed clients by signing in, then exit
  --revoke-grant ID  end one of these, on every gateway within a second, then exit`;
