// German, as Discord's own client writes it: informal, "Server", "Nachricht", "Timeout", "Bann".

import type { en } from "./en.ts";
import type { Translation } from "./message.ts";

export const de = {
	"count.messages": { one: "{count} Nachricht", other: "{count} Nachrichten" },
	"count.people": { one: "{count} Person", other: "{count} Personen" },
	"error.internal": "Interner Fehler. Einzelheiten stehen im Log des Bots.",
	"error.failed": "Das ist fehlgeschlagen. Das Log des Bots kennt vielleicht die Ursache.",
	"error.database":
		"Die Datenbank des Bots ist im Moment nicht erreichbar. Es wurde nichts gespeichert. Versuch es in einer Minute noch einmal.",
	"error.database.unconfirmed":
		"Die Datenbank des Bots hat das nicht bestätigt. Ob es gespeichert wurde, ist unbekannt. Sieh nach, bevor du es wiederholst.",

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
	"welcome.greeting": "Willkommen, {user}!",
	"welcome.summary": { one: "… und {count} weitere Person. Willkommen!", other: "… und {count} weitere. Willkommen!" },

	// Chat
	"chat.empty": "Was möchtest du wissen? Schreib es in dieselbe Nachricht wie meinen Namen. Ich kann nur Text lesen.",
	"chat.rate-limited": "Das waren {max} Fragen in einer Minute. Gib mir bitte einen Moment.",
	"chat.busy": "Mehr Fragen auf einmal schaffe ich nicht. Bitte frag mich in einer Minute noch einmal.",
	"chat.restart": "Ich werde gerade neu gestartet. Bitte frag mich in einer Minute noch einmal.",
	"chat.restart.partial": "Ich werde gerade neu gestartet, deshalb endet die Antwort hier.",
	"chat.timeout": "Das hat zu lange gedauert. Bitte frag mich noch einmal.",
	"chat.timeout.partial": "Das hat zu lange gedauert, deshalb endet die Antwort hier.",
	"chat.length": "Die Antwort wurde zu lang und endet hier.",
	"chat.no-answer": "Darauf habe ich keine Antwort.",
	"chat.internal": "Bei mir ist etwas schiefgelaufen. Bitte frag mich später noch einmal.",
	"chat.ai.none": "Ich kann nicht antworten: Für mich ist kein KI-Anbieter eingerichtet.",
	"chat.ai.busy": "Mich fragen gerade zu viele auf einmal. Bitte versuch es gleich noch einmal.",
	"chat.ai.key":
		"Ich kann nicht antworten: Mein KI-Anbieter nimmt meinen Schlüssel nicht an. Bitte sag denen Bescheid, die diesen Bot betreiben.",
	"chat.ai.limited": "Mein KI-Anbieter bremst mich im Moment aus. Bitte versuch es {when} noch einmal.",
	"chat.ai.refused": "Mein KI-Anbieter möchte darauf nicht antworten.",
	"chat.ai.rejected":
		"Mein KI-Anbieter hat die Anfrage abgelehnt. Vielleicht ist sie zu lang; wenn nicht, sag bitte denen Bescheid, die diesen Bot betreiben.",
	"chat.ai.unavailable": "Mein KI-Anbieter ist im Moment nicht erreichbar. Bitte versuch es später noch einmal.",
	"chat.ai.timeout": "Mein KI-Anbieter hat zu lange gebraucht. Bitte versuch es später noch einmal.",
	"chat.ai.cut": "Mein KI-Anbieter hat die Verbindung getrennt. Bitte versuch es noch einmal.",
	"chat.ai.nonsense": "Mein KI-Anbieter hat eine ungültige Antwort geschickt. Bitte versuch es später noch einmal.",
	"chat.ai.midway": "Hier ist die Antwort abgebrochen. {why}",
	"chat.when.later": "später",
	"chat.when.seconds": { one: "in einer Sekunde", other: "in {count} Sekunden" },
	"chat.when.minutes": { one: "in einer Minute", other: "in {count} Minuten" },

	// Game server: accounts, donators, chargebacks

	// Approvals and the audit channel

	// Rights and what could not be found

	// Pages
} as const;

de satisfies Translation<typeof de, typeof en>;
