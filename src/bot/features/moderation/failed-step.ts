// Logs failed steps of background work that the reconciler will retry.

import type { Fields, Log } from "../../../lib/log.ts";
import { NotNow } from "../../../lib/reconciler.ts";
import { describePlatformError } from "../../discord/rest/errors.ts";
import { StoreUnavailable } from "../../store/database/db-error.ts";

/**
 * Logs that a step failed, as "<what>, will retry" with the reason, or as "<what>: internal error". Logs nothing for
 * NotNow, which is no failure, and for an unavailable database, which the store logs.
 */
export function logFailedStep(log: Log, what: string, fields: Fields, error: unknown): void {
	if (error instanceof NotNow || error instanceof StoreUnavailable) return;
	const reason = describePlatformError(error);
	if (reason === undefined) log.error(`${what}: internal error`, { ...fields, error });
	else log.warn(`${what}, will retry`, { ...fields, reason });
}
