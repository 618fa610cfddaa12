import { Failure } from "@mailproof/core/lib/failure";
import { finishOidc, startOidc } from "@mailproof/core/people/oidc";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { toPageUrl, toSessionHeaders } from "../http/session.ts";
import { describe, optional } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { SignedIn } from "../schema/people.ts";

const NEXT = "The page of the dashboard to show after the sign-in, such as `/app/jobs`.";

export const signInWithOidc = endpoint({
  id: "signInWithOidc",
  route: "POST /v1/sign-in/oidc",
  tag: "People",
  addition: "The contract knows keys only; people sign in to the dashboard here.",
  summary: "Sign in with the identity provider: get its page, then send back its response.",
  access: "public",
  fromOwnPage: true,
  needs: ["table:readwrite", "seal", "oidc"],
  // Not a tool: a person signs in.
  tool: null,
  actions: {
    start: { id: "startOidcSignIn", repeat: "always" },
    finish: { id: "finishOidcSignIn" },
  },
  errors: ["FORBIDDEN", "NOT_FOUND", "NOT_CONFIGURED", "PAYLOAD_TOO_LARGE", "UNAVAILABLE"],

  body: v.variant(
    "action",
    [
      v.strictObject({
        action: describe(v.literal("start"), "`start` returns the provider's page."),
        invitation: describe(
          optional(v.pipe(v.string(), v.maxLength(100))),
          "The token of an invitation to accept: its link's text after `#`.",
        ),
        next: describe(
          optional(v.pipe(v.string(), v.maxLength(2_000))),
          `${NEXT} Another site's is dropped.`,
        ),
      }),
      v.strictObject({
        action: describe(v.literal("finish"), "`finish` begins a session."),
        flow: describe(v.pipe(v.string(), v.maxLength(8_000)), "The `flow` that `start` returned."),
        response: describe(
          v.pipe(v.string(), v.maxLength(16_000)),
          "The query string that the provider sent to `/app/sign-in`.",
        ),
      }),
    ],
    "must be start or finish",
  ),
  output: v.union([
    v.object({
      url: field.text("The provider's page for this sign-in."),
      flow: field.text("Send it back with the provider's response, within 10 minutes."),
    }),
    v.object({ ...SignedIn.entries, next: field.text(NEXT) }),
  ]),

  async handle(world, _caller, { body, baseUrl, session }) {
    if (!world.settings.oidc)
      throw new Failure("NOT_CONFIGURED", "nothing_charged", "This service has no OIDC_ISSUER.");
    if (body.action === "start") {
      const { invitation } = body;
      const redirectUri = toPageUrl(baseUrl, "sign-in");
      const next = toNext(baseUrl, body.next);
      const data = await startOidc(world, { redirectUri, next, invitation, session });
      return { status: 200, data };
    }
    const { person, account, token, next } = await finishOidc(world, { ...body, session });
    return {
      status: 200,
      headers: toSessionHeaders(token),
      data: { person_id: person, ...(account !== null && { account_id: account }), next },
    };
  },
});

/** Returns the path of a page of the dashboard, and that of its first page for any other text. */
const toNext = (baseUrl: string, sent = ""): string => {
  const home = new URL(toPageUrl(baseUrl, ""));
  const url = URL.parse(sent, home.href) ?? home;
  const isOwn = url.origin === home.origin && url.pathname.startsWith(home.pathname);
  const { pathname, search, hash } = isOwn ? url : home;
  return pathname + search + hash;
};
