import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { programEndpoints } from "@mailproof/api/endpoints";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createJudge } from "../api/judge.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { buildPackage } from "../runner/package.setup.ts";
import { type DnsServer, serveZone } from "../servers/dns-server.ts";
import { serveFile } from "../servers/running.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Goal: whoever imports /postman.json and runs it from the top gets the documented success of each request.
// Method: Postman's own runner, newman, runs the served collection against the npm package, with each kind of key. Names
// are resolved in a zone of this test, in which example.com receives no mail. Ajv compares each response with the document.

type Execution = {
  readonly item: { readonly name: string };
  readonly response?: {
    readonly code: number;
    readonly header: readonly { readonly key: string; readonly value: string }[];
    readonly stream: { readonly data: readonly number[] };
  };
  readonly requestError?: { readonly message?: string };
};

/** What the collection's description names besides 2xx. */
const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  live: { createMailTest: 501, getMailTest: 404 },
};
/** The service verifies the job meanwhile: it may have ended before the cancellation, or not before the deletion. */
const MAY_BE_REFUSED: Readonly<Record<string, number>> = { cancelJob: 409, deleteJob: 409 };

const CASES = programEndpoints.map(({ id, route, summary }) => ({ id, route, summary }));

describeUnless(findToolAbsence("newman"), "the Postman collection in newman", () => {
  beforeAll(buildPackage);
  let zone: DnsServer | undefined;
  const { server, folder } = serveFile(async () => {
    zone = await serveZone({ com: { NS: ["ns.com"] }, "example.com": { MX: ["0 ."] } });
    return { DNS_SERVERS: zone.address };
  });
  afterAll(() => zone?.close());

  const run = async (mode: "test" | "live"): Promise<readonly Execution[]> => {
    const { ready } = await server;
    const file = join(folder, `newman-${mode}.json`);
    const collection = `${ready.base_url}/postman.json`;
    const args = ["run", collection, "--env-var", `apiKey=${ready[`${mode}_key`]}`];
    const report = ["--reporters", "json", "--reporter-json-export", file];
    const newman = join(getToolFolder("newman"), "node_modules/newman/bin/newman.js");
    await promisify(execFile)(process.execPath, [newman, ...args, ...report]);
    return JSON.parse(readFileSync(file, "utf8")).run.executions;
  };

  describe.each(["test", "live"] as const)("the collection with a %s key", (mode) => {
    let executions: readonly Execution[] = [];
    let judge: ReturnType<typeof createJudge>;
    beforeAll(async () => {
      const { ready } = await server;
      judge = createJudge(await (await fetch(`${ready.base_url}/openapi.json`)).json());
      executions = await run(mode);
    });

    test("newman sends every operation", () => {
      expect(new Set(executions.map(({ item }) => item.name))).toEqual(
        new Set(CASES.map(({ summary }) => summary)),
      );
    });

    test.each(CASES)("$id answers as documented: $route", ({ id, route, summary }) => {
      const { response, requestError } =
        executions.findLast(({ item }) => item.name === summary) ?? {};
      if (!response) throw new Error(`no response: ${requestError?.message}`);
      const text = Buffer.from(response.stream.data).toString();
      const headers = Object.fromEntries(
        response.header.map(({ key, value }) => [key.toLowerCase(), value]),
      );
      const [method = "", path = ""] = route.split(" ");
      const status = response.code >= 200 && response.code < 300 ? "2xx" : response.code;
      const expected = [EXCEPTIONS[mode]?.[id] ?? "2xx", MAY_BE_REFUSED[id]];
      const others = expected.includes(status) ? [] : [`${status}: ${text}`];

      expect([...judge(method, path, { status: response.code, headers, text }), ...others]).toEqual(
        [],
      );
    });
  });
});
