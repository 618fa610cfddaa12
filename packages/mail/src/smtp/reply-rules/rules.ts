import type { RuleFamily } from "../reply-rule.ts";
import { ABOUT_OUR_SENDER, ABOUT_US, OUR_ADDRESS } from "./about-us.ts";
import { GONE_BY_CODE, MAILBOX_BY_CODE } from "./by-code.ts";
import { FULL_MAILBOX, GONE_MAILBOX } from "./mailbox.ts";
import { PROVIDER_WORDS } from "./provider-words.ts";
import {
  LEFT_OVER,
  NEXT_HOST,
  PACE,
  POLICY,
  RELAY,
  RELAY_REFUSED,
  SERVER_TROUBLE,
} from "./server.ts";
import { ABOUT_WITNESSES } from "./witness.ts";

/** The ways in which a reply names us as one client, while the server works for others. */
const US =
  "(?:\\b(?:from|by|server|client|ip|address) {0,2}[[(]? {0,2}_ip_|\\bips?\\b|\\byour (?:\\w+ )?(?:ips?|host|server|mail ?server|mta|network|connection)\\b|\\bclient\\b|\\b(?:sending|connecting) (?:host|mta|server|ip)\\b)";

const FOR_NOW =
  "(?:\\brates?\\b|\\brate-?limit\\w*|\\bthrottl\\w*|\\btoo (?:many|much|fast|quickly|frequent\\w*)\\b|\\bbusy\\b|\\bdeferred\\b|\\btemporar\\w*|\\b(?:try|connect|retry) (?:(?:it|this|your \\w+) )?(?:again )?later\\b|\\bslow down\\b|\\bunusual\\b|\\bconcurren\\w*|\\bvolume\\b)";

/** Temporary refusals. They also name our address, so these rules precede the rules that look only for it. */
const THROTTLES: readonly RuleFamily[] = [
  {
    reason: "greylisted",
    verdict: "unknown",
    confidence: 0.95,
    anyStage: true,
    retry: "later",
    rules: {
      greylisting_named: {
        code: "4",
        text: /\bgr[ea]y-? ?list\w*|\bpostgrey\b/,
        example: "450 4.7.1 Client host [198.51.100.7] is greylisted, see postgrey",
      },
    },
  },
  {
    verdict: "unknown",
    confidence: 0.9,
    anyStage: true,
    aboutUs: true,
    reason: "rate_limited",
    refusesUs: "for_now",
    retry: "later",
    rules: {
      throttled_us: {
        code: "4",
        text: new RegExp(`^(?=[^]*${US})[^]*${FOR_NOW}`),
        example: "451 4.7.500 Server busy. Please try again later from [192.0.2.1].",
      },
      throttled_by_code: {
        code: "4",
        enhanced: /^4\.7\.(?:28|[5-8]\d\d)$/,
        text: new RegExp(FOR_NOW),
        example: "451 4.7.550 Access denied, please try again later",
      },
    },
  },
];

/**
 * Refusals that the recipient's own domain asked its mail provider for. They come with a 421, which ends the session, but the provider's
 * other domains are not refused. These rules precede the rules about our IP address.
 */
const ABOUT_ONE_DOMAIN: readonly RuleFamily[] = [
  {
    reason: "recipient_restricted",
    verdict: "unknown",
    confidence: 0.9,
    scope: "domain",
    rules: {
      domain_allow_list: {
        // A Workspace domain that accepts mail only from its own gateway.

        text: /\bnot (?:in|on) (?:the )?(?:white|allow|safe)-? ?list for (?:the )?(?:rcpt|recipient) domain\b/,
        example: "421 4.7.0 IP not in whitelist for RCPT domain, closing connection.",
      },
    },
  },
  {
    reason: "auth_or_tls_required",
    verdict: "unknown",
    confidence: 0.9,
    scope: "domain",
    rules: {
      domain_requires_tls: {
        text: /\btls required for (?:the )?(?:rcpt|recipient) domain\b/,
        example: "421 4.7.0 TLS required for RCPT domain, closing connection.",
      },
    },
  },
  {
    reason: "mailbox_not_found_transient",
    verdict: "unknown",
    confidence: 0.8,
    retry: "later",
    scope: "domain",
    rules: {
      address_status_421: {
        // RFC 3463 §3.2: x.1.x is about an address; x.1.7 and x.1.8 are about the sender's address.

        code: "421",
        enhanced: /^4\.1\.(?![78]$)\d+$/,
        unless:
          /_ip_|_blocklist_|\bsenders?\b|\btoo many\b|\b(?:block|spam|ban|abus)\w*|\breputation\b/,
        example:
          "421 4.1.1 <bob@example.com>: Recipient address rejected: Address verification in progress",
      },
    },
  },
];

/** The full mailbox in other languages than English. The normalised text has no accents. */
const FULL_ELSEWHERE: readonly RuleFamily[] = [
  {
    reason: "mailbox_full",
    verdict: "risky",
    confidence: 0.9,
    retry: "later",
    rules: {
      full_in_other_words: {
        text: /\bboite[^.;]{0,60}\bpleine\b|\b(?:postfach|mailbox|speicher\w*|briefkasten|\w{0,20}konto)\b[^.;]{0,40}\b(?:voll|uberfullt|ueberfuellt|erschopft)\b|\b(?:buzon|casilla|bandeja|cuenta)\b[^.;]{0,40}\b(?:llen[oa]|excedid[oa])\b|\b(?:casella|mailbox)\b[^.;]{0,40}\b(?:pien[oa]|esaurit[oa])\b|\bcaixa\b[^.;]{0,40}\b(?:cheia|lotada|excedid[oa])\b|\bperepol\w*|переполнен|превыш|容量|空间不足|已满|満杯|いっぱい|용량|가득|\bspeicher\w*[^.;]{0,30}\bue?berschritten\b|\bkontingent\b[^.;]{0,30}\bue?berschritten\b|\bzu ?viele (?:e-?)?mails auf\b|\bspazio insufficiente\b|\bquota (?:superata|depasse|excedid[oa])\b|\bsin espacio\b|\bespacio insuficiente\b|\bespace (?:disque )?insuffisant\b|\bespaco insuficiente\b|\b(?:skrzynka|konto)\b[^.;]{0,40}\bprzepelnion[ae]\b|\bpelna\b|\bpostvak\b[^.;]{0,20}\bvol\b/,
        example: "552 5.2.0 Das Postfach des Empfängers ist voll",
      },
    },
  },
];

const GONE_ELSEWHERE: readonly RuleFamily[] = [
  {
    reason: "mailbox_disabled",
    verdict: "invalid",
    confidence: 0.9,
    rules: {
      disabled_in_other_words: {
        code: "5",
        text: /\b(?:postfach|konto|empfanger\w*|benutzer\w*|adresse)\b[^.;]{0,40}\b(?:deaktiviert|gesperrt|geschlossen|inaktiv|geloscht|abgeschaltet|stillgelegt)\b|\b(?:cuenta|buzon|usuario|destinatario|casilla)\b[^.;]{0,40}\b(?:deshabilitad[oa]|desactivad[oa]|inactiv[oa]|suspendid[oa]|cancelad[oa]|bloquead[oa]|expirad[oa]|caducad[oa])\b|\b(?:casella|utente|account|indirizzo)\b[^.;]{0,40}\b(?:disabilitat[oa]|disattivat[oa]|sospes[oa]|inattiv[oa]|cessat[oa]|bloccat[oa]|scadut[oa]|non attiv[oa])\b|\b(?:conta|caixa|usuario|destinatario)\b[^.;]{0,40}\b(?:desativad[oa]|desabilitad[oa]|inativ[oa]|suspens[oa]|bloquead[oa]|cancelad[oa]|expirad[oa])\b|\b(?:yashchik|yaschik|pochtovyj)\b[^.;]{0,40}\b(?:zablokirovan|otklyuchen|udalen)\b|ящик[^.;]{0,40}(?:заблокирован|отключен|удален)|пользователь[^.;]{0,40}(?:заблокирован|отключен|удален)|\bboite[^.;]{0,40}\b(?:desactivee|fermee|suspendue|inactive|expiree)\b|\b(?:konto|skrzynka)\b[^.;]{0,40}\b(?:zablokowan[ea]|nieaktywn[ea]|usunieta?)\b|(?:用户|帐户|账户|账号|帐号|邮箱)[^。.;]{0,10}(?:禁用|停用|冻结|锁定|注销)/,
        example: "550 5.2.1 Dieses Postfach wurde deaktiviert",
      },
    },
  },
  {
    reason: "mailbox_not_found",
    verdict: "invalid",
    confidence: 0.9,
    rules: {
      unknown_in_german: {
        code: "5",
        text: /\bunbekannt\w*|\bnicht (?:gefunden|bekannt|vorhanden|existent)\b|\bexistiert (?:\w+ )?nicht\b|\b(?:adresse|empfanger\w*) (?:ist )?ungultig\b|\bungultige\w* (?:empfanger|adresse|e-?mail)\w*|\bkein (?:solche[rs]? )?(?:benutzer|postfach|empfanger|konto)\w*|\b(?:bestaat niet|onbekend\w*|niet gevonden|ukjent|ukendt|okand|finns inte|finnes ikke|findes ikke)\b/,
        example: "550 5.1.1 Empfänger unbekannt",
      },
      unknown_in_french: {
        code: "5",
        text: /\binconnue?s?\b|\bintrouvables?\b|\bn'existe (?:pas|plus)\b|\bn existe (?:pas|plus)\b|\binexistante?s?\b|\b(?:destinataire|adresse|utilisateur|compte|boite)s?\b[^.;]{0,40}\b(?:invalides?|incorrecte?s?|non valides?)\b/,
        example: "550 5.1.1 Utilisateur inconnu",
      },
      unknown_in_spanish_italian_portuguese: {
        code: "5",
        text: /\bno existe\b|\bno (?:encontrad[oa]|valid[oa])\b|\bdesconocid[oa]\b|\binexistentes?\b|\bsconosciut[oa]\b|\binesistente\b|\bnon (?:esiste|trovat[oa]|valid[oa]|e valido)\b|\bnao (?:existe|encontrad[oa]|localizad[oa]|cadastrad[oa])\b|\bdesconhecid[oa]\b|\b(?:destinatari[oa]|usuari[oa]|utente|indirizzo|direccion|endereco|cuenta|conta|casella|buzon)\b[^.;]{0,30}\b(?:invalid[oa]|incorrect[oa]|errat[oa])\b/,
        example: "550 5.1.1 El usuario no existe",
      },
      unknown_elsewhere: {
        code: "5",
        text: /\bne (?:sushchestvuet|suschestvuet|sushestvuet|nayden|najden|naiden|zaregistrirovan)\b|\bnet tak(?:ogo|oj)\b|\bneizvest\w+|\bnie (?:istnieje|znaleziono)\b|\bnie ma takie(?:go|j)\b|\bneznam[ya]\b|\bnincs ilyen\b|\bismeretlen\b|\bnecunoscut[a]?\b|\bboyle bir (?:kullanici|adres|hesap)\b|\bnieznany\b|\bneexistuje\b|\bbulunamadi\b|\bsonzai shimasen\b|\batesaki fumei\b|не (?:существует|наиден|зарегистрирован|наидена)|нет такого|неизвестн|存在しま|見つかりません|宛先不明|不存在|(?:无此|没有该|没有此|未知)(?:用户|邮箱|收件人|账号|帐号)|존재하지|없는 (?:사용자|계정|주소)|не існує/,
        example: "550 Polzovatel ne najden",
      },
    },
  },
];

/**
 * The first match wins. Rules about us come first: a blocklist word outweighs "user unknown" in the same reply, because a server that
 * refuses us gives every recipient the same reply.
 */
export const RULE_FAMILIES: readonly RuleFamily[] = [
  ...ABOUT_WITNESSES,
  ...ABOUT_ONE_DOMAIN,
  ...PROVIDER_WORDS,
  ...NEXT_HOST,
  ...ABOUT_US,
  ...THROTTLES,
  ...OUR_ADDRESS,
  ...ABOUT_OUR_SENDER,
  ...FULL_MAILBOX,
  ...FULL_ELSEWHERE,
  ...SERVER_TROUBLE,
  ...PACE,
  ...RELAY_REFUSED,
  ...GONE_MAILBOX,
  ...GONE_ELSEWHERE,
  ...RELAY,
  ...MAILBOX_BY_CODE,
  ...GONE_BY_CODE,
  ...POLICY,
  ...LEFT_OVER,
];
