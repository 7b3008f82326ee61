// What `--check` finds out about AI providers: each is asked for one word, which is the only way to know of its key, its
// model and its money at once.

import { type Check, CheckFailed, type Found } from "../../lib/check.ts";
import {
	type AiProvider,
	type AiSettings,
	type ApiKeys,
	chooseProviders,
} from "../config/ai-providers.ts";
import { complete } from "./completion.ts";
import { AiError } from "./error.ts";

/** How long one may take to begin. */
const checkTimeoutMs = 15_000;
/** What an answer may cost. */
const maxTokens = 16;

/** One check for each provider that would be asked. */
export function providerChecks(
	settings: AiSettings,
	apiKeys: ApiKeys,
	timeoutMs = checkTimeoutMs,
): Check[] {
	return chooseProviders(settings, apiKeys).map((provider) => ({
		title: `AI provider ${provider.name}`,
		run: () => tryProvider({ ...provider, timeoutMs, silenceMs: timeoutMs }),
	}));
}

async function tryProvider(provider: AiProvider): Promise<Found> {
	const messages = [{ role: "user", content: "Say hello, in one word." }];
	try {
		// Its first word is enough, and so is its end, where all of the words went into thinking.
		for await (const _ of complete(provider, { messages, maxTokens })) break;
		return `${provider.model} answers`;
	} catch (error) {
		if (!(error instanceof AiError)) throw error;
		return explain(error, provider);
	}
}

/** What its failure means for the operator. Throws, unless it will pass. */
function explain({ kind, details }: AiError, provider: AiProvider): Found {
	const { name, model, url, keyVariable } = provider;
	const why = details.detail ?? kind;
	const section = `ai.providers.${name}`;
	switch (kind) {
		case "limited":
			return { warning: `it is asked too often at the moment (${why})` };
		case "key":
			throw new CheckFailed(
				keyVariable === undefined
					? `it wants a key (${why})`
					: `it does not accept the key in ${keyVariable} (${why})`,
				keyVariable === undefined
					? `Name the variable with its key in ${section}.api_key_env.`
					: `Does the account have money left? If so, get a new key, and put it into .env as ${keyVariable}.`,
			);
		case "rejected":
			throw new CheckFailed(
				`it takes issue with a request to ${model} (${why})`,
				`Does it still have this model? ${section}.model names another one.`,
			);
		case "nonsense":
			throw new CheckFailed(
				`it does not answer as OpenAI does: ${why}`,
				`${section}.url has to be what comes before /chat/completions; it is ${url}.`,
			);
		default:
			throw new CheckFailed(
				`it does not answer: ${why}`,
				`Can this machine reach ${url}?`,
			);
	}
}
