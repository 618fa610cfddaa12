import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { writeSpreadsheet } from "@mailproof/core/exports/write-spreadsheet";
import { writeZip } from "@mailproof/core/exports/write-zip";
import { expect, test } from "vitest";
import { createFolder, whenCommanded, whenRun, whenStarted } from "./running.ts";

// Ways to type a command wrongly. Each has a message on standard error that says what is wrong and what to do next, an
// exit code that tells the kinds apart, and nothing on standard output.

type Usage = {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly code: number;
  readonly wrong: string;
  readonly next: string;
};

const NO_SERVICE = { MAILPROOF_API: "", MAILPROOF_KEY: "" };

const row = (
  name: string,
  args: readonly string[],
  code: number,
  wrong: string,
  next: string,
  env?: Usage["env"],
): Usage => ({ name, args, code, wrong, next, ...(env && { env }) });

const USAGES: readonly Usage[] = [
  row("no command", [], 2, "Missing command.", "COMMAND --help"),
  row(
    "a misspelt command",
    ["fiel"],
    2,
    "Unknown command: fiel",
    'Did you mean "npx mailproof file"?',
  ),
  row("an unknown command", ["frobnicate"], 2, "Unknown command: frobnicate", "help"),
  row("help for nothing", ["help", "verfiy"], 2, "Unknown command", 'mean "npx mailproof verify"?'),
  row(
    "an operator's command misspelt",
    ["admin", "kyes", "list"],
    2,
    "Unknown",
    '"npx mailproof admin keys list"?',
  ),
  row(
    "half an operator's command",
    ["admin", "keys"],
    2,
    "not a whole command",
    "admin keys create",
  ),
  row(
    "a misspelt option",
    ["file", "list.csv", "--ouy", "x"],
    2,
    "Unknown option: --ouy",
    "Did you mean --out?",
  ),
  row("an unknown letter", ["file", "list.csv", "-z"], 2, "Unknown option: -z", "--help"),
  row(
    "an option without its value",
    ["file", "list.csv", "--out"],
    2,
    "--out needs a value",
    "--out FILE",
  ),
  row(
    "an option in place of a value",
    ["file", "list.csv", "--out", "--json"],
    2,
    "--out needs a value",
    "--out FILE",
  ),
  row(
    "a value for a flag",
    ["file", "list.csv", "--json=yes"],
    2,
    "--json takes no value",
    "--help",
  ),
  row("a word too many", ["start", "now"], 2, "takes no now", "leave it out"),
  row(
    "a required option left out",
    ["admin", "accounts", "show"],
    2,
    "--account is required",
    "--account A",
  ),
  row("no list", ["file"], 2, "Missing file", "mailproof file LIST"),
  row(
    "two lists",
    ["file", "list.csv", "empty.csv"],
    2,
    "One file at a time",
    "mailproof file LIST",
  ),
  row(
    "a file that is missing",
    ["file", "nowhere.csv"],
    2,
    "No such file: nowhere.csv",
    "Check the name",
  ),
  row(
    "a folder in place of a list",
    ["file", "folder"],
    2,
    "is a folder, not a list",
    "Name a file in it",
  ),
  row(
    "an empty file",
    ["verify", "--local", "--file", "empty.csv"],
    2,
    "The file is empty",
    "Put an address on each line",
  ),
  row("an empty file, sent", ["file", "empty.csv"], 3, "empty", "file --help"),
  row(
    "a binary file",
    ["verify", "--local", "--file", "binary.csv"],
    2,
    "not a text file",
    "Save it as CSV in UTF-8",
  ),
  row(
    "an encoding that no list has",
    ["verify", "--local", "--file", "utf32.csv"],
    2,
    "not a text file",
    "Save it as CSV in UTF-8",
  ),
  row(
    "a list without addresses",
    ["verify", "--local", "--file", "names.csv"],
    2,
    "No column",
    "--column NAME",
  ),
  row(
    "a column that is missing",
    ["verify", "--local", "--file", "list.csv", "--column", "mial"],
    2,
    'no column "mial"',
    "Name one of them",
  ),
  row(
    "a column that is missing, sent",
    ["file", "list.csv", "--column", "mial"],
    3,
    'no column "mial"',
    "file --help",
  ),
  row(
    "a spreadsheet that is cut off",
    ["file", "cut.xlsx"],
    2,
    "damaged",
    "save it again, or save it as CSV",
  ),
  row(
    "a zip that is no spreadsheet",
    ["file", "other.xlsx"],
    2,
    "zip archive",
    "Save it as .xlsx or CSV",
  ),
  row("an old spreadsheet", ["file", "old.xls"], 2, "old or encrypted", "Save it as .xlsx"),
  row(
    "an output that exists",
    ["file", "list.csv", "--out", "names.csv"],
    2,
    "already exists",
    "add --force",
  ),
  row(
    "the list as the output",
    ["file", "list.csv", "--out", "list.csv", "--force"],
    2,
    "is the list itself",
    "Choose another name",
  ),
  row(
    "an output in no folder",
    ["file", "list.csv", "--out", "no/x.csv"],
    2,
    "cannot be written",
    "Create the folder",
  ),
  row(
    "a folder as the output",
    ["verify", "a@b.c", "--out", "folder"],
    2,
    "is a folder",
    "Name a file in it",
  ),
  row(
    "JSON in a spreadsheet",
    ["file", "list.csv", "--json", "--out", "x.xlsx"],
    2,
    "--json writes lines",
    ".jsonl",
  ),
  row(
    "a URL without a scheme",
    ["jobs", "--api", "example.com"],
    2,
    "--api must be an address",
    "https://api.example.com",
  ),
  row(
    "a port that does not exist",
    ["jobs", "--api", "http://127.0.0.1:99999"],
    2,
    "The URL of the service (--api or MAILPROOF_API)",
    "must be an http or https URL such as",
  ),
  row("no service", ["jobs"], 2, "or set MAILPROOF_API", "login --api URL", NO_SERVICE),
  row(
    "no key",
    ["jobs", "--api", "http://127.0.0.1:9"],
    2,
    "Missing API key",
    "login --api",
    NO_SERVICE,
  ),
  row(
    "a key without a service",
    ["verify", "a@b.c", "--key", "k"],
    2,
    "--key needs the URL",
    "add --api URL",
    NO_SERVICE,
  ),
  row(
    "a bad name of a profile",
    ["jobs", "--profile", "a b"],
    2,
    "--profile must be a name",
    "--help",
  ),
  row(
    "a profile that is missing",
    ["jobs", "--profile", "nobody"],
    2,
    "No profile nobody",
    "login --profile nobody",
  ),
  row(
    "a profile that others can read",
    ["jobs", "--profile", "x"],
    2,
    "other users can read it",
    "chmod 600",
    { XDG_CONFIG_HOME: "open" },
  ),
  row("a damaged profile", ["jobs", "--profile", "x"], 2, "cannot be read", "log in again", {
    XDG_CONFIG_HOME: "damaged",
  }),
  row("logout without login", ["logout"], 2, "No profile default", "login --api URL"),
  row("a key that the service refuses", ["jobs", "--key", "mp_live_wrong"], 4, "API key", "login"),
  row(
    "an account without credits",
    ["verify", "a@valid.lab.mailproof.test", "--key", "POOR"],
    5,
    "credit",
    "--dry-run",
  ),
  row(
    "a service that is down",
    ["jobs", "--api", "CLOSED"],
    6,
    "Could not connect to the service",
    "that the service runs",
  ),
  row("a job that does not exist", ["jobs", "job_none"], 3, "No such job", "jobs --help"),
  row("no job to cancel", ["jobs", "cancel"], 2, "Missing job", "mailproof jobs"),
  row("two jobs", ["jobs", "job_1", "job_2"], 2, "One job at a time", "mailproof jobs"),
  row(
    "a wait of two days",
    ["file", "list.csv", "--max-wait", "2880"],
    2,
    "--max-wait must be",
    "from 0 to 1440",
  ),
  row("no address", ["verify"], 2, "Pass addresses or --file", "mailproof verify ADDRESS"),
  row(
    "a column without a list",
    ["verify", "a@b.c", "--column", "x"],
    2,
    "--column is for a list",
    "add --file",
  ),
  row(
    "evidence of a list",
    ["verify", "--file", "list.csv", "--evidence"],
    2,
    "single addresses only",
    "Leave it out",
  ),
  row(
    "two domains",
    ["check", "a.example", "b.example"],
    2,
    "One domain at a time",
    "mailproof check DOMAIN",
  ),
  row(
    "a domain that is none",
    ["check", "not a domain"],
    2,
    "is not a domain",
    "such as example.com",
  ),
  row(
    "a private sending address",
    ["check", "a.example", "--ip", "10.0.0.1", "--local"],
    2,
    "private or reserved",
    "use a public one",
  ),
  row(
    "a name that is not whole",
    ["find", "Ada", "example.com"],
    2,
    "a first name, a last name",
    "such as Ada",
  ),
  row("a shell that is unknown", ["completion", "tcsh"], 2, "Name one of", "completion bash"),
  row("a setting that is wrong", ["verify", "a@b.c"], 2, "SMTP_PORT must be", "from 0 to 65535", {
    SMTP_PORT: "x",
  }),
];

const FILES: Readonly<Record<string, string | Buffer>> = {
  "list.csv": "email\nann@valid.lab.mailproof.test\n",
  "empty.csv": "",
  "names.csv": "name\nAnn\n",
  "binary.csv": Buffer.from(
    "\u0089PNG\r\n\u001a\n\0\0\0\rIHDR\0\0\0\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008",
    "latin1",
  ),
  "utf32.csv": Buffer.from(
    "email\na@b.example\n".split("").flatMap((letter) => [letter.charCodeAt(0), 0, 0, 0]),
  ),
  "old.xls": Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 1, 2, 3]),
};

const writeFiles = async (folder: string): Promise<void> => {
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  mkdirSync(join(folder, "folder"));
  const spreadsheet = Buffer.concat(await Array.fromAsync(writeSpreadsheet(toRows())));
  writeFileSync(join(folder, "cut.xlsx"), spreadsheet.subarray(0, 500));
  const other = await Array.fromAsync(writeZip([{ name: "word/document.xml", pieces: toBytes() }]));
  writeFileSync(join(folder, "other.xlsx"), Buffer.concat(other));
  for (const [name, content, mode] of [
    ["open", "{}", 0o644],
    ["damaged", "{", 0o600],
  ] as const) {
    mkdirSync(join(folder, name, "mailproof"), { recursive: true });
    const file = join(folder, name, "mailproof/profiles.json");
    writeFileSync(file, content);
    chmodSync(file, mode);
  }
};

async function* toRows(): AsyncGenerator<readonly string[]> {
  yield ["email"];
  yield ["ann@example.com"];
}

async function* toBytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("<document/>");
}

const FILE_NAME = /^(?:[\w-]+\.(?:csv|xlsx?)|folder|no\/x\.csv)$/;
/** Nothing listens there. */
const findClosedUrl = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return `http://127.0.0.1:${port}`;
};

test(`${USAGES.length} wrong usages: each says what is wrong and what to do next, with its exit code`, async () => {
  const serverFolder = createFolder();
  const { ready, stop } = await whenStarted(serverFolder);
  const poor = await whenCommanded(serverFolder, "admin", "accounts", "create", "--name", "Poor");
  const { live_key: poorKey } = JSON.parse(poor.out) as { live_key: string };
  const placeholders: Readonly<Record<string, string>> = {
    POOR: poorKey,
    CLOSED: await findClosedUrl(),
  };
  const folder = createFolder();
  await writeFiles(folder);

  const run = async ({ args, env = {}, ...usage }: Usage) => {
    const set: Record<string, string> = {
      MAILPROOF_DIR: folder,
      MAILPROOF_API: ready.base_url,
      MAILPROOF_KEY: ready.live_key,
      ...env,
    };
    const config = set["XDG_CONFIG_HOME"];
    if (config !== undefined) set["XDG_CONFIG_HOME"] = join(folder, config);
    for (const name of Object.keys(set)) if (set[name] === "") delete set[name];
    const typed = args.map((arg) =>
      FILE_NAME.test(arg) ? join(folder, arg) : (placeholders[arg] ?? arg),
    );
    const { code, out, err } = await whenRun(set, ...typed);
    const short = err.replaceAll(`${folder}/`, "");
    return {
      name: usage.name,
      code,
      out,
      wrong: short.includes(usage.wrong) ? usage.wrong : short,
      next: short.includes(usage.next) ? usage.next : short,
    };
  };
  const answers: Awaited<ReturnType<typeof run>>[] = [];
  for (const usage of USAGES) answers.push(await run(usage));
  await stop("SIGTERM");

  const expected = USAGES.map(({ name, code, wrong, next }) => ({
    name,
    code,
    out: "",
    wrong,
    next,
  }));
  expect(answers).toEqual(expected);
  // Nothing was written over.
  expect(readFileSync(join(folder, "list.csv"), "utf8")).toBe(FILES["list.csv"]);
}, 300_000);
