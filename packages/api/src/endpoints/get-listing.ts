import type { Lists } from "@mailproof/mail/lists/lists";
import { LISTED_AS, lookUpDomain } from "@mailproof/mail/lists/look-up";
import { SOURCES } from "@mailproof/mail/lists/origins";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { DOMAIN_FIELDS, DomainName, toDomainFields } from "../schema/sender.ts";

const Output = v.object({
  ...DOMAIN_FIELDS,
  listed: field.boolean("True when a list names the domain."),
  as: describe(
    v.picklist(LISTED_AS),
    "possibly_disposable: on two broad lists, which lowers scores alone. relay: passes mail on. mistyped_provider: typed by mistake for a provider.",
  ),
  allowed_by_operator: field.boolean("True when this operator calls it not disposable."),
  sources: field.objects(
    "Public lists with the domain or one above it. Empty when only this service lists it.",
    {
      name: field.text("Its name."),
      url: field.text("Where it takes corrections."),
    },
  ),
  first_day: field.maybeText(
    "The day on which a source first saw it, or of the first edition with it. Left out when unknown.",
  ),
  edition: field.text("The day the lists are of."),
  message: field.text("This in words, and how the domain leaves the list."),
});

export const getListing = endpoint({
  id: "getListing",
  route: "GET /v1/listings/{domain}",
  tag: "Service",
  addition: "The owner of a listed domain learns why it is listed, and how it leaves the list.",
  summary: "Look up whether a domain is listed, why, and how it leaves the list.",
  access: "public",
  needs: ["lists"],
  // For owners of domains: an agent reads the lists in the evidence of a verdict.
  tool: null,

  path: v.strictObject({
    domain: describe(DomainName, "The domain, such as example.com."),
  }),
  output: Output,

  async handle({ engine }, _, { path }) {
    return ok(describeListing(engine.lists.current(), path.domain));
  },
});

export const describeListing = (lists: Lists, domain: string): v.InferOutput<typeof Output> => {
  const { as, isAllowed, origin } = lookUpDomain(lists, domain);
  const { sources = [], since } = origin;
  return {
    ...toDomainFields(domain),
    listed: as !== "not_listed",
    as,
    allowed_by_operator: isAllowed,
    sources: sources.map((name) => ({ name, url: SOURCES[name] })),
    ...(since !== undefined && { first_day: since }),
    edition: lists.edition,
    message: explain(domain, as, isAllowed, sources.length > 0),
  };
};

const explain = (
  domain: string,
  as: (typeof LISTED_AS)[number],
  isAllowed: boolean,
  hasSources: boolean,
): string => {
  const leave = hasSources
    ? "To leave the list, ask each source to remove the domain: the next edition follows. The operator of this service can allow it at once."
    : "To leave the list, ask the operator of this service.";
  if (isAllowed) return `${domain} is allowed by this operator.`;
  if (as === "not_listed") return `${domain} is not listed.`;
  return `${domain} is listed as ${as.replaceAll("_", " ")}. ${leave}`;
};
