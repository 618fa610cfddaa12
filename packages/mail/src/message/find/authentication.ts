import { STRONG_FROM_BITS } from "../../dkim/key.ts";
import { joinNames } from "../../issue-rules.ts";
import type { SpfResult } from "../../spf/verdict.ts";
import type { ClientCheck } from "../client.ts";
import type { DkimResult, SignatureReason } from "../dkim/verify.ts";
import type { MessageDmarc } from "../dmarc.ts";
import { createFinding, type MessageFinding, type MessageRuleId, toFinding } from "../findings.ts";
import type { ReceivedMessage } from "../received-message.ts";
import type { MessageSpf } from "../spf.ts";

const SPF_FINDINGS: Readonly<Record<Exclude<SpfResult, "pass">, MessageRuleId>> = {
  none: "SPF_NONE",
  neutral: "SPF_NEUTRAL",
  softfail: "SPF_SOFTFAIL",
  fail: "SPF_FAIL",
  permerror: "SPF_PERMERROR",
  temperror: "SPF_UNANSWERED",
};

const HELO_REFUSALS: readonly SpfResult[] = ["fail", "softfail", "permerror"];

export const findSpf = (
  spf: MessageSpf,
  { ip, helo }: Pick<ReceivedMessage, "ip" | "helo">,
): readonly MessageFinding[] => [
  ...(spf.result === "pass"
    ? []
    : [
        createFinding(SPF_FINDINGS[spf.result], {
          domain: spf.domain,
          ip,
          problem: (spf.problem?.reason ?? "").replaceAll("_", " "),
        }),
      ]),
  ...(spf.identity === "mailfrom" && HELO_REFUSALS.includes(spf.helo)
    ? [createFinding("SPF_HELO", { name: helo, ip })]
    : []),
];

const DKIM_FINDINGS: Readonly<Record<SignatureReason, MessageRuleId>> = {
  syntax: "DKIM_MALFORMED",
  missing_tag: "DKIM_MALFORMED",
  version: "DKIM_MALFORMED",
  algorithm: "DKIM_MALFORMED",
  canonicalisation: "DKIM_MALFORMED",
  from_not_signed: "DKIM_MALFORMED",
  query_method: "DKIM_MALFORMED",
  identity_domain: "DKIM_MALFORMED",
  expiration: "DKIM_MALFORMED",
  body_length: "DKIM_MALFORMED",
  dns: "DKIM_UNANSWERED",
  key_missing: "DKIM_KEY_MISSING",
  key_revoked: "DKIM_KEY_REVOKED",
  key_syntax: "DKIM_KEY_BAD",
  key_type: "DKIM_KEY_BAD",
  key_hash: "DKIM_KEY_BAD",
  key_service: "DKIM_KEY_BAD",
  key_short: "DKIM_KEY_SHORT",
  body_hash: "DKIM_BODY",
  signature: "DKIM_SIGNATURE",
  weak_algorithm: "DKIM_SHA1",
  expired: "DKIM_EXPIRED",
  not_checked: "DKIM_MALFORMED",
};

const FAULTS: Readonly<Partial<Record<SignatureReason, string>>> = {
  syntax: "its list of tags is malformed",
  missing_tag: "a required tag is missing",
  version: "its version (v=) is not 1",
  algorithm: "its algorithm (a=) is not known",
  canonicalisation: "its canonicalisation (c=) is not known",
  from_not_signed: "it does not cover From",
  query_method: "its query method (q=) is not known",
  identity_domain: "the domain of i= is not d= or below it",
  expiration: "it expires (x=) before it was made (t=)",
  body_length: "its length (l=) is greater than the body",
  key_syntax: "it is malformed",
  key_type: "it is of another kind than the signature",
  key_hash: "its h= does not allow sha256",
  key_service: "its s= does not allow mail",
  not_checked: "the message has too many signatures",
};

/** Fields that the reader sees or acts on, and that only the sender should be able to change. */
const FIELDS_TO_SIGN = ["subject", "date", "to", "reply-to", "list-unsubscribe"];

export const findDkim = (
  signatures: readonly DkimResult[],
  {
    domain,
    fields,
    receivedAt,
  }: {
    readonly domain: string;
    readonly fields: ReadonlySet<string>;
    readonly receivedAt: Date;
  },
): readonly MessageFinding[] => {
  if (signatures.length === 0) return [createFinding("DKIM_NONE", { domain })];
  const valid = signatures.filter(({ result }) => result === "pass");
  const degree = valid.length > 0 ? "lesser" : "full";
  const invalid = signatures.flatMap((one) =>
    one.reason === null
      ? []
      : [
          createFinding(
            DKIM_FINDINGS[one.reason],
            { ...describe(one), fault: FAULTS[one.reason] ?? "" },
            degree,
          ),
        ],
  );
  return [...dropRepeated(invalid), ...findFaultsOfValid(valid, { fields, receivedAt })];
};

const describe = ({ domain, selector, keyBits }: DkimResult) => ({
  domain: domain ?? "an unknown domain",
  selector: selector ?? "",
  ...(keyBits !== null && { bits: keyBits }),
});

/** Keeps one finding of each kind: ten signatures with the same fault would cost ten times as much. */
const dropRepeated = (found: readonly MessageFinding[]): readonly MessageFinding[] =>
  found.filter((one, index) => found.findIndex(({ id }) => id === one.id) === index);

const findFaultsOfValid = (
  valid: readonly DkimResult[],
  { fields, receivedAt }: { readonly fields: ReadonlySet<string>; readonly receivedAt: Date },
): readonly MessageFinding[] => {
  const [first] = valid;
  if (!first) return [];
  const inAll = (isFaulty: (one: DkimResult) => boolean) =>
    valid.every(isFaulty) ? valid.find(isFaulty) : undefined;
  const cut = valid.find(({ unsignedBytes }) => unsignedBytes > 0);
  const short = inAll(({ keyBits }) => keyBits !== null && keyBits < STRONG_FROM_BITS);
  const testing = inAll(({ isTesting }) => isTesting);
  const future = valid.find(
    ({ signedAt }) => signedAt !== null && Date.parse(signedAt) > receivedAt.getTime() + SKEW_MS,
  );
  const unsigned = FIELDS_TO_SIGN.filter(
    (name) => fields.has(name) && !valid.some(({ signedFields }) => signedFields.includes(name)),
  );
  return [
    ...(cut
      ? [
          createFinding(
            "DKIM_LENGTH",
            { ...describe(cut), bytes: cut.unsignedBytes },
            valid.every(({ unsignedBytes }) => unsignedBytes > 0) ? "full" : "lesser",
          ),
        ]
      : []),
    ...(short ? [createFinding("DKIM_1024", describe(short))] : []),
    ...(testing ? [createFinding("DKIM_TESTING", describe(testing))] : []),
    ...(valid.every(({ algorithm }) => algorithm === "ed25519-sha256")
      ? [createFinding("DKIM_ED25519_ONLY", describe(first))]
      : []),
    ...(future
      ? [createFinding("DKIM_FUTURE", { ...describe(future), time: future.signedAt ?? "" })]
      : []),
    ...(unsigned.length > 0 ? [createFinding("DKIM_FIELDS", { names: joinNames(unsigned) })] : []),
  ];
};

/** Mail servers' clocks differ by less. */
const SKEW_MS = 300_000;

export const findDmarc = (
  dmarc: MessageDmarc,
  spf: MessageSpf | null,
): readonly MessageFinding[] => {
  const { result, policy, disposition } = dmarc;
  const detail = { domain: dmarc.domain ?? "", name: spf?.domain ?? "" };
  if (result === "permerror") return [createFinding("DMARC_NO_AUTHOR", detail)];
  if (result === "temperror") return [createFinding("DMARC_UNANSWERED", detail)];
  if (result === "none") return [createFinding("DMARC_MISSING", detail)];
  const byPolicy = policy === "none" ? [createFinding("DMARC_NONE", detail)] : [];
  if (result === "fail") {
    const asks = disposition === "none" ? "deliver" : disposition;
    return [createFinding("DMARC_FAIL", { ...detail, disposition: asks }), ...byPolicy];
  }
  if (dmarc.dkim.isAligned === false) return [createFinding("DMARC_SPF_ONLY", detail), ...byPolicy];
  return dmarc.spf.isAligned === false
    ? [createFinding("DMARC_DKIM_ONLY", detail), ...byPolicy]
    : byPolicy;
};

/** RFC 8996 forbids these versions. */
const OLD_TLS = /^(?:ssl|tlsv?1(?:\.[01])?$)/i;

export const findServer = (
  { reverseDns, helo }: ClientCheck,
  { tls, ip }: Pick<ReceivedMessage, "tls" | "ip">,
): readonly MessageFinding[] => [
  ...reverseDns.issues.map((issue) => toFinding(issue, "server")),
  ...(tls ? [] : [createFinding("TLS_MISSING")]),
  ...(tls && tls !== "unknown" && OLD_TLS.test(tls.version)
    ? [createFinding("TLS_OLD", { version: tls.version })]
    : []),
  ...findHelo(helo, ip),
];

const findHelo = (
  { name, kind, resolves, isConfirmed }: ClientCheck["helo"],
  ip: string,
): readonly MessageFinding[] => {
  if (kind === "invalid") return [createFinding("HELO_INVALID", { name })];
  if (kind === "literal") return [createFinding("HELO_LITERAL", { name })];
  if (resolves === false) return [createFinding("HELO_UNRESOLVED", { name })];
  return isConfirmed === false ? [createFinding("HELO_MISMATCH", { name, ip })] : [];
};
