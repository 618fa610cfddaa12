import { parseArgs } from "node:util";
import { PLANTED_BUGS } from "../../faults/money.ts";
import { judge } from "./history.ts";
import { recordOnDynamo } from "./on-dynamo.ts";
import { recordOnServer } from "./on-server.ts";

// npx node test/third-party/money/cli.ts [--operations 200000] [--kills 50] [--seed 1] [--bugs WORDS] records what clients
// get from a server that is killed repeatedly, and prints Porcupine's verdict. With --bugs it does so for each planted bug
// whose name has these words, and fewer than nine found of twelve is an error.
// With --dynamo it records over DynamoDB's emulator instead, with lost replies and conflicts.

const { values } = parseArgs({
  options: {
    operations: { type: "string", default: "3000" },
    kills: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    bugs: { type: "string" },
    dynamo: { type: "boolean", default: false },
  },
});

/** A history of an account is short enough to be searched. */
const OPERATIONS_PER_ACCOUNT = 1_000;

const operations = Number(values.operations);
const size = {
  operations,
  kills: Number(values.kills),
  accounts: Math.max(9, Math.ceil(operations / OPERATIONS_PER_ACCOUNT)),
  seed: Number(values.seed),
};

const print = (name: string, line: object): void =>
  void process.stdout.write(`${name}: ${JSON.stringify(line)}\n`);

const record = async (bug?: string) => {
  const from = performance.now();
  const history = values.dynamo ? await recordOnDynamo(size) : await recordOnServer(size, bug);
  const verdict = judge(history);
  return { ...verdict, recordedMs: Math.round(performance.now() - from - verdict.ms) };
};

/** Chance decides whether a bug shows itself in a short history. */
const FOUND_MIN = 9;

if (values.bugs === undefined) {
  const verdict = await record();
  print("sound", { kills: size.kills, ...verdict });
  process.exitCode = verdict.verdict === "Ok" ? 0 : 1;
} else {
  const { bugs: words } = values;
  const bugs = Object.keys(PLANTED_BUGS).filter((name) => name.includes(words));
  const missed: string[] = [];
  for (const bug of bugs) {
    const verdict = await record(bug);
    print(bug, verdict);
    if (verdict.verdict !== "Illegal") missed.push(bug);
  }
  print("not found", missed);
  process.exitCode = bugs.length - missed.length < Math.min(FOUND_MIN, bugs.length) ? 1 : 0;
}
process.exit();
