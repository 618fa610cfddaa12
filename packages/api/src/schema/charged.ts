import { toCredits } from "@mailproof/core/money/credits";
import type { VerifyResult } from "@mailproof/core/verify-one/verify-once";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { Credits, describe } from "./common.ts";

export const Charged = {
  credits_used: describe(Credits, "Credits charged by this request."),
  idempotent_replay: describe(
    v.optional(v.boolean()),
    "True when an earlier response is repeated. Left out otherwise.",
  ),
};

export const chargedFor = ({ price, replayed }: VerifyResult, { mode }: Caller) => ({
  credits_used: replayed || mode === "test" ? 0 : toCredits(price),
  ...(replayed && { idempotent_replay: true }),
});
