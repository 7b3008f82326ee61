// German, as Discord's own client writes it: informal, "Server", "Nachricht", "Timeout", "Bann".

import type { en } from "./en.ts";
import type { Translation } from "./message.ts";

export const de = {
	"count.messages": { one: "{count} Nachricht", other: "{count} Nachrichten" },
	"count.people": { one: "{count} Person", other: "{count} Personen" },
	"error.internal": "Interner Fehler. Einzelheiten stehen im Log des Bots.",
	"error.failed": "Das ist fehlgeschlagen. Das Log des Bots kennt vielleicht die Ursache.",

	// Commands: names and descriptions

	// Commands: answers

	// Results of moderation, for people

	// Cases, the moderation log and direct messages

	// Reports

	// Spam

	// Raid mode

	// Role menus
	"menu.content": "Wähle deine Rollen:",
	"menu.one.placeholder": "Wähle eine Rolle",
	"menu.some.placeholder": { one: "Wähle höchstens {count} Rolle", other: "Wähle bis zu {count} Rollen" },
	"menu.all.placeholder": "Wähle alle Rollen, die du möchtest",
	"menu.added": "Hinzugefügt: {roles}.",
	"menu.taken": "Entfernt: {roles}.",
	"menu.unchanged": "Es hat sich nichts geändert.",
	"menu.now": "Deine Rollen aus diesem Menü: {roles}.",
	"menu.now.none": "Du hast keine Rolle aus diesem Menü.",
	"menu.full": {
		one: "Du kannst höchstens {count} dieser Rollen haben und hast schon {roles}. Gib sie zuerst ab. Es wurde nichts geändert.",
		other:
			"Du kannst höchstens {count} dieser Rollen haben und hast schon {roles}. Gib zuerst eine davon ab. Es wurde nichts geändert.",
	},
	"menu.required": "Dieses Menü ist nur für Mitglieder mit der Rolle {role}. Es wurde nichts geändert.",
	"menu.required.deleted":
		"Die Rolle, die man für dieses Menü braucht, wurde gelöscht. Ein Moderator muss das Menü anpassen. Es wurde nichts geändert.",
	"menu.removed": "Die Rolle {role} gehört nicht mehr zu diesem Menü. Es wurde nichts geändert.",
	"menu.deleted": "Diese Rolle wurde gelöscht. Es wurde nichts geändert.",
	"menu.powerless":
		"Dem Bot fehlt die Berechtigung „Rollen verwalten“. Sag einem Moderator Bescheid. Es wurde nichts geändert.",
	"menu.unfit": "Die Rolle {role} {problem}. Dieses Menü kann sie deshalb nicht ändern. Es wurde nichts geändert.",
	"menu.unfit.everyone": "ist die Rolle aller Mitglieder",
	"menu.unfit.managed": "wird von Discord verwaltet",
	"menu.unfit.rank": "steht nicht unter der höchsten Rolle des Bots",
	"menu.unfit.setting": "kommt in der Einstellung {setting} dieses Bots vor",
	"menu.unfit.powers": "gibt Rechte eines Moderators ({permissions})",
	"menu.unfit.powers.channel": "gibt Rechte eines Moderators im Kanal {channel} ({permissions})",
	"menu.refused": "{role} {problem} und kann deshalb nicht in ein Rollenmenü. Es wurde nichts geändert.",
	"menu.busy":
		"Gerade wählen viele Leute ihre Rollen. Es wurde nichts geändert. Versuch es in einer Minute noch einmal.",
	"menu.busy.own":
		"Deine letzte Auswahl wird noch bearbeitet. Es wurde nichts geändert. Versuch es noch einmal, wenn sie fertig ist.",
	"menu.unsettled":
		"Discord hat auf deine letzte Auswahl nicht geantwortet; vielleicht wird sie noch wirksam. Es wurde nichts geändert. Versuch es in einer Minute noch einmal.",
	"menu.restarting": "Der Bot startet gerade neu. Es wurde nichts geändert. Versuch es in einer Minute noch einmal.",
	"menu.unavailable":
		"Der Bot hat diesen Server noch nicht geladen. Es wurde nichts geändert. Versuch es in einer Minute noch einmal.",
	"menu.restricted": "Deine Rollen sind zurzeit eingeschränkt. Es wurde nichts geändert.",
	"menu.unknown": "Das ist kein Rollenmenü. Es wurde nichts geändert.",

	// Join role, auto role, welcome

	// Chat

	// Game server: accounts, donators, chargebacks

	// Approvals and the audit channel

	// Rights and what could not be found

	// Pages
} as const;

de satisfies Translation<typeof de, typeof en>;
