import type { TokenClaims } from "@mailproof/core/accounts/access-tokens";
import { admitAccount } from "@mailproof/core/accounts/accounts";
import { SCOPES } from "@mailproof/core/accounts/scopes";
import type { AppWorld } from "@mailproof/core/app-world";
import { getOwnerId, KEY_MODES } from "@mailproof/core/money/payer";
import * as v from "valibot";
import type { Caller } from "./endpoint.ts";

const ACCOUNT_LENGTH_MAX = 100;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The claims that a token needs. A token with an unknown mode must not pass for a live token. */
const Ours = v.object({
  mailproof_account: v.pipe(v.string(), v.minLength(1), v.maxLength(ACCOUNT_LENGTH_MAX)),
  mailproof_mode: v.optional(v.picklist(KEY_MODES), "live"),
});

/** Returns the caller of this access token; undefined when the token gives no access. */
export const callerByToken = async (world: AppWorld, sent: string): Promise<Caller | undefined> => {
  const claims = JWT.test(sent) ? await world.accessTokens?.verify(sent) : undefined;
  const ours = v.safeParse(Ours, claims);
  if (!claims || !ours.success) return undefined;
  const { mailproof_account: id, mailproof_mode: mode } = ours.output;
  const account = await admitAccount(world.table, id);
  if (!account) return undefined;
  return {
    account: account.account,
    credential: "token",
    // An account's access tokens share one rate limit, because a client may get new tokens within minutes.
    keyId: `oauth_${getOwnerId({ account: account.account, mode })}`,
    mode,
    scopes: scopesIn(claims),
    plan: account.plan,
    retentionDays: account.retentionDays,
    bounceFree: account.bounceFree,
  };
};

/** Never null: a token without one of our scopes cannot call an operation that needs a scope. */
const scopesIn = ({ scope, scp }: TokenClaims): NonNullable<Caller["scopes"]> => {
  const granted = [...splitWords(scope), ...splitWords(scp)];
  return SCOPES.filter((one) => granted.includes(one));
};

/** RFC 8693 §4.2 defines one text with spaces; some issuers send a list under its older name `scp`. */
const splitWords = (claim: unknown): readonly unknown[] => {
  if (typeof claim === "string") return claim.split(" ");
  return Array.isArray(claim) ? claim : [];
};
