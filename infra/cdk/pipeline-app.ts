// node infra/cdk/pipeline-app.ts OWNER/REPOSITORY ENVIRONMENT… writes the stack of those who deploy from GitHub to cdk.out.
import { createPipelineApp } from "./pipeline.ts";

const [repository = "", ...environments] = process.argv.slice(2);
if (!/^[\w.-]+\/[\w.-]+$/.test(repository) || environments.length === 0) {
  process.stderr.write(
    "Usage: npx node infra/cdk/pipeline-app.ts OWNER/REPOSITORY ENVIRONMENT [ENVIRONMENT …]\n",
  );
  process.exit(2);
}

createPipelineApp({ app: "mailproof", repository, environments }, "cdk.out").synth();
