import { settings } from "./stage.ts";

// Before any role is made: a deployer of infra/cdk/pipeline.ts may make none without the limit.

const { permissionsBoundary } = settings;

if (permissionsBoundary !== null)
  $transform(aws.iam.Role, (args) => {
    args.permissionsBoundary = permissionsBoundary;
  });
