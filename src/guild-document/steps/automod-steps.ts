// Steps that create, edit and delete AutoMod rules.

import { defaultsOf } from "../format/defaults.ts";
import { ruleFieldsOf } from "../names/automod-rule.ts";
import { byId, type StepList } from "./step-list.ts";
import { automodBody } from "./to-api.ts";

export function addRules(list: StepList): void {
	const { wanted, current, state, guildPath } = list;
	if (!wanted.automod || !current.automod) return;
	const before = byId(current.automod);
	const raw = byId(state.automod);
	const path = `${guildPath}/auto-moderation/rules` as const;
	for (const rule of wanted.automod) {
		const { id = "", name } = rule;
		const old = before.get(id);
		const rawRule = raw.get(id);
		const { values, changes, isChanged } = list.compare(old, rule, defaultsOf.automod);
		if (old && rawRule) {
			if (isChanged)
				list.add("rest", {
					action: "edit",
					kind: "automod",
					name: old.name,
					targetId: id,
					changes,
					method: "PATCH",
					path: () => `${path}/${id}`,
					body: automodBody(values, { ...ruleFieldsOf(rawRule), raw: rawRule }),
				});
		} else if (!list.isGone(rule, "AutoMod rule"))
			list.add("rest", {
				action: "create",
				kind: "automod",
				name,
				placeholder: id,
				changes,
				method: "POST",
				path: () => path,
				// Discord's default is off.
				body: automodBody({ enabled: true, ...rule }),
			});
	}
	list.removeUnlisted("automod", current.automod, wanted.automod, (id) => `${path}/${id}`);
}
