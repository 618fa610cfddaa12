import { endpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import { listTools, tools } from "@mailproof/mcp/tools";
import type { JsonSchemaType } from "@modelcontextprotocol/client";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { givenTools } from "./client.ts";

type ToolDescription = { readonly description?: string };

test("the server offers every operation as a tool under its own id, except those with a stated reason", () => {
  const called = endpoints
    .filter(({ tool }) => tool !== null)
    .map(({ id }) => id.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`));

  expect(tools.map(({ listed }) => listed.name).toSorted()).toEqual(called.toSorted());
});

test("every tool uses a unique name of letters that every client accepts", () => {
  const names = tools.map(({ listed }) => listed.name);

  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z][a-z_]{2,39}$/.test(name))).toEqual([]);
});

test("the usual tools fill at most a few pages of a conversation, and all tools a few more", () => {
  const measure = (isAll: boolean) =>
    JSON.stringify(listTools(isAll).map(({ listed }) => listed)).length;

  expect(measure(false)).toBeLessThan(43_000);
  expect(measure(true)).toBeLessThan(107_000);
  expect(listTools(true)).toEqual(tools);
  // A name in the list that no tool has would be left out silently.
  expect(listTools(false)).toHaveLength(10);
});

test("every tool lists a title and a schema that fits its operation's response", () => {
  const ajv = new Ajv2020({ strict: false });
  const misfits = tools.flatMap(({ id, listed, endpoint }) => {
    const fits = ajv.compile((listed.outputSchema ?? {}) as object);
    const answers = EXAMPLES.filter((one) => one.route === endpoint.route && one.status < 400);
    // A tool returns a link to the file.
    const data = answers.map(({ answer }) =>
      id === "downloadJob"
        ? { download_url: "https://example.com" }
        : (answer as { data: unknown }).data,
    );
    return data.filter((one) => !fits(one)).map(() => id);
  });

  expect(misfits).toEqual([]);
  expect(tools.filter(({ listed }) => listed.outputSchema === undefined)).toEqual([]);
  expect(tools.filter(({ listed }) => !/^[A-Z][\w ]+$/.test(listed.title ?? ""))).toEqual([]);
});

const getAnnotations = (name: string) =>
  tools.find(({ listed }) => listed.name === name)?.listed.annotations;

test.each(tools.map(({ listed, endpoint }) => [listed.name, endpoint] as const))(
  "the annotations of %s state its effects on the account",
  (name, { route, price }) => {
    const { readOnlyHint, destructiveHint, idempotentHint } = getAnnotations(name) ?? {};
    const isRead = route.startsWith("GET ") || route === "POST /v1/activity/batch";

    expect(readOnlyHint).toBe(isRead);
    expect(destructiveHint).toBe(/^(?:DELETE|PUT) |\/(?:secret|cancel)$/.test(route));
    // What is paid is paid again, but for a key: nothing that a client may repeat by itself.
    expect(price !== null && idempotentHint).toBe(false);
  },
);

test.each(tools.map(({ listed, endpoint }) => [listed, endpoint] as const))(
  "the description of $name states its price",
  ({ description = "" }, { price }) => {
    expect(description).toContain(price === null ? "This call is free." : `Price: ${price}`);
  },
);

test("the schema describes every field in a tool's words", () => {
  const fields = tools.flatMap(({ listed: { name, inputSchema } }) =>
    Object.entries(inputSchema.properties ?? {}).map(
      ([field, schema]) =>
        [`${name}.${field}`, (schema as ToolDescription).description ?? ""] as const,
    ),
  );

  expect(fields.filter(([, words]) => words === "").map(([field]) => field)).toEqual([]);
  expect(fields.filter(([, words]) => /percent-encode/i.test(words))).toEqual([]);
});

test("only tools that call other services carry the open-world hint", () => {
  const hint = (name: string) => getAnnotations(name)?.openWorldHint;

  expect(["verify_email", "check_domain", "retry_delivery"].map(hint)).toEqual([true, true, true]);
  expect(["list_jobs", "cancel_job", "get_account"].map(hint)).toEqual([false, false, false]);
});

/** A call as a model would make it, where the document's example says less; what it comes to is not the matter here. */
const CALLS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  verify_email: {
    email: "ann@example.com",
    options: { include_evidence: true, timeout_ms: 5_000 },
    idempotency_key: "k-1",
  },
  verify_batch: { emails: ["a@x.com", "b@x.com"], name: "March", idempotency_key: "k-2" },
  list_jobs: { limit: 5, status: "completed" },
  get_job: {
    id: "job_1",
    include_results: false,
    limit: 10,
    filter: "status:valid",
    sort: "-score",
  },
  download_job: { id: "job_1", format: "json", filter: "risky" },
  check_domain: { domain: "example.com", sending_ip: "192.0.2.1", refresh: true },
  list_checks: { limit: 5, domain: "example.com" },
  create_mail_test: { idempotency_key: "k-3" },
  list_mail_tests: { limit: 5, domain: "example.com" },
};

describe.each(tools.map(({ listed, endpoint }) => [listed, endpoint] as const))(
  "the tool $name",
  ({ name, inputSchema }, endpoint) => {
    const validate = new AjvJsonSchemaValidator().getValidator(inputSchema as JsonSchemaType);
    const {
      path,
      query,
      request = {},
    } = EXAMPLES.find((one) => one.route === endpoint.route && one.status < 400) ?? {};
    const example = CALLS[name] ?? { ...path, ...toNumbers(query), ...(request as object) };

    test("the tool accepts the input that its schema accepts", async () => {
      const { call } = await givenTools({ balance: 100 });

      expect(validate(example), `${JSON.stringify(example)}`).toMatchObject({ valid: true });
      const { data } = await call(name, example);

      expect(data.error?.code).not.toBe("INVALID_REQUEST");
    });

    test("the tool refuses a field that its schema lacks", async () => {
      const { call } = await givenTools({ balance: 100 });
      const odd = { ...example, colour: "red" };

      expect(validate(odd)).toMatchObject({ valid: false });
      expect(await call(name, odd)).toMatchObject({
        isError: true,
        data: { error: { code: "INVALID_REQUEST" } },
        text: expect.stringContaining("colour: is not a known field"),
      });
    });

    test("the tool reads each field from only one part of the request", () => {
      const parts = [endpoint.path, endpoint.query, endpoint.body].flatMap(getFields);

      expect(parts.length).toBe(new Set(parts).size);
      expect(parts).not.toContain("idempotency_key");
    });
  },
);

/** A tool takes as a number what a query has as digits. */
const toNumbers = (query: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries(query).map(([field, text]) => [field, /^\d+$/.test(text) ? Number(text) : text]),
  );

type Shape = { readonly entries?: object; readonly options?: readonly Shape[] };

const getFields = (schema: Endpoint["body"]): string[] => {
  const { entries = {}, options = [] } = (schema ?? {}) as Shape;
  const all = [entries, ...options.map((option) => option.entries ?? {})].flatMap(Object.keys);
  return [...new Set(all)];
};

test("the schema of verify_file lists all fields of its choice and requires only the common one", () => {
  const { inputSchema } = tools.find(({ listed }) => listed.name === "verify_file")?.listed ?? {};

  expect(inputSchema).toMatchObject({
    type: "object",
    properties: {
      action: { enum: ["get_upload_url", "process", "preview"] },
      file_name: {},
      file_key: {},
    },
    required: ["action"],
  });
});

test("the schema of verify_batch contains the number and type of its entries", () => {
  const { inputSchema } = tools.find(({ listed }) => listed.name === "verify_batch")?.listed ?? {};

  expect(inputSchema?.["properties"]).toMatchObject({
    emails: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 10_000 },
  });
});

test("every example of a call belongs to a tool", () => {
  const names = tools.map(({ listed }) => listed.name);

  expect(Object.keys(CALLS).filter((name) => !names.includes(name))).toEqual([]);
});
