import { listMailTests as readMailTests } from "@mailproof/core/deliverability/mail-tests/items";
import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import { getOwnerId } from "@mailproof/core/money/payer";
import type { PagePosition } from "@mailproof/core/ports/table";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Cursor, describe, limitUpTo } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { MailTest, toMailTest } from "../schema/mail-tests.ts";
import { DomainName } from "../schema/sender.ts";

export const listMailTests = endpoint({
  id: "listMailTests",
  route: "GET /v1/deliverability/tests",
  tag: "Deliverability",
  addition: "Finds the mail tests again.",
  summary: "List the mail tests, newest first.",
  access: "deliverability:read",
  needs: ["table:readwrite", "cursor"],

  query: v.strictObject({
    domain: describe(v.optional(DomainName), "Only tests with a mail from this domain."),
    limit: describe(
      limitUpTo({ default: 20, most: 100 }),
      "Largest number of tests on a page. Larger values are cut to 100.",
    ),
    offset: describe(Cursor, "The `next_offset` of the previous page."),
  }),
  output: v.object({
    tests: describe(v.array(MailTest), "The mail tests, newest first."),
    has_more: field.boolean("True when there is another page."),
    next_offset: describe(Cursor, "Cursor for the next page. Left out on the last page."),
  }),

  async handle(world, caller, { query: { domain, limit, offset } }) {
    const owner = getOwnerId(caller);
    const { settings } = world;
    const bound = `mail tests ${owner} ${domain ?? "all"}`;
    const after = offset === undefined ? undefined : verifyCursor(settings, bound, offset);
    if (offset !== undefined && after === undefined)
      throw invalidField("offset", "must be a next_offset of this list");
    const { tests, next } = await readMailTests(world.table, owner, {
      limit,
      domain,
      after: after as PagePosition | undefined,
    });
    return ok({
      tests: tests.map(toMailTest),
      has_more: next !== undefined,
      ...(next !== undefined && { next_offset: signCursor(settings, bound, next) }),
    });
  },
});
