// node infra/cdk/pipeline-app.ts OWNER/REPOSITORY ENVIRONMENT… writes the stack of the deployer from GitHub to cdk.out.
// --has-provider: the account has an OIDC provider for GitHub already.
import { createPipelineApp } from "./pipeline.ts";

const args = process.argv.slice(2);
const hasProvider = args.includes("--has-provider");
const [repository = "", ...environments] = args.filter((one) => one !== "--has-provider");
if (!/^[\w.-]+\/[\w.-]+$/.test(repository) || environments.length === 0) {
  process.stderr.write(
    "Usage: npx node infra/cdk/pipeline-app.ts OWNER/REPOSITORY ENVIRONMENT [ENVIRONMENT …] [--has-provider]\n",
  );
  process.exit(2);
}

createPipelineApp({ app: "mailproof", repository, environments, hasProvider }, "cdk.out").synth();
