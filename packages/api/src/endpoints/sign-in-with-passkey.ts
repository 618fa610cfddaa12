import { createSignInOptions, signInByPasskey } from "@mailproof/core/people/passkeys";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { toOwnOrigins, toSessionHeaders } from "../http/session.ts";
import { ACTION_WORDS, FINISH, PasskeyUse, Start, Started } from "../schema/passkeys.ts";
import { SignedIn } from "../schema/people.ts";

export const signInWithPasskey = endpoint({
  id: "signInWithPasskey",
  route: "POST /v1/sign-in/passkey",
  tag: "People",
  addition: "The contract knows keys only; people sign in to the dashboard here.",
  summary: "Sign in by a passkey: get the options for the browser, then send its response.",
  access: "public",
  fromOwnPage: true,
  needs: ["table:passkeys", "cursor", "passkeys"],
  // Not a tool: a person signs in.
  tool: null,
  actions: {
    start: { id: "startPasskeySignIn", repeat: "always" },
    finish: { id: "finishPasskeySignIn" },
  },
  errors: ["FORBIDDEN", "PAYLOAD_TOO_LARGE"],

  body: v.variant(
    "action",
    [Start, v.strictObject({ action: FINISH, response: PasskeyUse })],
    ACTION_WORDS,
  ),
  output: v.union([Started, v.pick(SignedIn, ["person_id"])]),

  async handle(world, _caller, { body, baseUrl, session }) {
    const [origin] = toOwnOrigins(baseUrl);
    if (body.action === "start") return ok({ options: createSignInOptions(world, origin) });
    const { response } = body;
    const { person, token } = await signInByPasskey(world, { response, origin, session });
    return { status: 200, headers: toSessionHeaders(token), data: { person_id: person } };
  },
});
