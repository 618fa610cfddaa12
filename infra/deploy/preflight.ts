import { toDeployerName } from "../parameters.ts";
import { readCostOfMillion, sumIdleCosts } from "../prices.ts";
import type { Domain, Settings } from "../settings.ts";
import { listGateways } from "../topology.ts";
import type { CertificateState, Facts, Known } from "./facts.ts";
import { UNREACHABLE } from "./programs.ts";

// Lists the obstacles of a deployment from the facts about the account, each with its remedy.

export type Finding = {
  /** `stop`: the deployment would fail or be useless. `note`: the deployment works, and the operator should know this. */
  readonly verdict: "ok" | "note" | "stop";
  readonly about: string;
  readonly says: string;
};

type Case = { readonly stage: string; readonly settings: Settings; readonly facts: Facts };

const ok = (about: string, says: string): Finding => ({ verdict: "ok", about, says });
const note = (about: string, says: string): Finding => ({ verdict: "note", about, says });
const stop = (about: string, says: string): Finding => ({ verdict: "stop", about, says });

/** An unknown fact does not stop the deployment, which will find the fault itself. */
const unless = <Value>(about: string, known: Known<Value>, judge: (value: Value) => Finding) =>
  "value" in known ? judge(known.value) : note(about, `AWS did not say: ${known.fault}`);

const increase = (service: string, code: string, to: number): string =>
  `aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${to}`;

const judgeTools = ({ facts: { isPrepared } }: Case): Finding =>
  isPrepared
    ? ok("tools", "SST and CDK are installed")
    : stop(
        "tools",
        "SST and CDK of this release are not installed. Run: npx node scripts/prepare-infra.mjs",
      );

const judgeCaller = ({ facts, settings }: Case): Finding => {
  const { caller } = facts;
  const { region, permissionsBoundary } = settings;
  if ("fault" in caller)
    return stop(
      "credentials",
      caller.fault === UNREACHABLE
        ? UNREACHABLE
        : `AWS does not know you: ${caller.fault} Sign in (aws sso login), or set AWS_PROFILE.`,
    );
  const { account, arn } = caller.value;
  if (arn.includes(`/${toDeployerName("mailproof")}/`) && permissionsBoundary === null)
    return stop(
      "credentials",
      `${arn} may make no role without its limit: set PERMISSIONS_BOUNDARY (docs/operating.md, Deploy from GitHub).`,
    );
  return arn.endsWith(":root")
    ? note("credentials", `the root user of account ${account} in ${region}. A role is safer.`)
    : ok("credentials", `${arn}, in ${region}`);
};

/** The number of rights that fit into a line. */
const NAMED_RIGHTS = 5;

const judgeRights = ({ facts: { missingRights, caller } }: Case): Finding =>
  unless("rights", missingRights, (missing) => {
    if (missing.length === 0) return ok("rights", "you may do what a deployment does");
    const named = missing.slice(0, NAMED_RIGHTS).join(", ");
    const more = missing.length > NAMED_RIGHTS ? ` and ${missing.length - NAMED_RIGHTS} more` : "";
    const arn = "value" in caller ? caller.value.arn : "";
    return stop(
      "rights",
      `${arn} lacks ${named}${more}: sign in as a role that may administer the account, or let an administrator attach the policies that npx node infra/cdk/pipeline-app.ts writes (docs/operating.md, Deploy from GitHub).`,
    );
  });

export const describeLock = (stage: string): string =>
  `SST's lock is on ${stage}: another deployment runs, or one was cut off. If none runs: npm run sst -- unlock --stage ${stage}`;

const judgeLock = ({ stage, facts: { isLocked } }: Case): readonly Finding[] =>
  "value" in isLocked && isLocked.value ? [stop("lock", describeLock(stage))] : [];

/** No Lambda starts without these secrets. The deployment creates missing ones. */
const NEEDED_SECRETS = ["KeyPepper", "CursorSecret", "ActivityKey", "SealingKey"];

export const listMissingSecrets = ({ secrets }: Facts): readonly string[] =>
  "value" in secrets ? NEEDED_SECRETS.filter((name) => !secrets.value.includes(name)) : [];

const judgeSecrets = ({ facts }: Case): Finding => {
  if ("fault" in facts.secrets)
    return stop("secrets", `SST did not say which there are: ${facts.secrets.fault}`);
  const missing = listMissingSecrets(facts);
  if (missing.length === 0) return ok("secrets", "all four are there");
  // Another pepper revokes every key, and another sealing key stops every webhook.
  return facts.isDeployed
    ? stop(
        "secrets",
        `${missing.join(", ")} is missing, though the stage is deployed. A new one would revoke what it protects: look for the old one first (docs/operating.md, Secrets).`,
      )
    : note("secrets", `${missing.join(", ")}: will be made at random`);
};

/** From this quota on, callers keep at least as many Lambdas as the reserved ones. */
const judgeLambdas = ({ facts, settings: { quota } }: Case): Finding =>
  unless("Lambdas", facts.lambdas, (most) => {
    if (quota !== null && quota > most)
      return stop(
        "Lambdas",
        `CONCURRENCY_QUOTA is ${quota}, and the account may run ${most} at once. Leave it out: it is read from the account.`,
      );
    if (most >= 1_000) return ok("Lambdas", `${most} at once`);
    return note(
      "Lambdas",
      `${most} at once: lists are slow, and callers wait for them. Ask for more: ${increase("lambda", "L-B99A9384", 1_000)}`,
    );
  });

/** The addresses and VPCs that a stage with its own network needs. */
const judgeRoom = (
  { settings }: Case,
  about: string,
  known: Facts["addresses"],
  needed: number,
  ask: string,
): readonly Finding[] =>
  settings.vpc !== "own"
    ? []
    : [
        unless(about, known, ({ taken, most }) =>
          taken + needed <= most
            ? ok(about, `${taken} of ${most} are taken, and the stage needs ${needed}`)
            : stop(
                about,
                `${taken} of the account's ${most} are taken, and the stage needs ${needed}. Ask for more (${ask}), or share the VPC of another stage (VPC=vpc-…), or use none (VPC=none).`,
              ),
        ),
      ];

const countAddresses = ({ settings }: Case): number =>
  Math.max(1, listGateways(settings).length) + settings.exits;

const judgeSharedVpc = ({ facts: { sharedVpc }, settings: { vpc } }: Case): readonly Finding[] => {
  if (sharedVpc === null) return [];
  if ("fault" in sharedVpc) return [stop("VPC", `${vpc} cannot be used: ${sharedVpc.fault}`)];
  return sharedVpc.value === "made by SST"
    ? [ok("VPC", `${vpc} is shared`)]
    : [stop("VPC", `${vpc} was not made by a stage. VPC takes the id of one that was.`)];
};

const judgeWayOut = ({ facts: { secrets }, settings: { vpc, exits } }: Case): Finding => {
  const hasProxies = "value" in secrets && secrets.value.includes("SmtpProxies");
  if (hasProxies) return ok("port 25", "through the proxies of SmtpProxies");
  if (exits > 0)
    return note(
      "port 25",
      `through ${exits} machines of the stage's own, once AWS opens it for their addresses (docs/egress.md). Until then mailboxes are unknown, and not charged.`,
    );
  return vpc === "none"
    ? note(
        "port 25",
        "there is no way to mail servers: mailboxes will be unknown, and not charged. Syntax, domains and test keys work. docs/egress.md has the ways out.",
      )
    : note(
        "port 25",
        "AWS keeps it closed until it opens it for the stage's addresses: ask once it is deployed (docs/egress.md). Until then mailboxes are unknown, and not charged.",
      );
};

const covers = ({ names }: CertificateState, host: string): boolean =>
  names.some((name) =>
    name.startsWith("*.") ? host.slice(host.indexOf(".")) === name.slice(1) : name === host,
  );

const judgeCertificates = ({ facts: { certificates } }: Case): readonly Finding[] =>
  certificates.map(([{ name }, known]) => {
    if ("fault" in known)
      return stop("certificate", `that of ${name} was not found: ${known.fault}`);
    const { status, names } = known.value;
    if (status !== "ISSUED")
      return stop("certificate", `that of ${name} is ${status}. It has to be ISSUED first.`);
    return covers(known.value, name)
      ? ok("certificate", `that of ${name} is issued`)
      : stop("certificate", `the one for ${name} is for ${names.join(", ")}.`);
  });

const isInZone = (host: string, zone: string): boolean =>
  host === zone || host.endsWith(`.${zone}`);

const judgeZones = ({ facts: { zones }, settings }: Case): readonly Finding[] =>
  [settings.apiDomain, settings.appDomain]
    .filter((one): one is Domain => one !== null && one.certificate === null)
    .map(({ name }) =>
      unless("DNS", zones, (some) =>
        some.some((zone) => isInZone(name, zone))
          ? ok("DNS", `${name} is in a zone of Route 53`)
          : stop(
              "DNS",
              `${name} is in no zone of Route 53. Make the zone, or name a certificate of yours (API_CERTIFICATE, APP_CERTIFICATE) and make the record.`,
            ),
      ),
    );

const judgeCloudFront = ({ facts, settings: { dashboard } }: Case): readonly Finding[] =>
  dashboard !== "cloudfront" || facts.isDeployed
    ? []
    : [
        unless("CloudFront", facts.distributions, (count) =>
          count > 0
            ? ok("CloudFront", "the account has used it")
            : note(
                "CloudFront",
                'the account has never used it, and AWS may refuse: "Your account must be verified". Then set DASHBOARD=api, or ask AWS Support to verify the account, and run this again.',
              ),
        ),
      ];

const money = (dollars: number): string => `$${dollars.toFixed(2)}`;

const judgePrice = ({ settings }: Case): Finding => {
  const file = readCostOfMillion("an address in a file, at hosts of their own");
  const call = readCostOfMillion("POST /v1/verify, new");
  return note(
    "price",
    `${money(sumIdleCosts(settings))} a month before the first request, ${money(file)} for a million addresses in files, ${money(call)} for a million single calls (docs/costs.md)`,
  );
};

export const judge = (one: Case): readonly Finding[] => {
  const { facts } = one;
  const first = [judgeTools(one), judgeCaller(one)];
  if (first.some(({ verdict }) => verdict === "stop")) return first;
  return [
    ...first,
    judgeRights(one),
    ...judgeLock(one),
    judgeSecrets(one),
    judgeLambdas(one),
    ...judgeRoom(
      one,
      "addresses",
      facts.addresses,
      countAddresses(one),
      increase("ec2", "L-0263D0A3", 10),
    ),
    ...judgeRoom(one, "VPCs", facts.vpcs, 1, increase("vpc", "L-F678F1CE", 10)),
    ...judgeSharedVpc(one),
    judgeWayOut(one),
    ...judgeCertificates(one),
    ...judgeZones(one),
    ...judgeCloudFront(one),
    judgePrice(one),
  ];
};

const SIGNS = { ok: "✓", note: "!", stop: "✗" };

export const formatFinding = ({ verdict, about, says }: Finding): string =>
  `${SIGNS[verdict]} ${about.padEnd(12)}${says}`;
