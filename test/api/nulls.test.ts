import { openapi } from "@mailproof/api/openapi/openapi";
import { expect, test } from "vitest";

const document: any = openapi("http://127.0.0.1:8787");

/** Fields whose type in the contract names null, or that it lists without a word on what they are where there is none. */
const CONTRACT = [
  "authentication.dmarc.policy",
  "authentication.dmarc.record",
  "authentication.spf.record",
  "sending_ip",
  "ai.typo_confidence",
  "ai.typo_suggestion",
  "dns.mx_records.ip",
  "enrichment.first_name",
  "enrichment.last_name",
  "find: email",
  "find: pattern",
  "deliverability: reputation.score",
  "server.accepts_mail",
  "server.response_time_ms",
  "server.supports_tls",
  "server.tls_version",
];

/** Fields that the contract does not have, where null is one of the answers. */
const OURS = [
  "account: key.scopes",
  ...["api-keys: api_keys.", "api-keys: "].flatMap((fieldPath) => [
    `${fieldPath}expires_at`,
    `${fieldPath}networks`,
    `${fieldPath}scopes`,
  ]),
  "api-keys: api_keys.last_used_at",
  "requests: requests.error_code",
  "last_check",
  "last_problem",
  "provider",
  "sub_status",
  "webhooks: next_since",
  ...["webhooks: deliveries.", "webhooks: delivery.", "webhooks: ", "jobs: deliveries."].flatMap(
    (fieldPath) => [
      `${fieldPath}error`,
      `${fieldPath}last_attempt_at`,
      `${fieldPath}latency_ms`,
      `${fieldPath}next_attempt_at`,
      `${fieldPath}payload`,
      `${fieldPath}response_body`,
      `${fieldPath}response_status`,
    ],
  ),
];

const resolved = (schema: any): any =>
  schema.$ref === undefined
    ? schema
    : resolved(document.components.schemas[schema.$ref.split("/").at(-1)]);

/** The dotted paths of all fields that can be null. */
const getNullablePaths = (written: any, path: readonly string[]): readonly string[] => {
  const schema = resolved(written);
  const variants: readonly any[] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  const isNull =
    [schema.type].flat().includes("null") || variants.some(({ type }) => type === "null");
  return [
    ...(isNull && path.length > 0 ? [path.join(".")] : []),
    ...variants.flatMap((one) => getNullablePaths(one, path)),
    ...(schema.items ? getNullablePaths(schema.items, path) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([field, one]) =>
      getNullablePaths(one, [...path, field]),
    ),
  ];
};

const nullable = Object.entries<any>(document.paths).flatMap(([route, methods]) =>
  Object.values<any>(methods).flatMap(({ responses }) =>
    Object.entries<any>(responses)
      .filter(([status]) => status.startsWith("2"))
      .flatMap(([, response]) => {
        const schema = response.content?.["application/json"]?.schema;
        const area = route.split("/").filter((part) => part !== "v1" && part !== "")[0];
        return schema
          ? getNullablePaths(schema, []).map((path) => ({
              area,
              path: path.replace(/^data\./, ""),
            }))
          : [];
      }),
  ),
);

/** A field is allowed by its path, by the end of its path, or by its path within one area of the API. */
const isAllowed = ({ area, path }: (typeof nullable)[number], allowed: string): boolean =>
  allowed === `${area}: ${path}` || `.${path}`.endsWith(`.${allowed}`);

test("the walk over the document finds the nulls that the contract names", () => {
  expect(CONTRACT.filter((field) => !nullable.some((one) => isAllowed(one, field)))).toEqual([]);
  expect(OURS.filter((field) => !nullable.some((one) => isAllowed(one, field)))).toEqual([]);
});

test("no field is null where the contract gives it a plain type", () => {
  const others = nullable
    .filter((one) => ![...CONTRACT, ...OURS].some((field) => isAllowed(one, field)))
    .map(({ area, path }) => `${area}: ${path}`);

  expect([...new Set(others)]).toEqual([]);
});
