import { beforeAll, expect, test } from "vitest";
import { createCloudInit } from "../../infra/cloud-init.ts";
import { look } from "./queries.ts";
import { type Synthesis, synthesise } from "./synthesise.ts";

// A stage with exits of its own: machines with an address each, which its Lambdas, and nobody else, use.

let made: Synthesis;
let it: ReturnType<typeof look>;

beforeAll(async () => {
  made = await synthesise("production", {
    EXITS: "2",
    STAGE_SIZE: "lean",
    VPC: "own",
    SMTP_HELLO: "probe.example.com",
  });
  it = look(made);
});

const listExits = () =>
  it.of("aws:ec2/instance:Instance").filter(({ name }) => name.startsWith("Exit"));

test("a stage creates the configured number of small exits, each with an address that outlives it", () => {
  expect(listExits().map(({ inputs }) => inputs["instanceType"])).toEqual(["t4g.nano", "t4g.nano"]);
  expect(
    it
      .of("aws:ec2/eip:Eip")
      .filter(({ name }) => name.startsWith("Exit"))
      .map(({ inputs }) => inputs["networkInterface"]),
  ).toEqual(["Exit1Card-id", "Exit2Card-id"]);
});

test("an exit accepts only the Lambdas that talk to mail servers and connects only to ports 25, 80 and 443", () => {
  const [guard] = it
    .of("aws:ec2/securityGroup:SecurityGroup")
    .filter(({ name }) => name === "ExitGuard");

  expect(guard?.inputs["ingress"]).toEqual([
    { protocol: "tcp", fromPort: 1080, toPort: 1080, securityGroups: ["EgressGuard-id"] },
  ]);
  expect(
    guard?.inputs["egress"].map(({ fromPort, toPort }: Record<string, number>) => [
      fromPort,
      toPort,
    ]),
  ).toEqual([
    [25, 25],
    [80, 80],
    [443, 443],
  ]);
});

test("a stage starts each exit with the files of deploy/exit", () => {
  for (const { inputs } of listExits()) {
    expect(inputs["userData"]).toBe(
      createCloudInit(
        "HELO=probe.example.com\nADDRESS=203.0.113.10\nALLOW=10.0.0.0/16\nPASSWORD=drawn\n",
      ),
    );
    expect(inputs["metadataOptions"]).toMatchObject({ httpTokens: "required" });
  }
});

test("a stage uses its exits beside the operator's proxies and publishes their addresses", () => {
  const own = "socks5://mailproof:drawn@10.0.0.5:1080";

  expect(it.settingsOf("Prober")["SMTP_PROXIES"]).toBe(
    `socks5://user:pass@192.0.2.1:1080,${own},${own}`,
  );
  // The provider keeps every value secret.
  expect(it.inputsOf("aws:ssm/parameter:Parameter")).toContainEqual(
    expect.objectContaining({
      name: "/mailproof/production/exits",
      value: expect.objectContaining({ value: "203.0.113.10,203.0.113.10" }),
    }),
  );
});
