import { getAccount as accountOf } from "@mailproof/core/accounts/accounts";
import { getRetentionDays } from "@mailproof/core/accounts/retention";
import { findReach } from "@mailproof/core/egress/reach";
import { getBalance } from "@mailproof/core/money/balance";
import { type Halves, toCredits } from "@mailproof/core/money/credits";
import { PLAN_IDS, PLANS } from "@mailproof/core/money/plans";
import { readSpending } from "@mailproof/core/money/spending";
import { TEST_BALANCE } from "@mailproof/core/money/test-mode";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Mode, ScopeName } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { createLimitState, toLimitState } from "../schema/limits.ts";
import { ReachField, toReach } from "../schema/reach.ts";

export const getAccount = endpoint({
  id: "getAccount",
  route: "GET /v1/account",
  tag: "Account",
  addition: "The contract names the group account without its paths: plan and credits are here.",
  summary: "Get the account: its plan, its credits, and the scopes of the key in use.",
  access: "account:read",

  output: v.object({
    account_id: field.text("The account's id."),
    name: field.text("The account's name."),
    created_at: field.text("When the account was created, ISO 8601."),
    retention_days: field.count(
      "Days that jobs are stored after they have ended: the plan's, or fewer if the operator set fewer.",
    ),
    plan: field.object("The plan and its limits.", {
      id: describe(v.picklist(PLAN_IDS), "The plan's id."),
      max_addresses_per_job: field.count("Largest number of addresses in a job."),
      requests_per_minute: field.count("Requests that a key may send in a minute."),
      account_requests_per_minute: field.count(
        "Requests that all keys of the account may send in a minute; live and test keys are counted separately.",
      ),
      retention_days: field.count("Days that results are stored."),
    }),
    credits: field.object("The account's balance.", {
      available: field.credits("Credits that can be spent."),
      held: field.credits("Credits charged and not settled yet."),
      used: field.credits(
        "Credits that finished work has cost, in total, with those refunded later: granted - used + refunded - held = available.",
      ),
      spent: field.credits("Credits spent, in total, without those refunded."),
      refunded: field.credits("Credits refunded, in total."),
      granted: field.credits("Credits granted, in total."),
    }),
    limit: createLimitState(
      "The limit of the signed-in person. Left out without one, and for keys.",
    ),
    account_limit: createLimitState(
      "The limit of the whole account, which an owner sets. Its area limits people who are not owners. Left out without one.",
    ),
    reach: ReachField,
    key: field.object("The key in use.", {
      key_id: field.text("The key's id."),
      mode: describe(Mode, "Whether the key is live or test."),
      scopes: describe(
        v.nullable(v.pipe(v.array(ScopeName), v.readonly())),
        "Scopes that the key is limited to. Null when it is unrestricted.",
      ),
    }),
  }),

  async handle(world, caller) {
    const account = await accountOf(world.table, caller.account);
    const balance =
      caller.mode === "live" ? await getBalance(world.table, caller.account) : TEST_BALANCE;
    const reach = await findReach(world);
    const spending = await readSpending(world.table, caller, world.now());
    const limit = toLimitState(caller.person?.area, spending.own);
    const accountLimit = toLimitState(account.area, spending.all);
    const plan = PLANS[account.plan];
    return ok({
      account_id: account.account,
      name: account.name,
      created_at: account.createdAt,
      retention_days: getRetentionDays(account),
      reach: toReach(reach),
      plan: {
        id: account.plan,
        max_addresses_per_job: plan.jobAddressesMax,
        requests_per_minute: plan.requestsPerMinute,
        account_requests_per_minute: plan.accountRequestsPerMinute,
        retention_days: plan.retentionDays,
      },
      credits: {
        available: toCredits(balance.available),
        held: toCredits(balance.held),
        used: toCredits((balance.debited - balance.held) as Halves),
        spent: toCredits(balance.spent),
        refunded: toCredits(balance.refunded),
        granted: toCredits(balance.granted),
      },
      ...(limit && { limit }),
      ...(accountLimit && { account_limit: accountLimit }),
      key: { key_id: caller.keyId, mode: caller.mode, scopes: caller.scopes },
    });
  },
});
