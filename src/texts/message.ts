// The types of messages: a call, or a translation, whose parameters differ from the English message does not compile.

/**
 * Text with parameters in braces. Where a number decides the form, an object with the forms that `Intl.PluralRules`
 * tells apart in the language, chosen by the parameter `count`.
 */
export type Message = string | ({ readonly other: string } & { readonly [Rule in Intl.LDMLPluralRule]?: string });

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** Names of a message's parameters. */
export type Names<M> = M extends { other: infer Other } ? NamesIn<Other> | "count" : NamesIn<M>;

type IsSame<A, B> = [A, B] extends [B, A] ? true : false;

/**
 * A further language: any message may be missing; those that exist have the parameters of the English one. The English
 * titles of tools are in the tools.
 */
export type Translation<Texts, English> = {
	readonly [Key in keyof Texts]: Key extends `tool.${string}`
		? string
		: Key extends keyof English
			? IsSame<Names<Texts[Key]>, Names<English[Key]>> extends true
				? Message
				: { error: "the parameters differ from those of the English message" }
			: { error: "English has no such message" };
};
