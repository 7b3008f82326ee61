// The error of a database that cannot be used now. It is apart from the store, which a gateway without a database does not
// need to load.

/** Unreachable, too slow or overloaded. The message is for the operator. */
export class StoreUnavailable extends Error {
	override name = "StoreUnavailable";
}
