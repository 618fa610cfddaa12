import type { RuleFamily } from "../reply-rule.ts";

/** The ways in which a reply names us as one client, while the server works for others. */
const US =
  "(?:\\b(?:from|by|server|client|ip|address) {0,2}[[(]? {0,2}_ip_|\\bips?\\b|\\byour (?:\\w+ )?(?:ips?|host|server|mail ?server|mta|network|connection)\\b|\\bclient\\b|\\b(?:sending|connecting) (?:host|mta|server|ip)\\b)";

const FOR_NOW =
  "(?:\\brates?\\b|\\brate-?limit\\w*|\\bthrottl\\w*|\\btoo (?:many|much|fast|quickly|frequent\\w*)\\b|\\bbusy\\b|\\bdeferred\\b|\\btemporar\\w*|\\b(?:try|connect|retry) (?:(?:it|this|your \\w+) )?(?:again )?later\\b|\\bslow down\\b|\\bunusual\\b|\\bconcurren\\w*|\\bvolume\\b)";

/** Temporary refusals. They also name our address, so these rules precede the rules that look only for it. */
export const THROTTLES: readonly RuleFamily[] = [
  {
    reason: "greylisted",
    verdict: "unknown",
    confidence: 0.95,
    anyStage: true,
    retry: "later",
    rules: [
      {
        id: "greylisting_named",
        code: "4",
        text: /\bgr[ea]y-? ?list\w*|\bpostgrey\b/,
        example: "450 4.7.1 Client host [198.51.100.7] is greylisted, see postgrey",
      },
    ],
  },
  {
    verdict: "unknown",
    confidence: 0.9,
    anyStage: true,
    aboutUs: true,
    reason: "rate_limited",
    refusesUs: "for_now",
    retry: "later",
    rules: [
      {
        id: "throttled_us",
        code: "4",
        text: new RegExp(`^(?=[^]*${US})[^]*${FOR_NOW}`),
        example: "451 4.7.500 Server busy. Please try again later from [192.0.2.1].",
      },
      {
        id: "throttled_by_code",
        code: "4",
        enhanced: /^4\.7\.(?:28|[5-8]\d\d)$/,
        text: new RegExp(FOR_NOW),
        example: "451 4.7.550 Access denied, please try again later",
      },
    ],
  },
];
