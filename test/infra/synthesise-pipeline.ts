import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPipelineApp } from "../../infra/cdk/pipeline.ts";
import type { PolicyStatement } from "./iam.ts";

// The stack of those who deploy from GitHub, with an account in it.

export const ACCOUNT = "123456789012";

type Resource = { readonly Type: string; readonly Properties: Record<string, any> };
type Template = { readonly Resources: Readonly<Record<string, Resource>> };

/** What CloudFormation puts in. */
const resolve = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(resolve);
  if (typeof value !== "object" || value === null) return value;
  const { Ref: ref, "Fn::Join": parts } = value as { Ref?: string; "Fn::Join"?: [string, unknown] };
  if (ref === "AWS::AccountId") return ACCOUNT;
  if (parts) return (resolve(parts[1]) as string[]).join(parts[0]);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one)]));
};

/** It ends with an error where a rule of AWS Solutions is broken. */
export const synthesisePipeline = (hasProvider = false): Template => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-pipeline-"));
  try {
    const app = createPipelineApp(
      {
        app: "mailproof",
        repository: "acme/mailproof",
        environments: ["production", "preview"],
        hasProvider,
      },
      folder,
    );
    return resolve(app.synth().getStackByName("mailproof-pipeline").template) as Template;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

export const listOfType = ({ Resources: resources }: Template, type: string) =>
  Object.values(resources)
    .filter((one) => one.Type === type)
    .map(({ Properties: properties }) => properties);

/** The policies by their names. */
export const listPolicies = (template: Template) =>
  new Map(
    listOfType(template, "AWS::IAM::ManagedPolicy").map((policy) => [
      String(policy["ManagedPolicyName"]),
      policy["PolicyDocument"]["Statement"] as readonly PolicyStatement[],
    ]),
  );
