/** The editions of the Email Verification Protocol that issuers use, and the differences between them. */
export type Profile = {
  readonly name: string;
  readonly issuedType: string;
  readonly boundType: string;
  readonly issuerAlgorithms: readonly Algorithm[];
  readonly browserAlgorithms: readonly Algorithm[];
  readonly isKeyIdRequired: boolean;
  readonly issuerForms: readonly IssuerForm[];
  /** The greatest age of a token, and the greatest difference between two clocks. */
  readonly ageSecondsMax: number;
  readonly skewSeconds: number;
};

/** Public-key algorithms only. RFC 9864 replaced the name EdDSA by Ed25519; no issuer signs with EdDSA's other curve. */
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

/** The edition of Chrome's and Gmail's origin trial. It has older names of algorithms and issuers, and keys without an id. */
const CHROME_2026_10: Profile = {
  ...DRAFT_02,
  name: "chrome-2026-10",
  issuerAlgorithms: ["Ed25519", "EdDSA", "ES256"],
  browserAlgorithms: ["Ed25519", "EdDSA", "ES256"],
  isKeyIdRequired: false,
  issuerForms: ISSUER_FORMS,
};

/** The first profile without a fault accepts a token; otherwise the fault by the last profile refuses it. */
export const PROFILES: readonly [Profile, ...Profile[]] = [DRAFT_02, CHROME_2026_10];

/** A domain publishes its delegation record below this label. */
export const DELEGATION_LABEL = "_email-verification";
