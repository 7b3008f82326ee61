// The command-line options of people's grants. They are apart from the commands, which a gateway does not need to load.

/**
 * The gateway's command-line options for grants (the connections between people and clients), as `parseCommandLine`
 * expects them.
 */
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
