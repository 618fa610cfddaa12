import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json, text } from "node:stream/consumers";
import { runEgressTest } from "@mailproof/functions/capabilities/egress-test";
import { createProberHandler, type EgressQuestion } from "@mailproof/functions/capabilities/prober";
import type { BaseContext } from "@mailproof/functions/lambda-world";
import { expect, onTestFinished, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { createContext } from "../aws/events.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { serveZone } from "../servers/dns-server.ts";
import { createFolder, spawnMailproof } from "../servers/running.ts";

// Goal: `admin egress test --stage` shows what the stage's prober finds. Method: AWS's own command line, the prober's handler, and
// between them a server that answers as SSM and Lambda do.

const isMissing = spawnSync("aws", ["--version"]).status !== 0;

/** A stage of two exits, one of which is down. */
const givenStage = async () => {
  const dns = await serveZone({
    "one.example": { MX: ["10 mx.one.example"] },
    "mx.one.example": { A: ["8.8.4.1"] },
  });
  onTestFinished(dns.close);
  const { world } = givenWorld();
  const base = { ...world, environment: { DNS_SERVERS: dns.address } } as unknown as BaseContext;
  const smtp = { helo: "probe.example.com", from: "probe@probe.example.com", port: 25 };
  const handler = createProberHandler(
    () => Promise.reject(new Error("nobody asked about an address")),
    world.log,
    ({ egressTest: { domains } }) =>
      runEgressTest(
        base,
        {
          connect: async (_, { exit }) =>
            exit === "down:1080" ? "proxy_failed" : "connect_timeout",
          exits: ["up:1080", "down:1080"],
          smtp,
        },
        domains,
      ),
  );
  const answer = async (request: IncomingMessage): Promise<object> => {
    const question = await json(request);
    return request.headers["x-amz-target"] === "AmazonSSM.GetParameter"
      ? { Parameter: { Name: (question as { Name: string }).Name, Value: "the-prober" } }
      : handler(question as EgressQuestion, createContext());
  };
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/x-amz-json-1.1");
    void answer(request).then((found) => response.end(JSON.stringify(found)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const whenTested = async (endpoint: string) => {
  const child = spawnMailproof("admin egress test --stage ada --domains one.example".split(" "), {
    PATH: process.env["PATH"] ?? "",
    MAILPROOF_DIR: createFolder(),
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: "eu-west-1",
    AWS_DEFAULT_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "a",
    AWS_SECRET_ACCESS_KEY: "b",
    AWS_MAX_ATTEMPTS: "1",
  });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = (await once(child, "exit")) as [number | null];
  return { code, out: await out, err: await err };
};

describeUnless(isMissing ? "there is no AWS CLI" : null, "the exits of a stage", () => {
  test("admin egress test --stage runs the stage's prober and prints its exits", async () => {
    const { code, out } = await whenTested(await givenStage());

    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      may_probe: "no",
      exits: [
        { exit: "up:1080", is_reachable: true, port_25: "no" },
        { exit: "down:1080", is_reachable: false, port_25: "no" },
      ],
    });
  });

  test("admin egress test --stage reports AWS's own error when AWS does not answer", async () => {
    const { code, err } = await whenTested("http://127.0.0.1:1");

    expect(code).toBe(2);
    expect(err).toContain("aws ssm get-parameter: ");
    expect(err).toContain("127.0.0.1:1");
  });
});
