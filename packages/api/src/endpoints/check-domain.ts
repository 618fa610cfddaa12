import { checkOnce } from "@mailproof/core/deliverability/check-once";
import { formatCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { keyedBy } from "../http/idempotency.ts";
import { describe, PAID_ERRORS } from "../schema/common.ts";
import { CheckMoney, CheckResult } from "../schema/deliverability-check.ts";
import { assertPublicSender, DomainName, SendingIp } from "../schema/sender.ts";
import { toCheckResult, toMoney } from "../schema/to-check-result.ts";

export const checkDomain = endpoint({
  id: "checkDomain",
  route: "POST /v1/deliverability/check",
  tag: "Deliverability",
  summary: "Check how a domain is set up to send mail.",
  price: `${formatCredits(PRICES.deliverabilityCheck)}; nothing when the same was checked within 24 hours.`,
  access: "deliverability:write",
  needs: ["table:readwrite", "queue:send", "dns"],
  keyed: true,
  tool: { effect: "additive" },
  errors: [...PAID_ERRORS],

  body: v.strictObject({
    domain: describe(
      DomainName,
      "The sending domain, such as example.com. White space around it, a URL with its port and path, a final dot, capitals and Unicode or A-labels are accepted. `www.` is part of the name.",
    ),
    sending_ip: describe(
      SendingIp,
      "The public IPv4 address that sends, for reverse DNS and blocklists. Private and reserved addresses are refused; test keys accept 192.0.2.0/24.",
    ),
    // The contract refuses null here, like every other non-boolean value.
    refresh: describe(
      v.optional(v.boolean("must be true or false"), false),
      "Whether to make a new, paid check instead of returning one from the last 24 hours.",
    ),
  }),
  output: v.object({ ...CheckResult.entries, ...CheckMoney.entries }),

  async handle(world, caller, { body, key }) {
    const { domain, sending_ip: sendingIp = null, refresh } = body;
    assertPublicSender(world, caller, { domain, sendingIp });
    const keyed = keyedBy("deliverability_check", caller, key, body);
    const ask = { domain, sendingIp, refresh };
    const checked = await checkOnce(world, caller, ask, {
      idempotencyKey: keyed,
      reason: "deliverability_check",
    });
    return ok({ ...toCheckResult(checked), ...toMoney(checked, caller) });
  },
});
