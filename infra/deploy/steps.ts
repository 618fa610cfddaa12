import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createParameterNamer } from "../parameters.ts";
import type { Settings } from "../settings.ts";
import { type Facts, SST } from "./facts.ts";
import { listMissingSecrets } from "./preflight.ts";
import type { Programs } from "./programs.ts";
import { moveCallers } from "./release.ts";

// The steps of a deployment, in their order. A step skips the work that an earlier run finished.

export type Deployment = {
  readonly stage: string;
  readonly settings: Settings;
  readonly facts: Facts;
  readonly programs: Programs;
  /** True when a person reads the output. */
  readonly isWatched: boolean;
  /** True: all callers get the new version at once. */
  readonly isAtOnce: boolean;
};

/** The results of a deployment. */
export type Deployed = {
  url: string;
  /** The test key of the first account, if this run created it. */
  testKey: string | null;
};

type Step = {
  readonly name: string;
  /** The step's line in the plan; null when nothing is left to do. */
  readonly plan: (deployment: Deployment) => string | null;
  readonly run: (deployment: Deployment, deployed: Deployed) => Promise<void>;
};

const NODE = process.execPath;

/** No secret is in a command line, where every process of the machine could read it. */
const setSecrets = async ({ stage, facts, programs }: Deployment): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-secrets-"));
  try {
    const file = join(folder, "secrets.env");
    const lines = listMissingSecrets(facts).map(
      (name) => `${name}=${randomBytes(32).toString("base64")}\n`,
    );
    writeFileSync(file, lines.join(""), { mode: 0o600 });
    await programs.run(SST, ["secret", "load", file, "--stage", stage]);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

export const readParameter = async ({ aws }: Programs, name: string): Promise<string> =>
  (await aws(`ssm get-parameter --name ${name}`)).Parameter.Value;

/** The stack has more than the 51,200 bytes that AWS takes directly, so it passes through SST's bucket. */
const deployMonitoring = async ({ stage, programs }: Deployment): Promise<void> => {
  await programs.run(NODE, ["infra/cdk/app.ts", stage]);
  const { asset } = JSON.parse(await readParameter(programs, "/sst/bootstrap"));
  const stack = `mailproof-${stage}-operations`;
  const to = `--stack-name ${stack} --s3-bucket ${asset} --no-fail-on-empty-changeset`;
  const command = `cloudformation deploy ${to} --template-file cdk.out/${stack}.template.json`;
  await programs.run("aws", command.split(" "));
};

/** Runs an operator's command on the stage. No argument contains a space. */
const admin = async ({ stage, programs }: Deployment, command: string): Promise<any> => {
  const args = `infra/deploy/admin-on-stage.ts --stage ${stage} ${command}`.split(" ");
  return JSON.parse(await programs.read(NODE, args));
};

const openFirstAccount = async (deployment: Deployment, deployed: Deployed): Promise<void> => {
  const { isWatched, stage, programs } = deployment;
  const { say } = programs;
  if ((await admin(deployment, "accounts list")).length > 0) return say("There is one already.");
  const made = await admin(deployment, "accounts create --name First --plan pro --credits 1000");
  if (!isWatched)
    return say(
      `The first account is ${made.account_id}. A log would keep its keys, so they are not shown. For one that is, in a terminal: npm run admin -- --stage ${stage} keys create --account ${made.account_id} --mode live`,
    );
  // The table stores only hashes of keys, so they are printed before the next step can fail.
  say(`The first account is ${made.account_id}. Its keys are shown this once:\n`);
  say(`Live key  ${made.live_key}\nTest key  ${made.test_key}`);
  deployed.testKey = made.test_key;
};

/** Runs with a test key, which costs nothing. A key that is created for the smoke test is revoked after it. */
const smoke = async (
  deployment: Deployment,
  deployed: Deployed,
  url = deployed.url,
): Promise<void> => {
  const { programs } = deployment;
  const run = (key: string) =>
    programs.run(NODE, ["scripts/smoke.ts", url], { MAILPROOF_KEY: key });
  if (deployed.testKey !== null) return run(deployed.testKey);
  const accounts: readonly { readonly account_id: string; readonly status: string }[] = await admin(
    deployment,
    "accounts list",
  );
  const account = accounts.find(({ status }) => status === "active")?.account_id;
  if (account === undefined) return programs.say("No account is active, so nothing was tried.");
  const made = await admin(
    deployment,
    `keys create --account ${account} --mode test --name smoke --expires 1d`,
  );
  try {
    await run(made.key);
  } finally {
    await admin(deployment, `keys revoke --account ${account} --key ${made.key_id}`);
  }
};

export const STEPS: readonly Step[] = [
  {
    name: "secrets",
    plan: ({ facts }) => {
      const missing = listMissingSecrets(facts);
      return missing.length === 0 ? null : `make ${missing.join(", ")}, and keep them in SST`;
    },
    run: setSecrets,
  },
  {
    name: "service",
    plan: ({ stage, settings: { region }, facts: { isDeployed } }) =>
      `${isDeployed ? "update" : "create"} the service by SST: npx sst deploy --stage ${stage}, in ${region} (${isDeployed ? "minutes" : "about ten minutes"})`,
    run: async ({ stage, programs }, deployed) => {
      await programs.run(SST, ["deploy", "--stage", stage]);
      deployed.url = await readParameter(programs, createParameterNamer("mailproof", stage)("url"));
    },
  },
  {
    name: "monitoring",
    plan: ({ settings: { callEmail } }) =>
      `alarms, a dashboard and a budget by CDK; they call ${callEmail ?? "a topic that nobody has subscribed to (CALL_EMAIL)"}`,
    run: deployMonitoring,
  },
  {
    name: "release",
    plan: ({ facts: { isDeployed }, isAtOnce }) =>
      !isDeployed
        ? null
        : isAtOnce
          ? "give callers the new versions at once"
          : "try the new versions before any caller has them, then give them 10 %, 50 % and all of the calls within 30 minutes, unless an alarm rings",
    run: (deployment, deployed) =>
      moveCallers({ ...deployment, smoke: (url) => smoke(deployment, deployed, url) }),
  },
  {
    name: "account",
    plan: ({ isWatched }) =>
      `make an account with 1,000 credits if there is none, and ${isWatched ? "show its keys once" : "show no key to a log"}`,
    run: openFirstAccount,
  },
  {
    name: "smoke test",
    plan: () => "try the stage from outside with a test key: npx node scripts/smoke.ts",
    run: (deployment, deployed) => smoke(deployment, deployed),
  },
];
