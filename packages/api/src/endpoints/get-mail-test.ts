import { findMailTest, findMessageReport } from "@mailproof/core/deliverability/mail-tests/items";
import { Failure } from "@mailproof/core/lib/failure";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import { MailTest, toMailTest } from "../schema/mail-tests.ts";
import { MessageReportBody } from "../schema/message-report.ts";
import { toMessageReport } from "../schema/to-message-report.ts";

export const getMailTest = endpoint({
  id: "getMailTest",
  route: "GET /v1/deliverability/tests/{id}",
  tag: "Deliverability",
  addition: "Has the report of a mail test.",
  summary: "Get a mail test, with the report about the mail that arrived.",
  access: "deliverability:read",
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The mail test's id (`test_id`).") }),
  output: v.object({
    ...MailTest.entries,
    report: describe(
      v.optional(MessageReportBody),
      "The report about the mail. Left out until `status` is `received`, and after the sender's address was erased.",
    ),
  }),

  async handle(world, caller, { path: { id } }) {
    const test = await findMailTest(world.table, id);
    // A mail test of another account causes the same failure as a missing mail test.
    if (test?.owner !== getOwnerId(caller))
      throw new Failure("NOT_FOUND", "nothing_charged", "No such mail test.");
    const report =
      test.status === "received" ? await findMessageReport(world.table, id) : undefined;
    return ok({ ...toMailTest(test), ...(report && { report: toMessageReport(report) }) });
  },
});
