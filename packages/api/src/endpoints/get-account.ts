import { TEST_BALANCE } from "@mailproof/core/access/test-mode";
import { accountOf } from "@mailproof/core/accounts/accounts";
import { PLAN_IDS, PLANS } from "@mailproof/core/accounts/plans";
import { toCredits } from "@mailproof/core/money/credits";
import { balanceOf } from "@mailproof/core/money/items";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { Count, Credits, KEYED_ERRORS, Mode, ScopeName } from "../schema/common.ts";

export const getAccount = endpoint({
  id: "getAccount",
  route: "GET /v1/account",
  tag: "Account",
  summary: "Show the account: its plan, its credits, and what the key in use may do.",
  price: null,
  access: "account:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  answers: [200],
  errors: KEYED_ERRORS,

  output: v.object({
    account_id: v.string(),
    name: v.string(),
    created_at: v.string(),
    plan: v.object({
      id: v.picklist(PLAN_IDS),
      max_addresses_per_job: Count,
      requests_per_minute: Count,
      retention_days: Count,
    }),
    credits: v.object({
      available: Credits,
      held: Credits,
      spent: Credits,
      refunded: Credits,
      granted: Credits,
    }),
    key: v.object({
      key_id: v.string(),
      mode: Mode,
      scopes: v.nullable(v.pipe(v.array(ScopeName), v.readonly())),
    }),
  }),

  async handle(world, caller) {
    const account = await accountOf(world.table, caller.account);
    const balance =
      caller.mode === "live" ? await balanceOf(world.table, caller.account) : TEST_BALANCE;
    const plan = PLANS[account.plan];
    return {
      status: 200,
      data: {
        account_id: account.account,
        name: account.name,
        created_at: account.createdAt,
        plan: {
          id: account.plan,
          max_addresses_per_job: plan.jobAddressesMax,
          requests_per_minute: plan.requestsPerMinute,
          retention_days: plan.retentionDays,
        },
        credits: {
          available: toCredits(balance.available),
          held: toCredits(balance.held),
          spent: toCredits(balance.spent),
          refunded: toCredits(balance.refunded),
          granted: toCredits(balance.granted),
        },
        key: { key_id: caller.keyId, mode: caller.mode, scopes: caller.scopes },
      },
    };
  },
});
