import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { createOperationsApp } from "../../infra/cdk/operations.ts";
import { readSettings, type Size } from "../../infra/settings.ts";
import { type AlarmCase, FULL_CASES, LEAN_CASES } from "./alarm-cases.ts";
import { listMutants } from "./alarm-mutants.ts";
import { type Alarm, playAlarm } from "./cloudwatch.ts";
import { readAlarms } from "./read-alarms.ts";

// Every alarm of the deployed template is fed with figures: it rings at some, and stays quiet at others just below.

const synthesise = (size: Size): readonly Alarm[] => {
  const environment = { AWS_REGION: "eu-west-1", STAGE_SIZE: size };
  const app = createOperationsApp(
    {
      app: "mailproof",
      stage: "production",
      settings: readSettings("production", environment),
      quota: 1_000,
    },
    mkdtempSync(join(tmpdir(), "mailproof-alarms-")),
  );
  const stack = app.node.findChild("mailproof-production-operations") as Stack;
  return readAlarms(Template.fromStack(stack));
};

const toId = ({ name }: Alarm) => name.replace(/^mailproof-production-/, "");
const toIds = (some: readonly { readonly id: string }[]) => some.map(({ id }) => id).toSorted();

/** What this alarm does otherwise than its case says. */
const findFaults = (alarm: Alarm, { ringing, quiet }: AlarmCase): readonly string[] => [
  ...ringing.flatMap(({ why, figures, rings, over }) => {
    const states = playAlarm(alarm, figures, over);
    const isRinging = rings.every((minute) => states[minute - 1] === "ALARM");
    if (!isRinging) return [`does not ring: ${why}`];
    return states[over - 1] === "OK" ? [] : [`does not end: ${why}`];
  }),
  ...quiet.flatMap(({ why, figures, minutes }) =>
    playAlarm(alarm, figures, minutes).includes("ALARM") ? [`rings: ${why}`] : [],
  ),
];

const full = synthesise("full");
const caseOf = new Map(FULL_CASES.map((one) => [one.id, one]));
const getCase = (alarm: Alarm): AlarmCase => {
  const found = caseOf.get(toId(alarm));
  if (!found) throw new Error(`${alarm.name} is fed with nothing`);
  return found;
};

test("every alarm of a full and of a lean stage has a test case", () => {
  expect(full.map(toId).toSorted()).toEqual(toIds(FULL_CASES));
  expect(synthesise("lean").map(toId).toSorted()).toEqual(toIds(LEAN_CASES));
});

test.each(full)(
  "the alarm $name rings on its test figures, ends, and otherwise stays silent",
  (alarm) => {
    const { ringing, quiet } = getCase(alarm);

    expect(ringing).not.toEqual([]);
    expect(quiet).not.toEqual([]);
    expect(findFaults(alarm, getCase(alarm))).toEqual([]);
  },
);

test("an alarm of a lean stage equals the alarm of a full one", () => {
  const byId = new Map(full.map((alarm) => [toId(alarm), alarm]));

  for (const alarm of synthesise("lean")) expect(alarm).toEqual(byId.get(toId(alarm)));
});

test.each(full)("the test figures of $name reveal each planted fault in the alarm", (alarm) => {
  const mutants = listMutants(alarm);
  const unnoticed = mutants.filter((one) => findFaults(one.alarm, getCase(alarm)).length === 0);

  expect(mutants.length).toBeGreaterThanOrEqual(4);
  expect(unnoticed.map(({ fault }) => fault)).toEqual([]);
});
