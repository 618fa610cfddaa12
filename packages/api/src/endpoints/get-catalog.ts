import { CREDIT_PACKS, PLAN_IDS, PLANS } from "@mailproof/core/accounts/plans";
import { PRICE, toCredits } from "@mailproof/core/money/credits";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { Count, Credits } from "../schema/common.ts";

export const getCatalog = endpoint({
  id: "getCatalog",
  route: "GET /v1/catalog",
  tag: "Service",
  summary: "List plans, credit packs and what each operation costs.",
  price: null,
  access: "public",
  needs: [],
  tool: { effect: "readOnly" },
  answers: [200],
  errors: ["INVALID_REQUEST"],

  output: v.object({
    currency: v.literal("USD"),
    plans: v.array(
      v.object({
        id: v.string(),
        price_cents_per_month: Count,
        max_addresses_per_job: Count,
        requests_per_minute: Count,
        retention_days: Count,
      }),
    ),
    credit_packs: v.array(v.object({ id: v.string(), credits: Count, price_cents: Count })),
    credits_per_operation: v.record(v.string(), Credits),
  }),

  async handle() {
    return {
      status: 200,
      data: {
        currency: "USD" as const,
        plans: PLAN_IDS.map((id) => ({
          id,
          price_cents_per_month: PLANS[id].centsPerMonth,
          max_addresses_per_job: PLANS[id].jobAddressesMax,
          requests_per_minute: PLANS[id].requestsPerMinute,
          retention_days: PLANS[id].retentionDays,
        })),
        credit_packs: CREDIT_PACKS.map(({ id, credits, cents }) => ({
          id,
          credits,
          price_cents: cents,
        })),
        credits_per_operation: {
          verify: toCredits(PRICE.verify),
          verify_from_cache: toCredits(PRICE.verifyCached),
          verify_batch_per_address: toCredits(PRICE.batchAddress),
          verify_file_per_address: toCredits(PRICE.fileAddress),
          find: toCredits(PRICE.find),
          deliverability_check: toCredits(PRICE.deliverabilityCheck),
        },
      },
    };
  },
});
