import { existsSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { listGrants } from "../../infra/iam.ts";
import { lambdas } from "../../infra/topology.ts";
import { look, type Statement } from "./queries.ts";
import { type Synthesis, synthesise } from "./synthesise.ts";

// What `sst dev` makes of the same configuration: every Lambda is SST's bridge to the developer's machine.

let made: Synthesis;
let it: ReturnType<typeof look>;

beforeAll(async () => {
  made = await synthesise("ada", {}, "dev");
  it = look(made);
});

test("a live session creates an SST bridge for every Lambda and builds no bundle of ours", () => {
  const functions = it.inputsOf("aws:lambda/function:Function");

  expect(functions).toHaveLength(lambdas.length);
  for (const { runtime, handler, architectures } of functions)
    expect([runtime, handler, architectures]).toEqual(["provided.al2023", "bootstrap", ["x86_64"]]);
  expect(made.built).toEqual([]);
});

test("each bridge connects to the existing handler of its Lambda", () => {
  const targets = made.targets.map(({ functionID, handler, runtime }) => ({
    functionID,
    handler,
    runtime,
  }));

  expect(targets.toSorted((a, b) => a.functionID.localeCompare(b.functionID))).toEqual(
    lambdas
      .map(({ name, handler }) => ({ functionID: name, handler, runtime: "nodejs24.x" }))
      .toSorted((a, b) => a.functionID.localeCompare(b.functionID)),
  );
  const absent = targets.filter(({ handler }) => !existsSync(handler.replace(/\.handler$/, ".ts")));
  expect(absent).toEqual([]);
  for (const { bundle } of made.targets) expect(bundle).toBeUndefined();
});

test("a bridge passes its Lambda's time-out and settings to the answering process", () => {
  for (const { name, timeoutSeconds, actsForAccounts } of lambdas) {
    expect(it.lambda(name)["timeout"]).toBe(timeoutSeconds);
    const settings = it.settingsOf(name);
    expect(settings).toMatchObject({ SST_FUNCTION_ID: name });
    expect("KEY_PEPPER" in settings).toBe(actsForAccounts);
  }
});

test("a bridge may use its Lambda's permissions and SST's channel and bucket, and no others", () => {
  const isOfSst = ({ resources }: Statement) =>
    resources.every((one) => one === "*" || one.startsWith("arn:aws:s3:::sst-asset"));
  const ofSst = lambdas.map(({ name }) =>
    it
      .allowedTo(name)
      .filter(isOfSst)
      .flatMap(({ actions }) => actions),
  );

  for (const actions of ofSst) expect(actions).toEqual(["appsync:*", "s3:*"]);
  for (const { name, needs } of lambdas)
    expect(
      it
        .allowedTo(name)
        .filter((one) => !isOfSst(one))
        .flatMap(({ actions }) => actions),
    ).toEqual(listGrants(needs).flatMap(({ actions }) => actions));
});

test("the account itself may assume a Lambda's role only in a live session", () => {
  const lambdaRoles = it
    .of("aws:iam/role:Role")
    .filter(({ name }) => lambdas.some((one) => name === `${one.name}Role`));

  expect(lambdaRoles).toHaveLength(lambdas.length);
  for (const { inputs } of lambdaRoles)
    expect(JSON.stringify(inputs["assumeRolePolicy"])).toContain("arn:aws:iam::123456789012:root");
});
