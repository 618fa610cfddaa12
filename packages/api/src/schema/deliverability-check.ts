import { CONFIDENCES } from "@mailproof/core/deliverability/coverage";
import { COMPONENTS } from "@mailproof/core/deliverability/findings";
import { SEVERITIES } from "@mailproof/mail/issue";
import * as v from "valibot";
import { Count, Credits, CreditsRemaining, createText, describe, Integer } from "./common.ts";
import { PROPOSAL_FIELDS, SpfTreeNode } from "./proposed-records.ts";
import { createScoreParts } from "./score-parts.ts";
import { DOMAIN_FIELDS } from "./sender.ts";

const Text = v.string();

const Severity = v.picklist(SEVERITIES);
const Issue = v.object({
  id: describe(v.string(), "The issue's code."),
  severity: describe(Severity, "How serious the issue is."),
  message: describe(v.string(), "The issue in a sentence."),
  detail: describe(
    v.record(v.string(), v.union([v.string(), Integer])),
    "Names and numbers that the issue is about.",
  ),
  cost_points: describe(Count, "Points that the issue costs in the score of its section."),
});
const Issues = v.array(Issue);
const STATUSES = ["pass", "warn", "fail", "missing", "unknown", "error"] as const;
const Status = v.picklist(STATUSES);
const ReverseDnsStatus = v.picklist([...STATUSES, "not_checked"]);

const Grade = v.picklist(["A", "B", "C", "D", "F"]);

export const CheckSummary = v.object({
  check_id: describe(v.string(), "The check's id."),
  ...DOMAIN_FIELDS,
  sending_ip: describe(
    v.nullable(createText("ipv4")),
    "The sending IPv4 address. Null when none was given.",
  ),
  score: describe(Integer, "Overall score, 0–100."),
  grade: describe(Grade, "Grade of the score, A to F."),
  confidence: describe(
    v.picklist(CONFIDENCES),
    "high: every part had an answer. medium: at least half of the score's weight. low: less than half.",
  ),
  checked_at: describe(v.string(), "When the check was made, ISO 8601."),
});

export const CheckResult = v.object({
  ...CheckSummary.entries,
  confidence: describe(
    v.picklist(CONFIDENCES),
    "high: every part had an answer. medium: at least half of the score's weight. low: less than half, so the grade is uncertain.",
  ),
  missing_parts: describe(
    v.array(v.picklist(COMPONENTS)),
    "Parts that could not be looked up. They are left out of the score, and no recommendation is about them.",
  ),
  model_version: describe(v.string(), "Version of the scoring rules."),
  score_parts: createScoreParts(v.string()),
  dns: describe(
    v.object({
      status: describe(
        Status,
        "Result of the MX check. `error`: the look-up failed, so `has_valid_mx` and `mx_score` are not known and left out.",
      ),
      mx_records: describe(
        v.array(
          v.object({
            priority: describe(Integer, "MX preference. Lower values are tried first."),
            host: describe(v.string(), "The host's name."),
            ip: describe(v.nullable(v.string()), "The host's IP address. Null when it has none."),
          }),
        ),
        "The domain's mail hosts.",
      ),
      has_valid_mx: describe(
        v.optional(v.boolean()),
        "True when the domain can receive mail. Left out when `status` is `error`.",
      ),
      mx_score: describe(
        v.optional(Integer),
        "Score of the section, 0–100. Left out when `status` is `error`.",
      ),
      issues: describe(Issues, "Problems found."),
    }),
    "Where mail for the domain goes.",
  ),
  authentication: describe(
    v.object({
      spf: describe(
        v.object({
          status: describe(
            Status,
            "Result of the SPF check. `error`: the look-up failed, so `score` is left out.",
          ),
          record: describe(v.nullable(Text), "The record in DNS. Null when none was found."),
          score: describe(
            v.optional(Integer),
            "Score of the section, 0–100. Left out when unknown.",
          ),
          lookups: describe(
            Integer,
            "DNS look-ups that evaluating the record takes. The limit is 10.",
          ),
          void_lookups: describe(Integer, "DNS look-ups that found nothing. The limit is 2."),
          tree: describe(
            v.array(SpfTreeNode),
            "The records of the policy with their look-ups, each below the record that refers to it. At most 100.",
          ),
          result_for_sending_ip: describe(
            v.optional(Text),
            "The SPF result for `sending_ip`. Left out when no `sending_ip` was given or there is no result.",
          ),
          issues: describe(Issues, "Problems found."),
        }),
        "Which hosts may send for the domain.",
      ),
      dkim: describe(
        v.object({
          status: describe(
            Status,
            "Result of the DKIM check. `error`: the look-up failed, so `score` is left out.",
          ),
          selectors_found: describe(v.array(v.string()), "Selectors under which keys were found."),
          score: describe(
            v.optional(Integer),
            "Score of the section, 0–100. Left out when unknown.",
          ),
          issues: describe(Issues, "Problems found."),
        }),
        "Which keys sign the domain's mail.",
      ),
      dmarc: describe(
        v.object({
          status: describe(
            Status,
            "Result of the DMARC check. `error`: the look-up failed, so `score` is left out.",
          ),
          record: describe(v.nullable(Text), "The record in DNS. Null when none was found."),
          record_domain: describe(
            v.optional(Text),
            "The domain that publishes the record: this one or a parent. Left out when none was found.",
          ),
          policy: describe(
            v.nullable(Text),
            "The policy the record requests for this domain. Null when there is none.",
          ),
          score: describe(
            v.optional(Integer),
            "Score of the section, 0–100. Left out when unknown.",
          ),
          issues: describe(Issues, "Problems found."),
        }),
        "What receivers are asked to do with forged mail.",
      ),
    }),
    "How receivers can tell the domain's mail from forged mail.",
  ),
  reputation: describe(
    v.object({
      score: describe(
        v.nullable(Integer),
        "Score of the section, 0–100. Null when no blocklist returned a verdict.",
      ),
      blacklists_checked: describe(Integer, "Number of blocklists that returned a verdict."),
      blacklists_inconclusive: describe(
        Integer,
        "Number of blocklists that did not answer with a verdict.",
      ),
      blacklists_skipped: describe(Integer, "Number of blocklists that were not queried."),
      blacklists_total: describe(Integer, "Number of all blocklists."),
      blacklists_listed: describe(
        Integer,
        "Number of blocklists that list the domain or its IP address.",
      ),
      listed_on: describe(
        v.array(
          v.object({
            id: describe(v.string(), "The blocklist's id."),
            name: describe(v.string(), "The blocklist's name."),
            listed: describe(v.string(), "The domain or IP address that is listed."),
            codes: describe(v.array(v.string()), "The return codes of the blocklist."),
            says: describe(v.string(), "What the return codes mean."),
            removal_url: describe(
              v.string(),
              "Where to request removal. Empty when it is not known.",
            ),
          }),
        ),
        "The blocklists that list it.",
      ),
    }),
    "Results of the blocklists.",
  ),
  server: describe(
    v.object({
      accepts_mail: describe(v.nullable(v.boolean()), "Always null: not measured."),
      response_time_ms: describe(v.nullable(Count), "Always null: not measured."),
      supports_tls: describe(v.nullable(v.boolean()), "Always null: not measured."),
      tls_version: describe(v.nullable(Text), "Always null: not measured."),
      reverse_dns_status: describe(
        ReverseDnsStatus,
        "Result of the reverse DNS check. not_checked: no `sending_ip` was given. error: the look-up failed, so the score is left out.",
      ),
      reverse_dns: describe(
        v.optional(Text),
        "The host name of `sending_ip` (PTR). Left out when there is none or it is not known.",
      ),
      reverse_dns_confirmed: describe(
        v.optional(v.boolean()),
        "True when that name resolves back to `sending_ip`. Left out when unknown.",
      ),
      reverse_dns_score: describe(
        v.optional(Integer),
        "Score of reverse DNS, 0–100. Left out when unknown.",
      ),
      issues: describe(Issues, "Problems found."),
    }),
    "The sending server. No mail server is contacted, so four of the fields are always null.",
  ),
  spam_assessment: describe(
    v.object({
      score: describe(Integer, "Sum of the points, 0–100. Lower is better."),
      spam_likelihood: describe(v.picklist(["low", "medium", "high"]), "The score in a word."),
      factors: describe(
        v.array(
          v.object({
            id: describe(v.string(), "The factor's code."),
            impact: describe(
              v.picklist(["positive", "negative"]),
              "Whether the factor helps or hurts.",
            ),
            points: describe(Count, "Points of the factor."),
            description: describe(v.string(), "The factor in a sentence."),
          }),
        ),
        "What lowers and raises the score.",
      ),
    }),
    "How a spam filter is likely to treat mail of the domain.",
  ),
  recommendations: describe(
    v.array(
      v.object({
        id: describe(v.string(), "The recommendation's code."),
        severity: describe(Severity, "How serious the issue behind it is."),
        text: describe(v.string(), "What to do, in a sentence."),
        points_regained: describe(
          Integer,
          "Points that the overall score gains when only its issues are resolved.",
        ),
        issues: describe(v.array(v.string()), "Codes of the issues that it resolves."),
        ...PROPOSAL_FIELDS,
      }),
    ),
    "What to do, by the points it regains, most first.",
  ),
  after_records: describe(
    v.optional(
      v.object({
        score: describe(Integer, "Overall score, 0–100."),
        grade: describe(Grade, "Grade of the score, A to F."),
      }),
    ),
    "The least that the score is once the SPF and DMARC records of the recommendations are published. Left out when neither is proposed.",
  ),
});

export const CheckMoney = v.object({
  credits_used: describe(Credits, "Credits charged by this request."),
  credits_remaining: CreditsRemaining,
  cached: describe(v.boolean(), "True when the result is from the last 24 hours."),
  idempotent_replay: describe(
    v.optional(v.boolean()),
    "True when an earlier response is repeated. Left out otherwise.",
  ),
});

export type CheckSummary = v.InferOutput<typeof CheckSummary>;
export type CheckResult = v.InferOutput<typeof CheckResult>;
export type CheckMoney = v.InferOutput<typeof CheckMoney>;
