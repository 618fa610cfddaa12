import type { RuleFamily } from "../reply-rule.ts";

/** The full mailbox in other languages than English. The normalised text has no accents. */
export const FULL_ELSEWHERE: readonly RuleFamily[] = [
  {
    reason: "mailbox_full",
    verdict: "risky",
    confidence: 0.9,
    retry: "later",
    rules: [
      {
        id: "full_in_other_words",
        text: /\bboite[^.;]{0,60}\bpleine\b|\b(?:postfach|mailbox|speicher\w*|briefkasten|\w{0,20}konto)\b[^.;]{0,40}\b(?:voll|uberfullt|ueberfuellt|erschopft)\b|\b(?:buzon|casilla|bandeja|cuenta)\b[^.;]{0,40}\b(?:llen[oa]|excedid[oa])\b|\b(?:casella|mailbox)\b[^.;]{0,40}\b(?:pien[oa]|esaurit[oa])\b|\bcaixa\b[^.;]{0,40}\b(?:cheia|lotada|excedid[oa])\b|\bperepol\w*|переполнен|превыш|容量|空间不足|已满|満杯|いっぱい|용량|가득|\bspeicher\w*[^.;]{0,30}\bue?berschritten\b|\bkontingent\b[^.;]{0,30}\bue?berschritten\b|\bzu ?viele (?:e-?)?mails auf\b|\bspazio insufficiente\b|\bquota (?:superata|depasse|excedid[oa])\b|\bsin espacio\b|\bespacio insuficiente\b|\bespace (?:disque )?insuffisant\b|\bespaco insuficiente\b|\b(?:skrzynka|konto)\b[^.;]{0,40}\bprzepelnion[ae]\b|\bpelna\b|\bpostvak\b[^.;]{0,20}\bvol\b/,
        example: "552 5.2.0 Das Postfach des Empfängers ist voll",
      },
    ],
  },
];

export const GONE_ELSEWHERE: readonly RuleFamily[] = [
  {
    reason: "mailbox_disabled",
    verdict: "invalid",
    confidence: 0.9,
    rules: [
      {
        id: "disabled_in_other_words",
        code: "5",
        text: /\b(?:postfach|konto|empfanger\w*|benutzer\w*|adresse)\b[^.;]{0,40}\b(?:deaktiviert|gesperrt|geschlossen|inaktiv|geloscht|abgeschaltet|stillgelegt)\b|\b(?:cuenta|buzon|usuario|destinatario|casilla)\b[^.;]{0,40}\b(?:deshabilitad[oa]|desactivad[oa]|inactiv[oa]|suspendid[oa]|cancelad[oa]|bloquead[oa]|expirad[oa]|caducad[oa])\b|\b(?:casella|utente|account|indirizzo)\b[^.;]{0,40}\b(?:disabilitat[oa]|disattivat[oa]|sospes[oa]|inattiv[oa]|cessat[oa]|bloccat[oa]|scadut[oa]|non attiv[oa])\b|\b(?:conta|caixa|usuario|destinatario)\b[^.;]{0,40}\b(?:desativad[oa]|desabilitad[oa]|inativ[oa]|suspens[oa]|bloquead[oa]|cancelad[oa]|expirad[oa])\b|\b(?:yashchik|yaschik|pochtovyj)\b[^.;]{0,40}\b(?:zablokirovan|otklyuchen|udalen)\b|ящик[^.;]{0,40}(?:заблокирован|отключен|удален)|пользователь[^.;]{0,40}(?:заблокирован|отключен|удален)|\bboite[^.;]{0,40}\b(?:desactivee|fermee|suspendue|inactive|expiree)\b|\b(?:konto|skrzynka)\b[^.;]{0,40}\b(?:zablokowan[ea]|nieaktywn[ea]|usunieta?)\b|(?:用户|帐户|账户|账号|帐号|邮箱)[^。.;]{0,10}(?:禁用|停用|冻结|锁定|注销)/,
        example: "550 5.2.1 Dieses Postfach wurde deaktiviert",
      },
    ],
  },
  {
    reason: "mailbox_not_found",
    verdict: "invalid",
    confidence: 0.9,
    rules: [
      {
        id: "unknown_in_german",
        code: "5",
        text: /\bunbekannt\w*|\bnicht (?:gefunden|bekannt|vorhanden|existent)\b|\bexistiert (?:\w+ )?nicht\b|\b(?:adresse|empfanger\w*) (?:ist )?ungultig\b|\bungultige\w* (?:empfanger|adresse|e-?mail)\w*|\bkein (?:solche[rs]? )?(?:benutzer|postfach|empfanger|konto)\w*|\b(?:bestaat niet|onbekend\w*|niet gevonden|ukjent|ukendt|okand|finns inte|finnes ikke|findes ikke)\b/,
        example: "550 5.1.1 Empfänger unbekannt",
      },
      {
        id: "unknown_in_french",
        code: "5",
        text: /\binconnue?s?\b|\bintrouvables?\b|\bn'existe (?:pas|plus)\b|\bn existe (?:pas|plus)\b|\binexistante?s?\b|\b(?:destinataire|adresse|utilisateur|compte|boite)s?\b[^.;]{0,40}\b(?:invalides?|incorrecte?s?|non valides?)\b/,
        example: "550 5.1.1 Utilisateur inconnu",
      },
      {
        id: "unknown_in_spanish_italian_portuguese",
        code: "5",
        text: /\bno existe\b|\bno (?:encontrad[oa]|valid[oa])\b|\bdesconocid[oa]\b|\binexistentes?\b|\bsconosciut[oa]\b|\binesistente\b|\bnon (?:esiste|trovat[oa]|valid[oa]|e valido)\b|\bnao (?:existe|encontrad[oa]|localizad[oa]|cadastrad[oa])\b|\bdesconhecid[oa]\b|\b(?:destinatari[oa]|usuari[oa]|utente|indirizzo|direccion|endereco|cuenta|conta|casella|buzon)\b[^.;]{0,30}\b(?:invalid[oa]|incorrect[oa]|errat[oa])\b/,
        example: "550 5.1.1 El usuario no existe",
      },
      {
        id: "unknown_elsewhere",
        code: "5",
        text: /\bne (?:sushchestvuet|suschestvuet|sushestvuet|nayden|najden|naiden|zaregistrirovan)\b|\bnet tak(?:ogo|oj)\b|\bneizvest\w+|\bnie (?:istnieje|znaleziono)\b|\bnie ma takie(?:go|j)\b|\bneznam[ya]\b|\bnincs ilyen\b|\bismeretlen\b|\bnecunoscut[a]?\b|\bboyle bir (?:kullanici|adres|hesap)\b|\bnieznany\b|\bneexistuje\b|\bbulunamadi\b|\bsonzai shimasen\b|\batesaki fumei\b|не (?:существует|наиден|зарегистрирован|наидена)|нет такого|неизвестн|存在しま|見つかりません|宛先不明|不存在|(?:无此|没有该|没有此|未知)(?:用户|邮箱|收件人|账号|帐号)|존재하지|없는 (?:사용자|계정|주소)|не існує/,
        example: "550 Polzovatel ne najden",
      },
    ],
  },
];
