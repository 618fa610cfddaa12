/** The editions of the Email Verification Protocol that tokens are made by. What still moves between them is here. */
export type Profile = {
  readonly name: string;
  /** `typ` of the token that the issuer signs, and of the one that the browser signs. */
  readonly issuedType: string;
  readonly boundType: string;
  readonly issuerAlgorithms: readonly Algorithm[];
  readonly browserAlgorithms: readonly Algorithm[];
  readonly isKeyIdRequired: boolean;
  /** How `iss` is written in a token. A record may have either form. */
  readonly issuerForms: readonly IssuerForm[];
  /** How old a token may be, and how far two clocks may differ. */
  readonly ageSecondsMax: number;
  readonly skewSeconds: number;
};

/** Public keys only. EdDSA is the name that RFC 9864 replaced by Ed25519; no issuer signs by its other curve. */
export type Algorithm = "Ed25519" | "EdDSA" | "ES256";
export type IssuerForm = "host" | "origin";

export const ISSUER_FORMS: readonly IssuerForm[] = ["host", "origin"];

const DRAFT_02: Profile = {
  name: "draft-02",
  issuedType: "evt+jwt",
  boundType: "kb+jwt",
  issuerAlgorithms: ["Ed25519", "ES256"],
  browserAlgorithms: ["Ed25519", "ES256"],
  isKeyIdRequired: true,
  issuerForms: ["origin"],
  ageSecondsMax: 300,
  skewSeconds: 60,
};

/** What Chrome and Gmail send in its origin trial: older names of algorithms and issuers, and keys without an id. */
const CHROME_2026_10: Profile = {
  ...DRAFT_02,
  name: "chrome-2026-10",
  issuerAlgorithms: ["Ed25519", "EdDSA", "ES256"],
  browserAlgorithms: ["Ed25519", "EdDSA", "ES256"],
  isKeyIdRequired: false,
  issuerForms: ISSUER_FORMS,
};

/** A token counts by the first profile that it keeps to, and is refused for its fault by the last. */
export const PROFILES: readonly [Profile, ...Profile[]] = [DRAFT_02, CHROME_2026_10];

/** Below it the record that delegates a domain is published. */
export const DELEGATION_LABEL = "_email-verification";
