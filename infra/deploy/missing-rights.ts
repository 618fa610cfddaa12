import { RIGHTS, type Right } from "../cdk/rights.ts";
import type { Settings } from "../settings.ts";
import type { Programs } from "./programs.ts";

// Lists the rights of a deployment (infra/cdk/rights.ts) that the caller lacks, by IAM's simulation. IAM simulates no
// action with a wildcard, and only on a name: so each right is tried on one of the names that it allows.

type Caller = { readonly account: string; readonly arn: string };

/** Rights for resources that only some stages have. */
const isNeeded =
  ({ vpc }: Settings) =>
  (group: string, { for: kinds }: Right): boolean => {
    if (group === "network") return vpc === "own";
    return group !== "edge" || kinds.some((kind) => kind.includes("apigatewayv2"));
  };

/** The ARN of a session lacks the path of its role. Null for the root user, who may do everything. */
const findSource = async ({ aws }: Programs, { account, arn }: Caller): Promise<string | null> => {
  if (arn.endsWith(":root")) return null;
  const [, role] = /:assumed-role\/([^/]+)\//.exec(arn) ?? [];
  if (role === undefined) return arn;
  const found = await aws(`iam get-role --role-name ${role}`).catch(() => null);
  return found?.Role.Arn ?? `arn:aws:iam::${account}:role/${role}`;
};

const fillIn = (text: string, { account }: Caller, region: string): string =>
  text
    .replaceAll("APP", "mailproof")
    .replaceAll("ACCOUNT", account)
    .replace(/^(\w+):\*:/, `$1:${region}:`)
    .replaceAll("*", "x");

const toOptions = ({ on, when = {} }: Right, caller: Caller, region: string): string => {
  const [name = "*"] = on;
  const contexts = Object.values(when).flatMap((conditions) =>
    Object.entries(conditions).map(([key, values]) => {
      const value = fillIn([values].flat()[0] ?? "", caller, region);
      return `ContextKeyName=${key},ContextKeyValues=${value},ContextKeyType=string`;
    }),
  );
  return [
    ...(name === "*" ? [] : [`--resource-arns arn:aws:${fillIn(name, caller, region)}`]),
    ...(contexts.length === 0 ? [] : [`--context-entries ${contexts.join(" ")}`]),
  ].join(" ");
};

/** Groups the actions of rights by the options of their simulation. */
const groupActions = (settings: Settings, caller: Caller): ReadonlyMap<string, Set<string>> => {
  const needs = isNeeded(settings);
  const groups = new Map<string, Set<string>>();
  for (const [group, rights] of Object.entries(RIGHTS))
    for (const right of rights.filter((one) => needs(group, one))) {
      const options = toOptions(right, caller, settings.region);
      const actions = groups.get(options) ?? new Set();
      groups.set(options, actions);
      for (const action of right.actions) if (!action.includes("*")) actions.add(action);
    }
  return groups;
};

export const listMissingRights = async (
  programs: Programs,
  settings: Settings,
  caller: Caller,
): Promise<readonly string[]> => {
  const source = await findSource(programs, caller);
  if (source === null) return [];
  const missing: string[] = [];
  // One after the other: IAM allows few of these calls a second.
  for (const [options, actions] of groupActions(settings, caller)) {
    if (actions.size === 0) continue;
    const { EvaluationResults: results } = await programs.aws(
      `iam simulate-principal-policy --policy-source-arn ${source} --action-names ${[...actions].join(" ")} ${options}`.trim(),
    );
    for (const { EvalActionName: action, EvalDecision: decision } of results)
      if (decision !== "allowed") missing.push(action);
  }
  return [...new Set(missing)].toSorted();
};
