import { analyseDmarc } from "@mailproof/mail/dmarc/analyse";
import type { Issue } from "@mailproof/mail/issue";
import { expect, test } from "vitest";
import { createZoneDns } from "../../app/zone.ts";

// Goal: no sentence about a DMARC record says anything else than what receivers do by RFC 9989.
// Method: every combination of the tags that decide, and the policies that the tree walk finds for the domain itself, for
// a subdomain that exists and for one that does not.

const POLICIES = ["", "none", "quarantine", "reject", "rejct"];
const TAGS: Readonly<Record<string, readonly string[]>> = {
  p: POLICIES,
  sp: POLICIES,
  np: POLICIES,
  t: ["", "y", "n"],
  pct: ["", "20", "100"],
  rua: ["", "mailto:d@example.com", "d@example.com"],
  psd: ["", "y", "n", "u"],
};

const RECORDS = Object.entries(TAGS).reduce<readonly string[]>(
  (texts, [tag, values]) =>
    texts.flatMap((text) =>
      values.map((value) => (value === "" ? text : `${text}; ${tag}=${value}`)),
    ),
  ["v=DMARC1"],
);

const analyse = async (text: string, domain: string) => {
  const dns = createZoneDns({
    "example.com": { MX: ["10 mx.example.com"] },
    "www.example.com": { A: ["8.8.8.8"] },
    "_dmarc.example.com": { TXT: [text] },
  });
  return analyseDmarc(dns, { domain });
};

type Policies = Readonly<Record<"domain" | "existing" | "missing", string | null>>;

const STRENGTH = [null, "none", "quarantine", "reject"];
const isWeaker = (one: string | null, other: string | null) =>
  STRENGTH.indexOf(one) < STRENGTH.indexOf(other);

type Claim = (policies: Policies, message: RegExpExecArray) => boolean;

/** Each sentence about a policy, and when it is true. Its groups are the policies that it names. */
const CLAIMS: readonly (readonly [sentence: RegExp, holds: Claim])[] = [
  [/^The DMARC policy for \S+ is (none|quarantine)\b/, ({ domain }, [, named]) => domain === named],
  [/receivers apply (\w+) instead of/, ({ domain }, [, named]) => domain === named],
  [
    /read the policy as none\.$/,
    ({ domain, existing, missing }) => [domain, existing, missing].every((one) => one === "none"),
  ],
  [
    /apply no DMARC policy\.$/,
    ({ domain, existing, missing }) => [domain, existing, missing].every((one) => one === null),
  ],
  [
    /apply (\w+) to all subdomains of example\.com, and (\w+) to the domain itself\.$/,
    ({ domain, existing, missing }, [, below, own]) =>
      existing === below && missing === below && domain === own && isWeaker(existing, domain),
  ],
  [
    /apply (\w+) to existing subdomains of example\.com, and (\w+) to the domain itself\.$/,
    ({ domain, existing }, [, below, own]) =>
      existing === below && domain === own && isWeaker(existing, domain),
  ],
  [
    /apply (\w+) to names below example\.com that do not exist, and (\w+) to the domain itself\.$/,
    ({ domain, missing }, [, below, own]) =>
      missing === below && domain === own && isWeaker(missing, domain),
  ],
];

const ABOUT_POLICY = /^DMARC_(?:P_|SP_|NP|T_Y)/;

const listFalse = (issues: readonly Issue[], policies: Policies): readonly string[] =>
  issues
    .filter(({ id }) => ABOUT_POLICY.test(id))
    .filter(
      ({ message }) =>
        !CLAIMS.some(([sentence, holds]) => {
          const found = sentence.exec(message);
          return found !== null && holds(policies, found);
        }),
    )
    .map(({ message }) => message);

/** Weak policies that the tree walk finds and no issue names. */
const listUnsaid = (issues: readonly Issue[], { domain, existing, missing }: Policies) => {
  const has = (id: RegExp) => issues.some((issue) => id.test(issue.id));
  const isSubdomainSaid = issues.some(({ message }) => message.includes(" to all subdomains "));
  return [
    ...(domain !== "reject" && !has(/^DMARC_(?:P_|T_Y)/) ? ["the domain"] : []),
    ...(isWeaker(existing, domain) && !has(/^DMARC_SP_WEAK$/) ? ["existing subdomains"] : []),
    ...(isWeaker(missing, domain) && !has(/^DMARC_NP$/) && !isSubdomainSaid
      ? ["subdomains that do not exist"]
      : []),
  ];
};

test("each issue names the policy that receivers apply, for every combination of tags", async () => {
  const wrong: string[] = [];
  for (const text of RECORDS) {
    const [domain, existing, missing] = await Promise.all(
      ["example.com", "www.example.com", "gone.example.com"].map((name) => analyse(text, name)),
    );
    if (!domain || !existing || !missing) throw new Error("not analysed");
    const policies = { domain: domain.policy, existing: existing.policy, missing: missing.policy };
    const found = [
      ...listFalse(domain.issues, policies),
      ...[existing, missing].flatMap(({ issues, policy }) =>
        listFalse(issues, { domain: policy, existing: policy, missing: policy }),
      ),
      ...listUnsaid(domain.issues, policies),
    ];
    if (found.length > 0) wrong.push(`${text}: ${found.join(" ")} ${JSON.stringify(policies)}`);
  }

  expect(RECORDS).toHaveLength(5 * 5 * 5 * 3 * 3 * 3 * 4);
  expect(wrong.slice(0, 20)).toEqual([]);
});
