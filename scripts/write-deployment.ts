import { writeFileSync } from "node:fs";
import { drawDeployment } from "../infra/picture.ts";

// npx node scripts/write-deployment.ts draws docs/deployment.svg from infra/topology.ts.
writeFileSync("docs/deployment.svg", drawDeployment());
