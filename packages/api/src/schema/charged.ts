import { toCredits } from "@mailproof/core/money/credits";
import type { VerifyResult } from "@mailproof/core/verify-one/verify-once";
import type { Caller } from "../http/endpoint.ts";
import * as field from "./fields.ts";

export const Charged = {
  credits_used: field.credits("Credits charged by this request."),
  idempotent_replay: field.maybeBoolean(
    "True when an earlier response is repeated. Left out otherwise.",
  ),
};

export const chargedFor = ({ price, replayed }: VerifyResult, { mode }: Caller) => ({
  credits_used: replayed || mode === "test" ? 0 : toCredits(price),
  ...(replayed && { idempotent_replay: true }),
});
