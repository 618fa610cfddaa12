// npm run deploy -- --stage production brings a stage into an AWS account: it looks at the account, says what is missing, what
// it will do and what that costs, and does it. --preview stops before anything is changed; --yes asks nobody; --at-once gives all callers a new
// version as soon as it is there.
import { existsSync, readFileSync } from "node:fs";
import { parseArgs, parseEnv } from "node:util";
import { deploy } from "../infra/deploy/deploy.ts";
import { openPrograms } from "../infra/deploy/programs.ts";

const USAGE = "Usage: npm run deploy -- --stage STAGE [--preview] [--yes] [--at-once]\n";

const fail = (words: string): never => {
  process.stderr.write(words);
  process.exit(2);
};

const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: {
        stage: { type: "string" },
        preview: { type: "boolean", default: false },
        yes: { type: "boolean", default: false },
        "at-once": { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    return fail(`${(error as Error).message}\n${USAGE}`);
  }
};

const { stage = "", preview, yes, "at-once": isAtOnce } = readOptions();
if (!/^[a-z][a-z0-9-]*$/.test(stage))
  fail(`A stage is named by small letters, digits and dashes.\n${USAGE}`);

/** As SST reads them: what stands first is kept. */
const readFile = (path: string) => (existsSync(path) ? parseEnv(readFileSync(path, "utf8")) : {});
const environment = { ...readFile(`.env.${stage}`), ...readFile(".env"), ...process.env };

process.exitCode = await deploy(
  {
    stage,
    environment,
    isPreview: preview,
    isAgreed: yes,
    isWatched: process.stdout.isTTY ?? false,
    isAtOnce,
  },
  openPrograms,
);
