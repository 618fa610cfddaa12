import { Failure } from "@mailproof/core/lib/failure";
import { buildSessionEnd, buildSessionsEnd } from "@mailproof/core/people/sessions";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { SESSION_END_HEADERS } from "../http/session.ts";
import { describe } from "../schema/common.ts";

export const endSession = endpoint({
  id: "endSession",
  route: "DELETE /v1/session",
  tag: "People",
  addition: "The contract knows keys only; people sign in to the dashboard here.",
  summary: "Sign out: in this browser, or everywhere.",
  access: "person",
  // Not a tool: agents have keys.
  tool: null,

  query: v.strictObject({
    everywhere: describe(
      v.optional(v.picklist(["true", "false"], "must be true or false"), "false"),
      "true ends the person's sessions in all browsers.",
    ),
  }),
  output: v.object({ ended: describe(v.literal(true), "Always true.") }),

  async handle(world, { person }, { query }) {
    if (!person) throw new Failure("FORBIDDEN", "nothing_charged", "Nobody is signed in.");
    const end = buildSessionEnd({ hash: person.session });
    const everywhere = query.everywhere === "true" ? [buildSessionsEnd(world, person.id)] : [];
    const { outcome } = await world.table.transact([end, ...everywhere]);
    if (outcome === "ambiguous")
      throw new Failure(
        "UNAVAILABLE",
        "nothing_charged",
        "It is not known whether the session ended.",
      );
    return { status: 200, headers: SESSION_END_HEADERS, data: { ended: true as const } };
  },
});
