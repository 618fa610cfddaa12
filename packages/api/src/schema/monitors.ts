import { CONFIDENCES } from "@mailproof/core/deliverability/coverage";
import type { Monitor } from "@mailproof/core/deliverability/monitor-items";
import * as v from "valibot";
import { Count, Integer, textOf } from "./common.ts";
import { omitNull } from "./omit-null.ts";
import { DOMAIN_FIELDS, toDomainFields, wwwMessage } from "./sender.ts";

export const MonitorFacts = v.object({
  monitor_id: v.string(),
  ...DOMAIN_FIELDS,
  sending_ip: v.optional(textOf("ipv4")),
  interval_hours: Count,
  created_at: v.string(),
  next_check_at: v.string(),
  last_check: v.nullable(
    v.object({
      check_id: v.string(),
      score: Integer,
      grade: v.string(),
      confidence: v.optional(v.picklist(CONFIDENCES)),
      checked_at: v.string(),
    }),
  ),
  /** Why the last run came to nothing; null when it did not. */
  last_problem: v.nullable(v.picklist(["insufficient_credits", "no_verdict", "failed"])),
  /** Left out where there is nothing to add. */
  message: v.optional(v.string()),
});

export const toMonitorFacts = ({
  last,
  ...monitor
}: Monitor): v.InferOutput<typeof MonitorFacts> => {
  const message = wwwMessage(monitor.domain);
  return {
    monitor_id: monitor.id,
    ...toDomainFields(monitor.domain),
    ...omitNull({ sending_ip: monitor.sendingIp }),
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
