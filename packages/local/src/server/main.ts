import { parseArgs } from "node:util";
import { readEnvironment } from "../environment.ts";
import { START_AFRESH } from "../installation.ts";
import { serve } from "./serve.ts";

// npm start. The package and the executable have `mailproof start` instead (cli/start-command.ts).

const exitWith =
  (code: number) =>
  (error: NodeJS.ErrnoException): never => {
    const hint = error.code?.startsWith("ERR_PARSE_ARGS") ? "\n\n  npm start [-- --fresh]" : "";
    process.stderr.write(`${error.message}${hint}\n`);
    return process.exit(code);
  };

const readStartOptions = () => {
  // Without this check the server would keep the state that the operator meant to delete.
  if (process.env["npm_config_fresh"] !== undefined)
    throw new Error(`npm did not pass --fresh on. Run:\n\n  ${START_AFRESH}`);
  const { values } = parseArgs({ options: { fresh: { type: "boolean", default: false } } });
  return { environment: readEnvironment(process.env), fresh: values.fresh };
};

const { environment, fresh } = await Promise.try(readStartOptions).catch(exitWith(2));
await serve(environment, fresh).then(() => process.exit(0), exitWith(1));
