import { CONFIDENCES } from "@mailproof/core/deliverability/coverage";
import { COMPONENTS } from "@mailproof/core/deliverability/findings";
import { SEVERITIES } from "@mailproof/mail/issue";
import * as v from "valibot";
import { Count, CreditsRemaining, createText, describe, Integer } from "./common.ts";
import * as field from "./fields.ts";
import { PROPOSAL_FIELDS, SpfTreeNode } from "./proposed-records.ts";
import { createScoreParts } from "./score-parts.ts";
import { DOMAIN_FIELDS } from "./sender.ts";

const Severity = v.picklist(SEVERITIES);
const Issue = v.object({
  id: field.text("The issue's code."),
  severity: describe(Severity, "How serious the issue is."),
  message: field.text("The issue in a sentence."),
  detail: describe(
    v.record(v.string(), v.union([v.string(), Integer])),
    "Names and numbers that the issue is about.",
  ),
  cost_points: field.count("Points that the issue costs in the score of its section."),
});
const Issues = v.array(Issue);
const STATUSES = ["pass", "warn", "fail", "missing", "unknown", "error"] as const;
const Status = v.picklist(STATUSES);
const ReverseDnsStatus = v.picklist([...STATUSES, "not_checked"]);

const Grade = v.picklist(["A", "B", "C", "D", "F"]);

export const CheckSummary = v.object({
  check_id: field.text("The check's id."),
  ...DOMAIN_FIELDS,
  sending_ip: describe(
    v.nullable(createText("ipv4")),
    "The sending IPv4 address. Null when none was given.",
  ),
  score: field.integer("Overall score, 0–100."),
  grade: describe(Grade, "Grade of the score, A to F."),
  confidence: describe(
    v.picklist(CONFIDENCES),
    "high: every part had an answer. medium: at least half of the score's weight. low: less than half.",
  ),
  checked_at: field.text("When the check was made, ISO 8601."),
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
  model_version: field.text("Version of the scoring rules."),
  score_parts: createScoreParts(v.string()),
  dns: field.object("Where mail for the domain goes.", {
    status: describe(
      Status,
      "Result of the MX check. `error`: the look-up failed, so `has_valid_mx` and `mx_score` are not known and left out.",
    ),
    mx_records: field.objects("The domain's mail hosts.", {
      priority: field.integer("MX preference. Lower values are tried first."),
      host: field.text("The host's name."),
      ip: field.textOrNull("The host's IP address. Null when it has none."),
    }),
    has_valid_mx: field.maybeBoolean(
      "True when the domain can receive mail. Left out when `status` is `error`.",
    ),
    mx_score: field.maybeInteger("Score of the section, 0–100. Left out when `status` is `error`."),
    issues: describe(Issues, "Problems found."),
  }),
  authentication: field.object("How receivers can tell the domain's mail from forged mail.", {
    spf: field.object("Which hosts may send for the domain.", {
      status: describe(
        Status,
        "Result of the SPF check. `error`: the look-up failed, so `score` is left out.",
      ),
      record: field.textOrNull("The record in DNS. Null when none was found."),
      score: field.maybeInteger("Score of the section, 0–100. Left out when unknown."),
      lookups: field.integer("DNS look-ups that evaluating the record takes. The limit is 10."),
      void_lookups: field.integer("DNS look-ups that found nothing. The limit is 2."),
      tree: describe(
        v.array(SpfTreeNode),
        "The records of the policy with their look-ups, each below the record that refers to it. At most 100.",
      ),
      result_for_sending_ip: field.maybeText(
        "The SPF result for `sending_ip`. Left out when no `sending_ip` was given or there is no result.",
      ),
      issues: describe(Issues, "Problems found."),
    }),
    dkim: field.object("Which keys sign the domain's mail.", {
      status: describe(
        Status,
        "Result of the DKIM check. `error`: the look-up failed, so `score` is left out.",
      ),
      selectors_found: describe(v.array(v.string()), "Selectors under which keys were found."),
      score: field.maybeInteger("Score of the section, 0–100. Left out when unknown."),
      issues: describe(Issues, "Problems found."),
    }),
    dmarc: field.object("What receivers are asked to do with forged mail.", {
      status: describe(
        Status,
        "Result of the DMARC check. `error`: the look-up failed, so `score` is left out.",
      ),
      record: field.textOrNull("The record in DNS. Null when none was found."),
      record_domain: field.maybeText(
        "The domain that publishes the record: this one or a parent. Left out when none was found.",
      ),
      policy: field.textOrNull(
        "The policy the record requests for this domain. Null when there is none.",
      ),
      score: field.maybeInteger("Score of the section, 0–100. Left out when unknown."),
      issues: describe(Issues, "Problems found."),
    }),
  }),
  reputation: field.object("Results of the blocklists.", {
    score: describe(
      v.nullable(Integer),
      "Score of the section, 0–100. Null when no blocklist returned a verdict.",
    ),
    blacklists_checked: field.integer("Number of blocklists that returned a verdict."),
    blacklists_inconclusive: field.integer(
      "Number of blocklists that did not answer with a verdict.",
    ),
    blacklists_skipped: field.integer("Number of blocklists that were not queried."),
    blacklists_total: field.integer("Number of all blocklists."),
    blacklists_listed: field.integer(
      "Number of blocklists that list the domain or its IP address.",
    ),
    listed_on: field.objects("The blocklists that list it.", {
      id: field.text("The blocklist's id."),
      name: field.text("The blocklist's name."),
      listed: field.text("The domain or IP address that is listed."),
      codes: describe(v.array(v.string()), "The return codes of the blocklist."),
      says: field.text("What the return codes mean."),
      removal_url: field.text("Where to request removal. Empty when it is not known."),
    }),
  }),
  server: field.object(
    "The sending server. No mail server is contacted, so four of the fields are always null.",
    {
      accepts_mail: describe(v.nullable(v.boolean()), "Always null: not measured."),
      response_time_ms: describe(v.nullable(Count), "Always null: not measured."),
      supports_tls: describe(v.nullable(v.boolean()), "Always null: not measured."),
      tls_version: field.textOrNull("Always null: not measured."),
      reverse_dns_status: describe(
        ReverseDnsStatus,
        "Result of the reverse DNS check. not_checked: no `sending_ip` was given. error: the look-up failed, so the score is left out.",
      ),
      reverse_dns: field.maybeText(
        "The host name of `sending_ip` (PTR). Left out when there is none or it is not known.",
      ),
      reverse_dns_confirmed: field.maybeBoolean(
        "True when that name resolves back to `sending_ip`. Left out when unknown.",
      ),
      reverse_dns_score: field.maybeInteger("Score of reverse DNS, 0–100. Left out when unknown."),
      issues: describe(Issues, "Problems found."),
    },
  ),
  spam_assessment: field.object("How a spam filter is likely to treat mail of the domain.", {
    score: field.integer("Sum of the points, 0–100. Lower is better."),
    spam_likelihood: describe(v.picklist(["low", "medium", "high"]), "The score in a word."),
    factors: field.objects("What lowers and raises the score.", {
      id: field.text("The factor's code."),
      impact: describe(v.picklist(["positive", "negative"]), "Whether the factor helps or hurts."),
      points: field.count("Points of the factor."),
      description: field.text("The factor in a sentence."),
    }),
  }),
  recommendations: field.objects("What to do, by the points it regains, most first.", {
    id: field.text("The recommendation's code."),
    severity: describe(Severity, "How serious the issue behind it is."),
    text: field.text("What to do, in a sentence."),
    points_regained: field.integer(
      "Points that the overall score gains when only its issues are resolved.",
    ),
    issues: describe(v.array(v.string()), "Codes of the issues that it resolves."),
    ...PROPOSAL_FIELDS,
  }),
  after_records: field.maybeObject(
    "The least that the score is once the SPF and DMARC records of the recommendations are published. Left out when neither is proposed.",
    {
      score: field.integer("Overall score, 0–100."),
      grade: describe(Grade, "Grade of the score, A to F."),
    },
  ),
});

export const CheckMoney = v.object({
  credits_used: field.credits("Credits charged by this request."),
  credits_remaining: CreditsRemaining,
  cached: field.boolean("True when the result is from the last 24 hours."),
  idempotent_replay: field.maybeBoolean(
    "True when an earlier response is repeated. Left out otherwise.",
  ),
});

export type CheckSummary = v.InferOutput<typeof CheckSummary>;
export type CheckResult = v.InferOutput<typeof CheckResult>;
export type CheckMoney = v.InferOutput<typeof CheckMoney>;
