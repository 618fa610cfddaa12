import { Failure } from "@mailproof/core/lib/failure";
import { addPasskey as add, createPasskeyOptions } from "@mailproof/core/people/passkeys";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { toOwnOrigins } from "../http/session.ts";
import { describe } from "../schema/common.ts";
import { ACTION_WORDS, FINISH, PasskeyCreation, Start, Started } from "../schema/passkeys.ts";
import { PasskeySummary, PersonName, toPasskeySummary } from "../schema/people.ts";

export const addPasskey = endpoint({
  id: "addPasskey",
  route: "POST /v1/passkeys",
  tag: "People",
  addition: "The contract knows keys only; people sign in to the dashboard here.",
  summary: "Add a passkey: get the options for the browser, then send its response.",
  access: "person",
  freshSignIn: true,
  needs: ["table:readwrite", "cursor", "passkeys"],
  // Not a tool: agents have keys.
  tool: null,
  actions: {
    start: { id: "startPasskey", repeat: "always" },
    finish: { id: "finishPasskey" },
  },
  answers: [200, 201],
  errors: ["LIMIT_REACHED", "PAYLOAD_TOO_LARGE"],

  body: v.variant(
    "action",
    [
      Start,
      v.strictObject({
        action: FINISH,
        name: describe(PersonName, "The passkey's name, to tell passkeys apart."),
        response: PasskeyCreation,
      }),
    ],
    ACTION_WORDS,
  ),
  output: v.union([Started, PasskeySummary]),

  async handle(world, { person }, { body, baseUrl }) {
    if (!person) throw new Failure("FORBIDDEN", "nothing_charged", "Nobody is signed in.");
    const [origin] = toOwnOrigins(baseUrl);
    if (body.action === "start")
      return ok({ options: await createPasskeyOptions(world, person, origin) });
    const { name, response } = body;
    const passkey = await add(world, person.id, { name, response, origin });
    return { status: 201, data: toPasskeySummary(passkey) };
  },
});
