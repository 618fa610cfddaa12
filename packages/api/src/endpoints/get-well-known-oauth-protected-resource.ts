import { SCOPES } from "@mailproof/core/access/scopes";
import { Failure } from "@mailproof/core/failure";
import * as v from "valibot";
import { METADATA_PATH } from "../challenge.ts";
import { endpoint } from "../endpoint.ts";
import { ScopeName } from "../schemas.ts";

/** RFC 9728: a client that has no token reads here who gives them out. */
export const getWellKnownOauthProtectedResource = endpoint({
  route: `GET ${METADATA_PATH}`,
  summary: "Tell which OAuth issuer this service trusts, and the scopes there are.",
  price: null,
  access: "public",
  enveloped: false,
  needs: [],
  answers: [200],
  errors: ["NOT_FOUND"],

  output: v.object({
    resource: v.string(),
    authorization_servers: v.array(v.string()),
    scopes_supported: v.pipe(v.array(ScopeName), v.readonly()),
    bearer_methods_supported: v.array(v.literal("header")),
    resource_name: v.string(),
  }),

  async handle({ tokens }) {
    if (!tokens)
      throw new Failure("NOT_FOUND", "nothing_charged", "No OAuth issuer is trusted here.");
    return {
      status: 200,
      data: {
        resource: tokens.audience,
        authorization_servers: [tokens.issuer],
        scopes_supported: SCOPES,
        bearer_methods_supported: ["header" as const],
        resource_name: "Mailproof",
      },
    };
  },
});
