import * as v from "valibot";
import { findOwner, isPermanent } from "./lifecycle.ts";

// The settings of a deployment, from the environment or .env.<stage>. docs/operating.md explains each.

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * full: a NAT gateway with a fixed address in each of two zones, and an alarm for each Lambda. lean: no network of its own,
 * and the alarms of the stage as a whole. docs/costs.md has the price of each.
 */
export type Size = "full" | "lean";

/** own: a network with fixed addresses; none: mail servers are reached through SmtpProxies alone; else that of another stage. */
export type Vpc = "own" | "none" | `vpc-${string}`;

/** A host name; with a certificate of one's own, its DNS is one's own, too. Without, its zone is in Route 53. */
export type Domain = { readonly name: string; readonly certificate: string | null };

export type Settings = {
  readonly region: string;
  readonly size: Size;
  readonly vpc: Vpc;
  /** cloudfront: a host of CloudFront's for the dashboard and the API; api: the API's own host; none: no dashboard. */
  readonly dashboard: "cloudfront" | "api" | "none";
  readonly apiDomain: Domain | null;
  readonly appDomain: Domain | null;
  /** The ARN of the firewall before CloudFront (AWS WAF); null without a firewall. */
  readonly webAcl: string | null;
  /** The number of Lambdas that the AWS account may run at once. Null means unknown: then the quota of a new account applies. */
  readonly quota: number | null;
  /** The number of the stage's own exits: machines with one address each. */
  readonly exits: number;
  /** The budget of the AWS account for a month, in dollars. Null means the default of the stage's size. */
  readonly budgetUsd: number | null;
  /** The email address for alarms. Null means that the operator subscribes to the topic. */
  readonly callEmail: string | null;
  /** The value of each resource's tag "owner". */
  readonly owner: string;
  /** The ARN of the policy that limits every role of the stage; null without a limit. */
  readonly permissionsBoundary: string | null;
  /** Whether AWS X-Ray records traces of the Lambdas. */
  readonly isTraced: boolean;
  /** An existing table, such as a restored one; null for the stage's own table. */
  readonly tableName: string | null;
};

const text = (pattern: RegExp, must: string) => v.pipe(v.string(), v.regex(pattern, must));
const WHOLE = v.pipe(text(/^[1-9]\d*$/, "a whole number, such as 1000"), v.transform(Number));
const CERTIFICATE = text(
  /^arn:aws[\w-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
  "the ARN of a certificate in AWS Certificate Manager",
);
const DOMAIN = text(/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i, "a host name, such as api.example.com");

const SCHEMA = v.object({
  AWS_REGION: text(/^[a-z]{2}(?:-[a-z]+)+-\d$/, "the region to deploy to, such as eu-central-1"),
  STAGE_SIZE: v.optional(v.picklist(["full", "lean"], "full or lean")),
  VPC: v.optional(text(/^(?:own|none|vpc-[0-9a-f]+)$/, "own, none or the id of a VPC")),
  DASHBOARD: v.optional(v.picklist(["cloudfront", "api", "none"], "cloudfront, api or none")),
  API_DOMAIN: v.optional(DOMAIN),
  API_CERTIFICATE: v.optional(CERTIFICATE),
  APP_DOMAIN: v.optional(DOMAIN),
  APP_CERTIFICATE: v.optional(
    v.pipe(CERTIFICATE, v.includes(":us-east-1:", "in us-east-1, where CloudFront looks for it")),
  ),
  WEB_ACL: v.optional(
    text(
      /^arn:aws[\w-]*:wafv2:us-east-1:\d{12}:global\/webacl\/\S+$/,
      "the ARN of a global web ACL",
    ),
  ),
  CONCURRENCY_QUOTA: v.optional(WHOLE),
  EXITS: v.optional(WHOLE),
  BUDGET_USD: v.optional(WHOLE),
  CALL_EMAIL: v.optional(text(/^[^\s@]+@[^\s@]+$/, "an email address")),
  OWNER: v.optional(text(/^[\w .:/=+@-]{1,256}$/, "1 to 256 letters, digits, spaces or _.:/=+-@")),
  PERMISSIONS_BOUNDARY: v.optional(
    text(/^arn:aws[\w-]*:iam::\d{12}:policy\/[\w+=,.@-]+$/, "the ARN of a policy"),
  ),
  TRACES: v.optional(v.picklist(["on", "off"], "on or off")),
  TABLE_NAME: v.optional(text(/^[\w.-]{3,255}$/, "the name of a table")),
});

/** Treats an empty setting as absent. Only the region is required. */
const omitEmpty = (environment: Environment): Environment => ({
  AWS_REGION: "",
  ...Object.fromEntries(Object.entries(environment).filter(([, value]) => value)),
});

/** Lists each invalid setting in a sentence. */
const listFaults = (environment: Environment): readonly string[] => {
  const given = omitEmpty(environment);
  const { issues = [] } = v.safeParse(SCHEMA, given);
  const faults = issues.map(({ path, message }) => {
    const name = String(path?.[0]?.key);
    const value = given[name];
    return value === ""
      ? `${name} is not set; it has to be ${message}.`
      : `${name} is "${value}"; it has to be ${message}.`;
  });
  const needs = (name: string, other: string, why: string): readonly string[] =>
    given[name] && !given[other] ? [`${name} is set without ${other}: ${why}.`] : [];
  const isApart = given["DASHBOARD"] !== "cloudfront";
  const ofCloudFront = ["APP_DOMAIN", "WEB_ACL"].filter((name) => isApart && given[name]);
  return [
    ...faults,
    ...needs("API_CERTIFICATE", "API_DOMAIN", "a certificate is for a host name"),
    ...needs("APP_CERTIFICATE", "APP_DOMAIN", "a certificate is for a host name"),
    ...needs("OIDC_ISSUER", "OIDC_CLIENT_ID", "the provider knows this service by it"),
    ...needs("EXITS", "SMTP_HELLO", "an exit starts only if its address has that name"),
    ...ofCloudFront.map((name) => `${name} is for CloudFront; it needs DASHBOARD=cloudfront.`),
  ];
};

const toDomain = (name: string | undefined, certificate: string | undefined): Domain | null =>
  name === undefined ? null : { name, certificate: certificate ?? null };

export const readSettings = (stage: string, environment: Environment): Settings => {
  const faults = listFaults(environment);
  if (faults.length > 0) throw new Error(`${faults.join("\n")}\nSet it in .env.${stage}.`);
  const given = v.parse(SCHEMA, omitEmpty(environment));
  const size = given.STAGE_SIZE ?? (isPermanent(stage) ? "full" : "lean");
  const vpc = (given.VPC as Vpc | undefined) ?? (size === "full" ? "own" : "none");
  if (given.EXITS !== undefined && vpc !== "own")
    throw new Error(`EXITS needs VPC=own: its machines stand in it.\nSet it in .env.${stage}.`);
  return {
    region: given.AWS_REGION,
    size,
    vpc,
    dashboard: given.DASHBOARD ?? "api",
    apiDomain: toDomain(given.API_DOMAIN, given.API_CERTIFICATE),
    appDomain: toDomain(given.APP_DOMAIN, given.APP_CERTIFICATE),
    webAcl: given.WEB_ACL ?? null,
    quota: given.CONCURRENCY_QUOTA ?? null,
    exits: given.EXITS ?? 0,
    budgetUsd: given.BUDGET_USD ?? null,
    callEmail: given.CALL_EMAIL ?? null,
    owner: findOwner(stage, given),
    permissionsBoundary: given.PERMISSIONS_BOUNDARY ?? null,
    isTraced: given.TRACES === "on",
    tableName: given.TABLE_NAME ?? null,
  };
};
