import { CONFIDENCES } from "@mailproof/core/deliverability/coverage";
import type { Monitor } from "@mailproof/core/deliverability/monitor-items";
import * as v from "valibot";
import { createText, describe } from "./common.ts";
import * as field from "./fields.ts";
import { DOMAIN_FIELDS, toDomainFields, wwwMessage } from "./sender.ts";

export const MonitorSummary = v.object({
  monitor_id: field.text("The monitor's id."),
  ...DOMAIN_FIELDS,
  sending_ip: describe(
    v.nullable(createText("ipv4")),
    "The sending IPv4 address. Null when none was given.",
  ),
  interval_hours: field.count("Hours between two checks."),
  created_at: field.text("When it was created, ISO 8601."),
  next_check_at: field.text("When the domain is checked next, ISO 8601."),
  last_check: describe(
    v.nullable(
      v.object({
        check_id: field.text("The check's id."),
        score: field.integer("Overall score, 0–100."),
        grade: field.text("Grade of the score, A to F."),
        confidence: describe(
          v.picklist(CONFIDENCES),
          "How much of the score's weight had an answer: high, medium or low.",
        ),
        checked_at: field.text("When the check was made, ISO 8601."),
      }),
    ),
    "The result of the last check. Null before the first.",
  ),
  last_problem: describe(
    v.nullable(v.picklist(["insufficient_credits", "no_verdict", "failed"])),
    "Why the last run had no result: `insufficient_credits` also when a monthly limit is reached. Null when it had one.",
  ),
  message: field.maybeText("A note for people. Left out when there is none."),
});

export const toMonitorSummary = ({
  last,
  ...monitor
}: Monitor): v.InferOutput<typeof MonitorSummary> => {
  const message = wwwMessage(monitor.domain);
  return {
    monitor_id: monitor.id,
    ...toDomainFields(monitor.domain),
    sending_ip: monitor.sendingIp,
    interval_hours: monitor.intervalHours,
    created_at: monitor.createdAt,
    next_check_at: monitor.nextAt,
    last_check: last && {
      check_id: last.check,
      score: last.score,
      grade: last.grade,
      ...(last.confidence && { confidence: last.confidence }),
      checked_at: last.checkedAt,
    },
    last_problem: monitor.problem,
    ...(message !== undefined && { message }),
  };
};
