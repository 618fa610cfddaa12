import { INTERVAL_HOURS } from "@mailproof/core/deliverability/monitor-items";
import { addMonitor } from "@mailproof/core/deliverability/monitors";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { describe, optionalOr } from "../schema/common.ts";
import { MonitorSummary, toMonitorSummary } from "../schema/monitors.ts";
import { assertPublicSender, DomainName, SendingIp } from "../schema/sender.ts";

const HOURS_WORDS = `must be a whole number of hours from ${INTERVAL_HOURS.least} to ${INTERVAL_HOURS.most}`;

export const createMonitor = endpoint({
  id: "createMonitor",
  route: "POST /v1/deliverability/monitors",
  tag: "Deliverability",
  addition:
    "A check is true on its day: a monitor repeats it and sends dmarc.failed or blacklist.detected.",
  summary: "Monitor a domain: it is checked at intervals. Each run is an ordinary, paid check.",
  access: "deliverability:write",
  needs: ["table:readwrite", "queue:send"],
  tool: { effect: "idempotent", hint: "Each check it makes costs as much as check_domain." },
  repeat: "always",
  answers: [200, 201],
  errors: ["LIMIT_REACHED", "PAYLOAD_TOO_LARGE"],

  body: v.strictObject({
    domain: describe(DomainName, "The domain to monitor, written as for a deliverability check."),
    sending_ip: describe(
      SendingIp,
      "The public IPv4 address that sends, for reverse DNS and blocklists. Private and reserved addresses are refused; test keys accept 192.0.2.0/24.",
    ),
    interval_hours: describe(
      optionalOr(
        v.pipe(
          v.number(HOURS_WORDS),
          v.integer(HOURS_WORDS),
          v.minValue(INTERVAL_HOURS.least, HOURS_WORDS),
          v.maxValue(INTERVAL_HOURS.most, HOURS_WORDS),
        ),
        INTERVAL_HOURS.least,
      ),
      "Hours between two checks.",
    ),
  }),
  output: MonitorSummary,

  async handle(world, caller, { body }) {
    const { domain, sending_ip: sendingIp = null, interval_hours: intervalHours } = body;
    assertPublicSender(world, caller, { domain, sendingIp });
    const watch = { domain, sendingIp, intervalHours };
    const { monitor, isNew } = await addMonitor(world, caller, watch);
    return { status: isNew ? 201 : 200, data: toMonitorSummary(monitor) };
  },
});
