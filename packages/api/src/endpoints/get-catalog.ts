import { toCredits } from "@mailproof/core/money/credits";
import { CREDIT_PACKS, PLAN_IDS, PLANS } from "@mailproof/core/money/plans";
import { PRICES } from "@mailproof/core/money/prices";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { Credits, describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";

export const getCatalog = endpoint({
  id: "getCatalog",
  route: "GET /v1/catalog",
  tag: "Service",
  addition: "The contract names the public catalogue without its path.",
  summary: "List plans, credit packs and the price of each operation.",
  access: "public",
  needs: [],

  output: v.object({
    currency: describe(v.literal("USD"), "The currency of all prices."),
    plans: field.objects("The plans.", {
      id: field.text("The plan's id."),
      price_cents_per_month: field.count("Price per month in US cents, before tax."),
      max_addresses_per_job: field.count("Largest number of addresses in a job."),
      requests_per_minute: field.count("Requests that a key may send in a minute."),
      account_requests_per_minute: field.count(
        "Requests that all keys of an account may send in a minute; live and test keys are counted separately.",
      ),
      retention_days: field.count("Days that results are stored."),
    }),
    credit_packs: field.objects("The credit packs.", {
      id: field.text("The pack's id."),
      credits: field.count("Number of credits in the pack."),
      price_cents: field.count("Price in US cents, before tax."),
    }),
    credits_per_operation: describe(
      v.record(v.string(), Credits),
      "Price of each operation in credits.",
    ),
  }),

  async handle() {
    return ok({
      currency: "USD" as const,
      plans: PLAN_IDS.map((id) => ({
        id,
        price_cents_per_month: PLANS[id].centsPerMonth,
        max_addresses_per_job: PLANS[id].jobAddressesMax,
        requests_per_minute: PLANS[id].requestsPerMinute,
        account_requests_per_minute: PLANS[id].accountRequestsPerMinute,
        retention_days: PLANS[id].retentionDays,
      })),
      credit_packs: CREDIT_PACKS.map(({ id, credits, cents }) => ({
        id,
        credits,
        price_cents: cents,
      })),
      credits_per_operation: {
        verify: toCredits(PRICES.verify),
        verify_from_cache: toCredits(PRICES.verifyCached),
        verify_controlled: toCredits(PRICES.verifyControlled),
        verify_batch_per_address: toCredits(PRICES.batchAddress),
        verify_file_per_address: toCredits(PRICES.fileAddress),
        find: toCredits(PRICES.find),
        deliverability_check: toCredits(PRICES.deliverabilityCheck),
        mail_test: toCredits(PRICES.mailTest),
      },
    });
  },
});
