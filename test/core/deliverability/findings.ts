import { COMPONENTS, type Component, type Findings } from "@mailproof/core/deliverability/findings";
import { BLOCKLISTS } from "@mailproof/core/mail/blocklists/lists";
import { DKIM_RULES } from "@mailproof/core/mail/dkim/rules";
import { DMARC_RULES } from "@mailproof/core/mail/dmarc/rules";
import type { Issue } from "@mailproof/core/mail/issue";
import { MX_RULES } from "@mailproof/core/mail/mx/rules";
import { PTR_RULES } from "@mailproof/core/mail/reverse-dns";
import { issuesOf, type Rule, type Rules } from "@mailproof/core/mail/rules";

const row = (severity: Rule["severity"], costPoints: number, lesser?: Rule["lesser"]): Rule => ({
  severity,
  costPoints,
  message: "{what}",
  ...(lesser && { lesser }),
});

/** What SPF can come to: ids and costs are all that a score goes by. */
export const SPF_RULES: Rules<string> = {
  SPF_MISSING: row("high", 100),
  SPF_MULTIPLE: row("critical", 100),
  SPF_SYNTAX: row("critical", 80),
  SPF_LOOKUPS_GT_10: row("critical", 70),
  SPF_LOOKUPS_8_10: row("low", 5),
  SPF_VOID_GT_2: row("high", 40),
  SPF_MX_GT_10: row("high", 40),
  SPF_PTR_GT_10: row("high", 40),
  SPF_INCLUDE_NONE: row("critical", 70),
  SPF_REDIRECT_NONE: row("critical", 70),
  SPF_LOOP: row("critical", 80),
  SPF_PLUS_ALL: row("critical", 90),
  SPF_NEUTRAL_ALL: row("medium", 30),
  SPF_SOFTFAIL: row("low", 5, { severity: "info", costPoints: 0 }),
  SPF_TERMS_AFTER_ALL: row("low", 5),
  SPF_PTR: row("medium", 10),
  SPF_DUP_INCLUDE: row("low", 3),
  SPF_LONG: row("medium", 8, { severity: "low", costPoints: 3 }),
  SPF_SENDERID: row("info", 0),
  SPF_WIDE_CIDR: row("critical", 90, { severity: "medium", costPoints: 15 }),
  SPF_MACRO: row("info", 0),
  SPF_DANGLING_INCLUDE: row("high", 70),
  SPF_IP_NOT_COVERED: row("high", 40),
};

/** Both degrees of every rule of a table. */
const all = (rules: Rules<string>): readonly Issue[] =>
  Object.keys(rules).flatMap((id) => {
    const of = issuesOf(rules);
    return rules[id]?.lesser ? [of(id), of(id, {}, "lesser")] : [of(id)];
  });

const listings = BLOCKLISTS.flatMap((list) =>
  Object.values(list.codes.meanings).map(
    ({ says, severity, costPoints }): Issue => ({
      id: `LISTED:${list.id}`,
      severity,
      costPoints,
      message: says,
      detail: { spam: list.spamPoints ?? costPoints },
    }),
  ),
);

/** Every issue that there can be, by where it belongs. */
export const EVERY_ISSUE: Readonly<Record<Component, readonly Issue[]>> = {
  dns: all(MX_RULES),
  spf: all(SPF_RULES),
  dkim: all(DKIM_RULES),
  dmarc: all(DMARC_RULES),
  reputation: listings,
  ptr: all(PTR_RULES),
};

export const issue = (id: string, degree: "full" | "lesser" = "full"): Issue => {
  const [full, lesser] = Object.values(EVERY_ISSUE)
    .flat()
    .filter((one) => one.id === id);
  const found = degree === "lesser" ? lesser : full;
  if (!found) throw new Error(`No rule is called ${id}`);
  return found;
};

const componentOf = (one: Issue): Component =>
  COMPONENTS.find((component) => EVERY_ISSUE[component].some(({ id }) => id === one.id)) ?? "dns";

/** Everything was looked at, and these were found: ids, or issues. */
export const finding = (...found: readonly (string | Issue)[]): Findings => {
  const issues = found.map((one) => (typeof one === "string" ? issue(one) : one));
  const of = (component: Component) => issues.filter((one) => componentOf(one) === component);
  return {
    dns: of("dns"),
    spf: of("spf"),
    dkim: of("dkim"),
    dmarc: of("dmarc"),
    reputation: of("reputation"),
    ptr: of("ptr"),
  };
};
