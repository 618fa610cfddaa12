import { existsSync, readFileSync } from "node:fs";
import { RIGHTS, type Right } from "../cdk/rights.ts";
import { createParameterNamer } from "../parameters.ts";
import type { Domain, Settings } from "../settings.ts";
import type { Programs } from "./programs.ts";

// Reads the facts about the AWS account before a deployment. Nothing here changes the account.

/** The answer of AWS, or a sentence about its failure. */
export type Known<Value> = { readonly value: Value } | { readonly fault: string };

export type Facts = {
  /** True when the installed SST and CDK are those of this commit. */
  readonly isPrepared: boolean;
  readonly caller: Known<{ readonly account: string; readonly arn: string }>;
  /** Rights that a deployment needs and the caller lacks. */
  readonly missingRights: Known<readonly string[]>;
  /** True when SST's lock exists: a deployment runs or was cut off. */
  readonly isLocked: Known<boolean>;
  /** True when the stage was deployed before. */
  readonly isDeployed: boolean;
  readonly secrets: Known<readonly string[]>;
  readonly lambdas: Known<number>;
  readonly addresses: Known<{ readonly taken: number; readonly most: number }>;
  readonly vpcs: Known<{ readonly taken: number; readonly most: number }>;
  /** The owner of the VPC that the stage shares; null when it shares none. */
  readonly sharedVpc: Known<"made by SST" | "made by others"> | null;
  readonly certificates: readonly (readonly [domain: Domain, state: Known<CertificateState>])[];
  readonly zones: Known<readonly string[]>;
  readonly distributions: Known<number>;
};

export type CertificateState = { readonly status: string; readonly names: readonly string[] };

type Awaiting<Values> = { readonly [Name in keyof Values]: Promise<Values[Name]> | Values[Name] };

/** Waits for all promises of an object. AWS's command line takes a second to start, so its calls run at once. */
const awaitAll = async <Values extends object>(promises: Awaiting<Values>): Promise<Values> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(promises).map(async ([name, promise]) => [name, await promise] as const),
    ),
  ) as Values;

const know = async <Value>(read: () => Promise<Value>): Promise<Known<Value>> => {
  try {
    return { value: await read() };
  } catch (error) {
    return { fault: (error as Error).message };
  }
};

export const SST = "infra/node_modules/.bin/sst";

const hasParameter = async ({ aws }: Programs, name: string): Promise<boolean> => {
  const { Parameters: found } = await aws(`ssm get-parameters --names ${name}`);
  return found.length > 0;
};

/** An interrupted deployment leaves this lock object of SST, which refuses the next deployment. */
export const readLock = async ({ aws }: Programs, stage: string): Promise<boolean> => {
  const {
    Parameters: [bootstrap],
  } = await aws("ssm get-parameters --names /sst/bootstrap");
  if (!bootstrap) return false;
  const { state } = JSON.parse(bootstrap.Value);
  const prefix = `lock/mailproof/${stage}.json`;
  const { Contents: found = [] } = await aws(
    `s3api list-objects-v2 --bucket ${state} --prefix ${prefix}`,
  );
  return found.length > 0;
};

/** SST would create its state when it looks for secrets, so without a state the answer is "none". */
const readSecrets = async (programs: Programs, stage: string): Promise<readonly string[]> => {
  if (!(await hasParameter(programs, "/sst/bootstrap"))) return [];
  const listed = await programs
    .read(SST, ["secret", "list", "--stage", stage])
    .catch((error: Error) => {
      if (error.message.includes("No secrets found")) return "";
      throw error;
    });
  return [...listed.matchAll(/^(\w+)=(.?)/gm)].map(([, name = ""]) => name);
};

const readQuota = async ({ aws }: Programs, service: string, code: string): Promise<number> => {
  const quotaOf = `--service-code ${service} --quota-code ${code}`;
  // Only this call returns a quota that was never changed.
  const { Quota: quota } = await aws(`service-quotas get-service-quota ${quotaOf}`).catch(() =>
    aws(`service-quotas get-aws-default-service-quota ${quotaOf}`),
  );
  return quota.Value as number;
};

type Tagged = { readonly Tags?: readonly { readonly Key: string; readonly Value: string }[] };

/** Resources of an earlier, unfinished run belong to the stage: SST tags them. */
const countForeign = (some: readonly Tagged[], stage: string): number =>
  some.filter(
    ({ Tags: tags = [] }) =>
      !["mailproof", stage].every((own) => tags.some(({ Value: value }) => value === own)),
  ).length;

const readVpc = async ({ aws }: Programs, id: string) => {
  const { Vpcs: vpcs } = await aws(`ec2 describe-vpcs --vpc-ids ${id}`);
  const { Tags: tags = [] }: Tagged = vpcs[0];
  return tags.some(({ Key: key }) => key === "sst:ref-version") ? "made by SST" : "made by others";
};

const readCertificate = async ({ aws }: Programs, arn: string): Promise<CertificateState> => {
  const [, , , region = ""] = arn.split(":");
  const { Certificate: found } = await aws(
    `acm describe-certificate --certificate-arn ${arn} --region ${region}`,
  );
  return { status: found.Status, names: found.SubjectAlternativeNames ?? [found.DomainName] };
};

/** npm ci at another commit changes neither folder, so a rollback may find the newer release's packages. */
const isPrepared = (): boolean => {
  const files = ["infra/node_modules/sst/package.json", ".sst/platform/version"];
  const wanted: string = JSON.parse(readFileSync("infra/package.json", "utf8")).devDependencies.sst;
  return files.every((file) => existsSync(file) && readFileSync(file, "utf8").includes(wanted));
};

export const readFacts = async (
  programs: Programs,
  stage: string,
  settings: Settings,
): Promise<Facts> => {
  const { aws } = programs;
  const toName = createParameterNamer("mailproof", stage);
  const domains = [settings.apiDomain, settings.appDomain].filter((one) => one !== null);
  const { vpc } = settings;
  const caller = know(async () => {
    const { Account: account, Arn: arn } = await aws("sts get-caller-identity");
    return { account, arn };
  });
  return awaitAll<Facts>({
    isPrepared: isPrepared(),
    caller,
    missingRights: caller.then((known) =>
      "value" in known
        ? know(() => listMissingRights(programs, settings, known.value))
        : { value: [] },
    ),
    isLocked: know(() => readLock(programs, stage)),
    isDeployed: hasParameter(programs, toName("url")).catch(() => false),
    secrets: know(() => readSecrets(programs, stage)),
    lambdas: know(async () => {
      const { AccountLimit: limit } = await aws("lambda get-account-settings");
      return limit.ConcurrentExecutions;
    }),
    addresses: know(async () => ({
      taken: countForeign((await aws("ec2 describe-addresses")).Addresses, stage),
      most: await readQuota(programs, "ec2", "L-0263D0A3"),
    })),
    vpcs: know(async () => ({
      taken: countForeign((await aws("ec2 describe-vpcs")).Vpcs, stage),
      most: await readQuota(programs, "vpc", "L-F678F1CE"),
    })),
    sharedVpc: vpc === "own" || vpc === "none" ? null : know(() => readVpc(programs, vpc)),
    certificates: Promise.all(
      domains.flatMap((domain) =>
        domain.certificate === null
          ? []
          : [
              know(() => readCertificate(programs, domain.certificate ?? "")).then(
                (state) => [domain, state] as const,
              ),
            ],
      ),
    ),
    zones: know(async () => {
      const { HostedZones: found } = await aws("route53 list-hosted-zones");
      return found.map(({ Name: name }: { readonly Name: string }) => name.replace(/\.$/, ""));
    }),
    distributions: know(async () => {
      const { DistributionList: list } = await aws("cloudfront list-distributions");
      return list?.Items?.length ?? 0;
    }),
  });
};

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

const listMissingRights = async (
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
