import type { Made, Synthesis } from "./synthesise.ts";

// What was asked of AWS, as the assertions read it.

const looking = ({ made }: Synthesis) => {
  const of = (type: string): readonly Made[] => made.filter((one) => one.type === type);
  const inputsOf = (type: string) => of(type).map(({ inputs }) => inputs);
  return { of, inputsOf };
};

export type Statement = {
  readonly effect?: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly principals?: readonly { type: string; identifiers: readonly string[] }[];
  readonly conditions?: readonly { test: string; variable: string; values: readonly string[] }[];
};

export const statementsOf = (policy: string): readonly Statement[] =>
  (JSON.parse(policy) as { Statement: readonly Statement[] }).Statement;

/** A secret travels in a wrapping that keeps it out of logs and state. */
const WRAPPED = "4dabf18193072939515e22adb298388d";

export const isSecret = (value: unknown): boolean =>
  typeof value === "object" && value !== null && WRAPPED in value;

/** What a role of Lambda may do, part by part. */
const allowedTo = (it: Synthesis, lambda: string): readonly Statement[] =>
  looking(it)
    .of("aws:iam/role:Role")
    .filter(({ name }) => name === `${lambda}Role`)
    .flatMap(({ inputs }) => (inputs["inlinePolicies"] ?? []) as { policy: string }[])
    .flatMap(({ policy }) => statementsOf(policy));

/** What a Lambda is told in its environment. */
const settingsOf = (environment: unknown): Readonly<Record<string, unknown>> => {
  const wrapped = environment as { value?: { variables: object }; variables?: object };
  return { ...(wrapped.value?.variables ?? wrapped.variables) };
};

const lambdaIn = (it: Synthesis, name: string) =>
  looking(it)
    .of("aws:lambda/function:Function")
    .find((one) => one.name === `${name}Function`)?.inputs ?? {};

export const look = (it: Synthesis) => ({
  ...looking(it),
  allowedTo: (lambda: string) => allowedTo(it, lambda),
  lambda: (name: string) => lambdaIn(it, name),
  settingsOf: (name: string) => settingsOf(lambdaIn(it, name)["environment"]),
});
