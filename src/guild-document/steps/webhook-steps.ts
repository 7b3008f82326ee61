// Steps that create, edit and delete webhooks. Their tokens are never read or written.

import { byId, type StepList } from "./step-list.ts";

export function addWebhooks(list: StepList): void {
	const { wanted, current } = list;
	if (!wanted.webhooks || !current.webhooks) return;
	const before = byId(current.webhooks);
	for (const webhook of wanted.webhooks) {
		const { id = "", name, channel } = webhook;
		const old = before.get(id);
		if (name.trim() === "" && old?.name !== name) {
			list.refuse("webhook", "its name is blank, and Discord refuses that");
			continue;
		}
		if (old) {
			const { values, changes, isChanged } = list.compare(old, webhook);
			if (isChanged)
				list.add("rest", {
					action: "edit",
					kind: "webhook",
					name: old.name,
					targetId: id,
					changes,
					method: "PATCH",
					path: () => `/webhooks/${id}`,
					body: { name: values.name, channel_id: values.channel },
				});
		} else if (!list.isGone(webhook, "webhook"))
			list.add("rest", {
				action: "create",
				kind: "webhook",
				name,
				placeholder: id,
				changes: [{ field: "channel", after: list.nameOf(channel) }],
				method: "POST",
				path: (idOf) => `/channels/${idOf(channel)}/webhooks`,
				body: { name },
				needs: [channel],
			});
	}
	list.removeUnlisted("webhook", current.webhooks, wanted.webhooks, (id) => `/webhooks/${id}`);
}
