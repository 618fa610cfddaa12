import { checkOnce } from "@mailproof/core/deliverability/check";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { keyedBy } from "../http/idempotency.ts";
import { KEYED_ERRORS, PAID_ERRORS } from "../schema/common.ts";
import { CheckMoney, CheckResult, toCheckResult, toMoney } from "../schema/deliverability-check.ts";
import { assertPublicSender, DomainName, SendingIp } from "../schema/sender.ts";

const ROUTE = "POST /v1/deliverability/check";

export const checkDomain = endpoint({
  id: "checkDomain",
  route: ROUTE,
  tag: "Deliverability",
  summary: "Check how a domain is set up to send mail.",
  price: "10 credits; nothing when the same was checked within 24 hours.",
  access: "deliverability:write",
  needs: ["table:readwrite", "queue:send", "dns"],
  keyed: true,
  tool: { effect: "additive" },
  answers: [200],
  errors: [...KEYED_ERRORS, ...PAID_ERRORS],

  body: v.strictObject({
    domain: DomainName,
    sending_ip: SendingIp,
    // By contract null is refused here, as everything is that is no boolean.
    refresh: v.optional(v.boolean("must be true or false"), false),
  }),
  output: v.object({ ...CheckResult.entries, ...CheckMoney.entries }),

  async handle(world, caller, { body, key }) {
    const { domain, sending_ip: sendingIp = null, refresh } = body;
    assertPublicSender(world, caller, { domain, sendingIp });
    const keyed = keyedBy(ROUTE, caller, key, body);
    const ask = { domain, sendingIp, refresh };
    const told = await checkOnce(world, caller, ask, { keyed, reason: ROUTE });
    return { status: 200, data: { ...toCheckResult(told), ...toMoney(told, caller) } };
  },
});
