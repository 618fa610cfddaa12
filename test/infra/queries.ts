import type { Made, Synthesis } from "./synthesise.ts";

// What was asked of AWS, as the assertions read it.

const createLook = ({ made }: Synthesis) => {
  const of = (type: string): readonly Made[] => made.filter((one) => one.type === type);
  const getInputs = (type: string) => of(type).map(({ inputs }) => inputs);
  return { all: made, of, inputsOf: getInputs };
};

export type Statement = {
  readonly effect?: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly principals?: readonly { type: string; identifiers: readonly string[] }[];
  readonly conditions?: readonly { test: string; variable: string; values: readonly string[] }[];
};

export const parseStatements = (policy: string): readonly Statement[] =>
  (JSON.parse(policy) as { Statement: readonly Statement[] }).Statement;

/** A secret travels in a wrapping that keeps it out of logs and state. */
const WRAPPED = "4dabf18193072939515e22adb298388d";

export const isSecret = (value: unknown): boolean =>
  typeof value === "object" && value !== null && WRAPPED in value;

/** What a role of Lambda may do, part by part. */
const listAllowed = (it: Synthesis, lambda: string): readonly Statement[] =>
  createLook(it)
    .of("aws:iam/role:Role")
    .filter(({ name }) => name === `${lambda}Role`)
    .flatMap(({ inputs }) => (inputs["inlinePolicies"] ?? []) as { policy: string }[])
    .flatMap(({ policy }) => parseStatements(policy));

/** The settings in a Lambda's environment. */
const readEnvironment = (environment: unknown): Readonly<Record<string, unknown>> => {
  const wrapped = environment as { value?: { variables: object }; variables?: object };
  return { ...(wrapped.value?.variables ?? wrapped.variables) };
};

const findLambda = (it: Synthesis, name: string) =>
  createLook(it)
    .of("aws:lambda/function:Function")
    .find((one) => one.name === `${name}Function`)?.inputs ?? {};

export const look = (it: Synthesis) => ({
  ...createLook(it),
  allowedTo: (lambda: string) => listAllowed(it, lambda),
  lambda: (name: string) => findLambda(it, name),
  settingsOf: (name: string) => readEnvironment(findLambda(it, name)["environment"]),
});
