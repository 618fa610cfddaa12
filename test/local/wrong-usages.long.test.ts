import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { writeSpreadsheet } from "@mailproof/core/exports/write-spreadsheet";
import { writeZip } from "@mailproof/core/exports/write-zip";
import { expect, test } from "vitest";
import { createFolder, whenRun, whenRunIn, whenStarted } from "../servers/running.ts";

// Ways to type a command wrongly. Each has a message on standard error that says what is wrong and what to do next, an
// exit code that tells the kinds apart, and nothing on standard output.

type Usage = {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly code: number;
  readonly wrong: string;
  readonly next: string;
};

/** name | settings and arguments | exit code | what is wrong | what to do next */
const TABLE = `
no command |  | 2 | Missing command. | COMMAND --help
a misspelt command | fiel | 2 | Unknown command: fiel | Did you mean "npx mailproof file"?
an unknown command | frobnicate | 2 | Unknown command: frobnicate | help
help for nothing | help verfiy | 2 | Unknown command | mean "npx mailproof verify"?
an operator's command misspelt | admin kyes list | 2 | Unknown | "npx mailproof admin keys list"?
half an operator's command | admin keys | 2 | not a whole command | admin keys create
an option without a command | --frobnicate | 2 | Unknown option: --frobnicate | A command comes first
a misspelt option | file list.csv --ouy x | 2 | Unknown option: --ouy | Did you mean --out?
an unknown letter | file list.csv -z | 2 | Unknown option: -z | --help
an option without its value | file list.csv --out | 2 | --out needs a value | --out FILE
an option in place of a value | file list.csv --out --json | 2 | --out needs a value | --out FILE
a value for a flag | file list.csv --json=yes | 2 | --json takes no value | --help
a word too many | start now | 2 | takes no now | leave it out
a required option left out | admin accounts show | 2 | --account is required | --account A
no list | file | 2 | Missing file | mailproof file LIST
two lists | file list.csv empty.csv | 2 | One file at a time | mailproof file LIST
a file that is missing | file nowhere.csv | 2 | No such file: nowhere.csv | Check the name
a folder in place of a list | file folder | 2 | is a folder, not a list | Name a file in it
an empty file | verify --local --file empty.csv | 2 | The file is empty | Put an address on each line
an empty file, sent | file empty.csv | 3 | empty | file --help
a binary file | verify --local --file binary.csv | 2 | not a text file | Save it as CSV in UTF-8
an encoding that no list has | verify --local --file utf32.csv | 2 | not a text file | Save it as CSV in UTF-8
a list without addresses | verify --local --file names.csv | 2 | No column | --column NAME
a column that is missing | verify --local --file list.csv --column mial | 2 | no column "mial" | Name one of them
a column that is missing, sent | file list.csv --column mial | 3 | no column "mial" | file --help
a spreadsheet that is cut off | file cut.xlsx | 2 | damaged | save it again, or save it as CSV
a zip that is no spreadsheet | file other.xlsx | 2 | zip archive | Save it as .xlsx or CSV
an old spreadsheet | file old.xls | 2 | old or encrypted | Save it as .xlsx
an output that exists | file list.csv --out names.csv | 2 | already exists | add --force
the list as the output | file list.csv --out list.csv --force | 2 | is the list itself | Choose another name
an output in no folder | file list.csv --out no/x.csv | 2 | cannot be written | Create the folder
a folder as the output | verify a@b.c --out folder | 2 | is a folder | Name a file in it
JSON in a spreadsheet | file list.csv --json --out x.xlsx | 2 | --json writes lines | .jsonl
a URL without a scheme | jobs --api example.com | 2 | --api must be an address | https://api.example.com
a port that does not exist | jobs --api http://127.0.0.1:99999 | 2 | The URL of the service (--api or MAILPROOF_API) | must be an http or https URL such as
no service | MAILPROOF_API= MAILPROOF_KEY= jobs | 2 | or set MAILPROOF_API | login --api URL
no key | MAILPROOF_API= MAILPROOF_KEY= jobs --api http://127.0.0.1:9 | 2 | Missing API key | login --api
a key without a service | MAILPROOF_API= MAILPROOF_KEY= verify a@b.c --key k | 2 | --key needs the URL | add --api URL
a bad name of a profile | jobs --profile 'a b' | 2 | --profile must be a name | --help
a profile that is missing | jobs --profile nobody | 2 | No profile nobody | login --profile nobody
a profile that others can read | XDG_CONFIG_HOME=open jobs --profile x | 2 | other users can read it | chmod 600
a damaged profile | XDG_CONFIG_HOME=damaged jobs --profile x | 2 | cannot be read | log in again
logout without login | logout | 2 | No profile default | login --api URL
a key that the service refuses | jobs --key mp_live_wrong | 4 | API key | login
an account without credits | verify a@valid.lab.mailproof.test --key POOR | 5 | credit | --dry-run
a service that is down | jobs --api CLOSED | 6 | Could not connect to the service | that the service runs
a job that does not exist | jobs job_none | 3 | No such job | jobs --help
no job to cancel | jobs cancel | 2 | Missing job | mailproof jobs
two jobs | jobs job_1 job_2 | 2 | One job at a time | mailproof jobs
a wait of two days | file list.csv --max-wait 2880 | 2 | --max-wait must be | from 0 to 1440
no address | verify | 2 | Pass addresses or --file | mailproof verify ADDRESS
a status that is unknown | verify a@b.c --fail-on bad | 2 | --fail-on must be a list of valid, | verify --help
no URL for events | listen | 2 | Name one URL | mailproof listen URL
a URL of another protocol | listen ftp://a.example | 2 | The URL must be | https://api.example.com
a column without a list | verify a@b.c --column x | 2 | --column is for a list | add --file
evidence of a list | verify --file list.csv --evidence | 2 | single addresses only | Leave it out
two domains | check a.example b.example | 2 | One domain at a time | mailproof check DOMAIN
a domain that is none | check 'not a domain' | 2 | is not a domain | such as example.com
a private sending address | check a.example --ip 10.0.0.1 --local | 2 | private or reserved | use a public one
a name that is not whole | find Ada example.com | 2 | a first name, a last name | such as Ada
results of a job that is not awaited | file list.csv --no-wait --out x.csv | 2 | --no-wait | writes no results
a job that is not awaited, in part | file list.csv --no-wait --partial | 2 | --no-wait | writes no results
a job as it is now, in part | jobs job_1 --no-wait --partial | 2 | --no-wait | without its results
results of no job | jobs --out x.csv | 2 | Missing job | mailproof jobs
a part of no job | jobs --partial | 2 | Missing job | mailproof jobs
addresses and a list | verify a@b.c --file list.csv | 2 | Pass addresses or --file | mailproof verify ADDRESS
a check of no domain | check | 2 | Missing domain | mailproof check DOMAIN
a sending address in IPv6 | check a.example --ip ::1 | 2 | --ip must be | an IPv4 address
no report | report | 2 | Missing file | Usage
a report without a service | MAILPROOF_API= MAILPROOF_KEY= report a.xml | 2 | login --api URL | MAILPROOF_API
an unknown plan | admin accounts create --name A --plan gold | 2 | --plan must be one of | free, pro, scale
a third of a credit | admin accounts create --name A --credits 0.3 | 2 | --credits must be | a number of credits
a third of a credit to take back | admin credits grant --account a --amount=-0.3 | 2 | --amount must be | a number of credits
an unknown scope | admin keys create --account a --mode live --scopes all | 2 | must be a list of | verification:read
a grant of nothing | admin credits grant --account a --amount 0 | 2 | --amount | must not be 0
a name that is too long | admin accounts create --name ${"x".repeat(101)} | 2 | --name | must have at most 100 characters
no address to forget | admin activity forget --email ann | 2 | --email must be | an email address
months that are not stored | admin calibration --months 14 | 2 | --months must be | a number of months from 1 to 13
a folder without state | admin audit | 2 | has no Mailproof state | Set MAILPROOF_DIR
an unknown queue | admin dead-letters replay --queue nothing | 2 | --queue | --queue
an erasure without an address | admin erase | 2 | --email is required | --email
a shell that is unknown | completion tcsh | 2 | Name one of | completion bash
a setting that is wrong | SMTP_PORT=x verify a@b.c | 2 | SMTP_PORT must be | from 0 to 65535
`;

const USAGES = TABLE.trim()
  .split("\n")
  .map((row): Usage => {
    const [name = "", typed = "", code, wrong = "", next = ""] = row.split(" | ");
    const words = typed.match(/'[^']*'|\S+/g) ?? [];
    const isSetting = (word: string) => /^[A-Z_]+=/.test(word);
    return {
      name,
      env: Object.fromEntries(words.filter(isSetting).map((word) => word.split("="))),
      args: words.filter((word) => !isSetting(word)).map((word) => word.replaceAll("'", "")),
      code: Number(code),
      wrong,
      next,
    };
  });

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

test(`each of ${USAGES.length} wrong usages prints its fault and the next step and exits with its code`, async () => {
  const serverFolder = createFolder();
  const { ready, stop } = await whenStarted(serverFolder);
  const poor = await whenRunIn(serverFolder, "admin", "accounts", "create", "--name", "Poor");
  const { live_key: poorKey } = JSON.parse(poor.out) as { live_key: string };
  const placeholders: Readonly<Record<string, string>> = {
    POOR: poorKey,
    CLOSED: await findClosedUrl(),
  };
  const folder = createFolder();
  await writeFiles(folder);

  const run = async ({ args, env, ...usage }: Usage) => {
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
