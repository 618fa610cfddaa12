import { settings } from "./stage.ts";

// This runs before any role is created: a deployer of infra/cdk/pipeline.ts may only create roles with the limit.

const { permissionsBoundary } = settings;

if (permissionsBoundary !== null)
  $transform(aws.iam.Role, (args) => {
    args.permissionsBoundary = permissionsBoundary;
  });
