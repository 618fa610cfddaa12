import { type Environment, readSettings, type Settings } from "../settings.ts";
import { readFacts, readLock } from "./facts.ts";
import { describeLock, formatFinding, judge } from "./preflight.ts";
import type { Programs } from "./programs.ts";
import { type Deployed, type Deployment, readParameter, STEPS } from "./steps.ts";

export type Options = {
  readonly stage: string;
  readonly environment: Environment;
  /** True: the command prints the plan and changes nothing. */
  readonly isPreview: boolean;
  /** True: the command asks no questions. */
  readonly isAgreed: boolean;
  readonly isWatched: Deployment["isWatched"];
  readonly isAtOnce: Deployment["isAtOnce"];
};

const trySettings = (stage: string, environment: Environment): Settings | string => {
  try {
    return readSettings(stage, environment);
  } catch (error) {
    return (error as Error).message;
  }
};

/** Deploys a stage, step by step. Returns the exit code. */
export const deploy = async (
  { stage, environment, isPreview, isAgreed, isWatched, isAtOnce }: Options,
  open: (environment: Environment) => Programs,
): Promise<number> => {
  const { say, agree } = open(environment);
  const settings = trySettings(stage, environment);
  if (typeof settings === "string") {
    say(settings);
    return 1;
  }
  const given = { ...environment, AWS_DEFAULT_REGION: settings.region };
  const facts = await readFacts(open(given), stage, settings);
  const findings = judge({ stage, settings, facts });
  say(`The stage ${stage}:\n`);
  for (const finding of findings) say(formatFinding(finding));
  if (findings.some(({ verdict }) => verdict === "stop")) {
    say("\nNothing was changed.");
    return 1;
  }
  // The account's quota decides the sizes of the stage.
  const quota = settings.quota ?? ("value" in facts.lambdas ? facts.lambdas.value : null);
  const programs = open({ ...given, ...(quota !== null && { CONCURRENCY_QUOTA: String(quota) }) });
  const deployment: Deployment = { stage, settings, facts, programs, isWatched, isAtOnce };
  say("\nWhat will be done:\n");
  const steps = STEPS.flatMap((step) => {
    const plan = step.plan(deployment);
    return plan === null ? [] : [{ ...step, planned: plan }];
  });
  steps.forEach(({ name, planned }, index) => say(`${index + 1}. ${name}: ${planned}`));
  if (isPreview) return 0;
  if (!isAgreed && !(await agree("\nDeploy?"))) {
    say("Nothing was changed.");
    return 1;
  }
  const deployed: Deployed = { url: "", testKey: null };
  for (const { name, run } of steps) {
    say(`\n— ${name}`);
    try {
      await run(deployment, deployed);
    } catch (error) {
      say(`\n✗ ${name}: ${(error as Error).message}`);
      if (await readLock(programs, stage).catch(() => false)) say(describeLock(stage));
      say(`What was done before stays. Run the same command again: it goes on from here.`);
      return 1;
    }
  }
  await summarise(deployment, deployed);
  return 0;
};

const summarise = async ({ stage, settings, programs }: Deployment, deployed: Deployed) => {
  const { say } = programs;
  const { url } = deployed;
  const addresses =
    settings.vpc === "none" ? null : await readParameter(programs, `/mailproof/${stage}/egress`);
  say(`\nThe stage ${stage} works. Keep this:\n`);
  say(`API        ${url}`);
  if (settings.dashboard !== "none") say(`Dashboard  ${url.replace(/\/$/, "")}/app/`);
  if (addresses !== null) say(`Addresses  ${addresses} (docs/egress.md: reverse DNS, port 25)`);
  say(`Alarms     ${settings.callEmail ?? "nobody is called: set CALL_EMAIL and deploy again"}`);
  say(`Operator   npm run admin -- --stage ${stage} accounts list`);
  say(`Remove     npm run sst -- remove --stage ${stage}`);
};
