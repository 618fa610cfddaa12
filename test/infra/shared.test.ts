import { beforeAll, expect, test } from "vitest";
import { look } from "./queries.ts";
import { synthesise } from "./synthesise.ts";

// A stage in the VPC of another one, on a table that was restored.

let it: ReturnType<typeof look>;

beforeAll(async () => {
  it = look(
    await synthesise("production", { VPC: "vpc-0a1b2c", TABLE_NAME: "mailproof-restored" }),
  );
});

test("a stage with a shared VPC creates only its own security group in the network", () => {
  const made = it.all.filter(({ type }) => type.startsWith("aws:ec2/"));

  expect(made.map(({ type }) => type)).toEqual(["aws:ec2/securityGroup:SecurityGroup"]);
  expect(made[0]?.inputs).toMatchObject({ vpcId: "vpc-0a1b2c", ingress: [] });
});

test("a stage with TABLE_NAME uses the restored table, and keeps the stage's own table", () => {
  expect(it.settingsOf("HttpVerifyEmail")).toMatchObject({ TABLE_NAME: "mailproof-restored" });
  expect(it.inputsOf("aws:dynamodb/table:Table")).toMatchObject([
    { deletionProtectionEnabled: true },
  ]);
  const policies = it.allowedTo("HttpVerifyEmail").flatMap(({ resources }) => resources);
  expect(policies.filter((one) => one.includes("dynamodb"))).not.toEqual([]);
  expect(policies.filter((one) => one.endsWith(":TableTable"))).toEqual([]);
});
