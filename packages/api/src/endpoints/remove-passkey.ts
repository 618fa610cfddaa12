import { Failure } from "@mailproof/core/lib/failure";
import { removePasskey as remove } from "@mailproof/core/people/passkeys";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { toOwnOrigins } from "../http/session.ts";
import { describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";

export const removePasskey = endpoint({
  id: "removePasskey",
  route: "DELETE /v1/passkeys/{id}",
  tag: "People",
  addition: "The contract knows keys only; people sign in to the dashboard here.",
  summary: "Remove a passkey. The last way to sign in stays.",
  access: "person",
  freshSignIn: true,
  // Not a tool: agents have keys.
  tool: null,
  errors: ["NOT_FOUND"],

  // An authenticator makes the id, which may be longer than ours.
  path: v.strictObject({ id: describe(v.string(), "The passkey's id (`passkey_id`).") }),
  output: v.object({
    passkey_id: field.text("The passkey's id."),
    removed: describe(v.literal(true), "Always true."),
  }),

  async handle(world, { person }, { path: { id }, baseUrl }) {
    if (!person) throw new Failure("FORBIDDEN", "nothing_charged", "Nobody is signed in.");
    const [origin] = toOwnOrigins(baseUrl);
    await remove(world, { id, person: person.id, origin });
    return ok({ passkey_id: id, removed: true as const });
  },
});
