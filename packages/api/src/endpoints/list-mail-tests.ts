import { listMailTests as readMailTests } from "@mailproof/core/deliverability/mail-tests/items";
import { getOwnerId } from "@mailproof/core/money/payer";
import type { PagePosition } from "@mailproof/core/ports/table";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import { MailTest, toMailTest } from "../schema/mail-tests.ts";
import { createLimit, Offset, PAGE_END, readOffset, toPageEnd } from "../schema/paging.ts";
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
    limit: createLimit("tests", { default: 20, most: 100 }),
    offset: Offset,
  }),
  output: v.object({
    tests: describe(v.array(MailTest), "The mail tests, newest first."),
    ...PAGE_END,
  }),

  async handle(world, caller, { query: { domain, limit, offset } }) {
    const owner = getOwnerId(caller);
    const bound = `mail tests ${owner} ${domain ?? "all"}`;
    const after = readOffset<PagePosition>(world, bound, offset);
    const { tests, next } = await readMailTests(world.table, owner, {
      limit,
      domain,
      after,
    });
    return ok({
      tests: tests.map(toMailTest),
      ...toPageEnd(world, bound, next),
    });
  },
});
