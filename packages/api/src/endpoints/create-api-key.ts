import { createKey } from "@mailproof/core/accounts/api-keys";
import { isNetwork, NETWORKS_MAX } from "@mailproof/core/accounts/key-networks";
import { isPageOrigin } from "@mailproof/core/accounts/public-keys";
import { SCOPES } from "@mailproof/core/accounts/scopes";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { assertMayManage, KeySummary, toKeySummary } from "../schema/api-keys.ts";
import {
  createList,
  describe,
  Integer,
  limitCharacters,
  Mode,
  notEmpty,
  optional,
  optionalOr,
  part,
  ScopeName,
  Timestamp,
} from "../schema/common.ts";
import * as field from "../schema/fields.ts";

const NAME_LENGTH_MAX = 64;
const ORIGINS_MAX = 50;
const DAILY_MAX = { default: 1_000, most: 1_000_000 };

export const createApiKey = endpoint({
  id: "createApiKey",
  route: "POST /v1/api-keys",
  tag: "Account",
  addition:
    "The contract names the group API keys without its paths: a program makes and rotates them here.",
  summary: "Create an API key. It is shown only in this response.",
  access: "unrestricted",
  freshSignIn: true,
  // Not a tool: a key would outlive the conversation that shows it.
  tool: null,
  answers: [201],
  errors: ["LIMIT_REACHED", "PAYLOAD_TOO_LARGE"],

  body: v.strictObject({
    name: describe(
      v.pipe(v.string(), v.trim(), notEmpty, limitCharacters(NAME_LENGTH_MAX)),
      "The key's name.",
    ),
    mode: describe(Mode, "Whether the key is live or test."),
    /** Absent for an unrestricted key. An empty list is refused, because such a key could do nothing. */
    scopes: describe(
      optional(
        v.pipe(
          createList(ScopeName, SCOPES.length),
          v.minLength(1, "must name at least one scope; leave it out for an unrestricted key"),
          v.transform((scopes) => [...new Set(scopes)]),
        ),
      ),
      "Scopes that the key is limited to. Left out: the key is unrestricted.",
    ),
    expires_at: describe(
      optional(Timestamp),
      "When the key expires, such as 2027-01-31T00:00:00Z. Left out: it does not expire.",
    ),
    networks: describe(
      optional(
        v.pipe(
          createList(
            v.pipe(
              v.string(),
              v.check(isNetwork, "must be an address block such as 192.0.2.0/24 or 2001:db8::/32"),
            ),
            NETWORKS_MAX,
          ),
          v.minLength(1, "must name at least one block; leave it out to accept any address"),
          v.transform((networks) => [...new Set(networks)]),
        ),
      ),
      "Address blocks that the key is limited to, at most 50. Left out: it is accepted from any address.",
    ),
    public: describe(
      optional(
        part({
          origins: describe(
            v.pipe(
              createList(
                v.pipe(
                  v.string(),
                  v.check(
                    isPageOrigin,
                    "must be an origin such as https://www.example.com, in lower case and without a path",
                  ),
                ),
                ORIGINS_MAX,
              ),
              v.minLength(1, "must name at least one origin"),
              v.transform((origins) => [...new Set(origins)]),
            ),
            "The origins of the pages that have the key, at most 50.",
          ),
          daily_limit: describe(
            optionalOr(
              v.pipe(
                Integer,
                v.minValue(1, "must be at least 1"),
                v.maxValue(DAILY_MAX.most, `must be at most ${DAILY_MAX.most}`),
              ),
              DAILY_MAX.default,
            ),
            "The most verifications of a day (UTC): what an attacker can spend of your credits. Default 1,000.",
          ),
        }),
      ),
      "Makes the key public: it begins with `mp_pub_`, may stand in a page, and only verifies what visitors type there, by POST /v1/verify/form. It has no scopes and no networks. Left out: the key is secret.",
    ),
  }),
  output: v.object({
    ...KeySummary.entries,
    key: field.text("The key. It is shown only in this response."),
  }),

  async handle(world, caller, { body }) {
    assertMayManage(caller, body.mode);
    const { name, mode, expires_at: expiresAt, networks } = body;
    for (const limit of ["scopes", "networks"] as const)
      if (body.public && body[limit]) throw invalidField(limit, "must be left out of a public key");
    const scopes = body.public ? [] : (body.scopes ?? null);
    if (expiresAt && expiresAt.getTime() <= world.now().getTime())
      throw invalidField("expires_at", "must be in the future");
    const { key, secret } = await createKey(world, {
      account: caller.account,
      name,
      mode,
      scopes,
      ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
      ...(networks && { networks }),
      ...(body.public && {
        publicUse: { origins: body.public.origins, dailyMax: body.public.daily_limit },
      }),
    });
    return { status: 201, data: { ...toKeySummary(key), key: secret } };
  },
});
