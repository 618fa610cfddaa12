import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  openAsBlob,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { createClient } from "@mailproof/client/client";
import { writeSpreadsheet } from "@mailproof/core/exports/write-spreadsheet";
import { openWorkbook } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";
import { listOptions } from "@mailproof/local/cli/command-options";
import { commands } from "@mailproof/local/cli/commands";
import { loadCommands } from "@mailproof/local/cli/define-command";
import { expect, onTestFinished, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { endWithTest } from "../runner/eventually.ts";
import { MAILPROOF } from "../servers/package.ts";
import { serveAccounts } from "../servers/proxied-server.ts";
import { COMPILED, createFolder, PRELOADED, spawnMailproof, whenRun } from "../servers/running.ts";
import { createSheets, createWorkbook } from "../things/workbook.ts";

// The habits of a command line (clig.dev): help, pipes, standard input, prices before charges, stored keys, completion.

const ZONE = "lab.mailproof.test";

const whenAccountOpened = serveAccounts();

const whenServed = async (mode: "live" | "test" = "test") => {
  const { baseUrl, liveKey, testKey } = await whenAccountOpened();
  const folder = createFolder();
  const key = mode === "live" ? liveKey : testKey;
  const env = {
    MAILPROOF_DIR: folder,
    MAILPROOF_API: baseUrl,
    MAILPROOF_KEY: key,
    XDG_CONFIG_HOME: join(folder, "config"),
  };
  const client = createClient({ baseUrl, key });
  return { env, folder, client, liveKey, testKey, out: join(folder, "results.csv") };
};

const whenTyped = async (
  env: Record<string, string>,
  input: string | Buffer,
  ...args: readonly string[]
) => {
  const child = spawn(process.execPath, [...PRELOADED, ...MAILPROOF, ...args], {
    env: { PATH: process.env["PATH"] ?? "", XDG_CONFIG_HOME: "/nowhere", ...COMPILED, ...env },
  });
  endWithTest(child);
  const [out, err] = [text(child.stdout), text(child.stderr)];
  child.stdin.on("error", () => {}).end(input);
  const [code] = (await once(child, "exit")) as [number | null];
  return { code, out: await out, err: await err };
};

test("every form of help prints the command's options, defaults, examples and exit codes", async () => {
  const asked = [
    await whenRun({}, "file", "--help"),
    await whenRun({}, "file", "-h"),
    await whenRun({}, "help", "file"),
  ];

  expect(new Set(asked.map(({ out }) => out)).size).toBe(1);
  expect(asked.map(({ code, err }) => [code, err])).toEqual(asked.map(() => [0, ""]));
  const { out } = asked[0] ?? { out: "" };
  expect(out).toContain("Verifies a list with a service");
  expect(out).toContain("-o, --out FILE");
  expect(out).toContain("(default: 40)");
  expect(out).toContain("  npx mailproof file list.csv --dry-run\n");
  expect(out).toContain("  5     the account has too few credits\n");
});

test("--version prints the version, and help of a group lists its commands", async () => {
  const { version } = JSON.parse(readFileSync("packages/local/package.json", "utf8"));

  expect((await whenRun({}, "--version")).out).toBe(`mailproof ${version}\n`);
  const group = await whenRun({}, "help", "admin", "keys");
  expect(group.out).toContain("npx mailproof admin keys revoke --account A --key K [--json]\n");
  expect(group.out).not.toContain("admin accounts");
});

test("mailproof verify reads a list of one address per line from standard input", async () => {
  const input = `nobody@valid.${ZONE}\nada.lovelace@valid.${ZONE}\n`;

  const { code, out, err } = await whenTyped(
    { MAILPROOF_DIR: createFolder() },
    input,
    "verify",
    "-",
  );

  expect({
    code,
    rows: out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).send),
  }).toEqual({
    code: 0,
    rows: ["no", "yes"],
  });
  expect(err).toContain("Send: 1 yes, 0 careful, 1 no.\n");
});

test("mailproof file sends a list from standard input and continues its job with the same output file", async () => {
  const { env, folder, client, out } = await whenServed();
  const list = "email\nann@example.com\ninvalid@example.com\n";

  const sent = await whenTyped(env, list, "file", "-", "--out", out, "-q");
  const again = await whenTyped(env, list, "file", "-", "--json", "--quiet");

  expect(sent).toEqual({ code: 0, out: "", err: "" });
  expect(readFileSync(out, "utf8").split("\r\n")[1]).toMatch(
    /^ann@example.com,ann@example.com,valid,yes,/,
  );
  expect(again.out.trim().split("\n")).toHaveLength(2);
  expect((await client.listJobs()).total).toBe(2);
  expect(readdirSync(folder)).toEqual(["results.csv"]);
});

async function* toRows(rows: readonly (readonly string[])[]) {
  yield* rows;
}

const readSheet = async (file: string) => {
  const rows: (readonly string[])[] = [];
  const { sheets, read } = await openWorkbook(await openAsBlob(file));
  await read(sheets[0] ?? "", (cells) => void rows.push(cells));
  return rows;
};

test.each(["service", "local"])(
  "a %s verifies a spreadsheet into a spreadsheet and keeps formula-like cells as text",
  async (by) => {
    const { env, folder } = await whenServed();
    const [file, out] = [join(folder, "list.xlsx"), join(folder, "results.xlsx")];
    const rows = [
      ["=1+1", "ann@example.com"],
      ["'=2", `nobody@valid.${ZONE}`],
    ];
    const sheet = writeSpreadsheet(toRows([["note", "e-mail"], ...rows]));
    writeFileSync(file, Buffer.concat(await Array.fromAsync(sheet)));
    const args = by === "local" ? ["verify", "--local", "--file"] : ["file"];

    const { code, err } = await whenRun(env, ...args, file, "--out", out);

    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("Send: ") });
    const [header = [], first = []] = await readSheet(out);
    expect(header.slice(0, 5)).toEqual(["note", "e-mail", "email", "status", "send"]);
    expect(first.slice(0, 3)).toEqual(["=1+1", "ann@example.com", "ann@example.com"]);
  },
);

test("mailproof file skips a cover sheet, and verifies the sheets and columns that are named", async () => {
  const { env, folder, client, out } = await whenServed("live");
  const file = join(folder, "list.xlsx");
  const { Paris, ...sheets } = createSheets(`valid.${ZONE}`);
  const twoColumns = Paris.map((cells, at) => [
    ...cells,
    at === 0 ? "home" : `h${at}@valid.${ZONE}`,
  ]);
  writeFileSync(file, await createWorkbook({ ...sheets, Paris: twoColumns }));
  const available = async () => (await client.getAccount()).credits.available;
  const before = await available();

  const quote = await whenRun(env, "file", file, "--dry-run");
  const named = ["--sheet", "Berlin", "--sheet", "Paris", "--column", "E-Mail", "--column", "HOME"];
  const done = await whenRun(env, "file", file, ...named, "--out", out);
  const unknown = await whenRun(env, "file", file, "--sheet", "Rome");
  const absent = await whenRun(env, "file", file, ...named.slice(0, 4), "--column", "Courriel");

  expect(JSON.parse(quote.out)).toMatchObject({ credits_needed: 2, rows: 2 });
  expect(quote.err).toContain('"Cover": 3 rows, addresses in "column_2", not read');
  expect(quote.err).toContain('"Berlin": 2 rows, addresses in "E-Mail", read');
  expect(done).toMatchObject({ code: 0, err: expect.stringContaining("Charged: 4 credits.") });
  expect(before - (await available())).toBe(4);
  const lines = readFileSync(out, "utf8").trim().split("\n");
  expect(lines.map((line) => line.split(",").slice(0, 7).join())).toEqual([
    "sheet,name,E-Mail,Courriel,city,home,email",
    `Berlin,Ann,ann@valid.${ZONE},,,,ann@valid.${ZONE}`,
    `Berlin,Bob,bob@valid.${ZONE},,,,bob@valid.${ZONE}`,
    `Paris,Cy,,cy@valid.${ZONE},Paris,h1@valid.${ZONE},h1@valid.${ZONE}`,
    `Paris,Ann,,ann@valid.${ZONE},Lyon,h2@valid.${ZONE},h2@valid.${ZONE}`,
  ]);
  expect(unknown).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      'has no sheet "Rome". It has "Cover", "Berlin", "Notes", "Paris".',
    ),
  });
  expect(absent).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      'the sheet "Berlin" has none of these columns. It has "name", "E-Mail".',
    ),
  });
});

test("mailproof file states what another service settled, and leaves it out with --skip-settled", async () => {
  const { env, folder, client, out } = await whenServed("live");
  const file = join(folder, "list.csv");
  writeFileSync(file, `email,ZB Status\nann@valid.${ZONE},valid\nbob@valid.${ZONE},invalid\n`);
  const available = async () => (await client.getAccount()).credits.available;
  const before = await available();

  const all = await whenRun(env, "file", file, "--dry-run");
  const fewer = await whenRun(env, "file", file, "--dry-run", "--skip-settled");
  const done = await whenRun(env, "file", file, "--skip-settled", "--out", out);

  const vendor = { vendor: "ZeroBounce", settled: 1 };
  expect(JSON.parse(all.out)).toMatchObject({ credits_needed: 2, ...vendor });
  expect(JSON.parse(fewer.out)).toMatchObject({ credits_needed: 1, ...vendor });
  expect(done).toMatchObject({ code: 0, err: expect.stringContaining("Charged: 1 credit.") });
  expect(done.err).toContain("1 row is left out because ZeroBounce settled it.");
  expect(before - (await available())).toBe(1);
  expect(readFileSync(out, "utf8")).toContain(`ann@valid.${ZONE},valid,valid,`);
});

test("mailproof file --dry-run prints the price and sends and charges nothing", async () => {
  const { env, folder, client, out } = await whenServed("live");
  const file = join(folder, "list.csv");
  writeFileSync(file, "email\nann@example.com\nANN@example.com\nbob@example.com\nnone\n");
  const before = await client.getAccount();
  const quote = async (...args: readonly string[]) => {
    const { code, out: printed } = await whenRun(env, ...args, "--dry-run");
    return { code, ...(JSON.parse(printed) as object) };
  };

  const available = before.credits.available;
  expect(await quote("file", file, "--out", out)).toEqual({
    code: 0,
    credits_needed: 2,
    credits_available: available,
    rows: 4,
    addresses: 2,
    duplicates: 1,
    rows_without_address: 1,
  });
  expect(await quote("verify", "a@b.c", "d@e.f")).toMatchObject({
    credits_needed: 2,
    addresses: 2,
  });
  expect(await quote("find", "Ada", "Lovelace", "example.com")).toMatchObject({
    credits_needed: 5,
  });
  expect(await quote("check", "example.com")).toMatchObject({ credits_needed: 10 });
  expect(await quote("verify", "--local", "--file", file)).toMatchObject({
    credits_needed: 0,
    credits_available: null,
    addresses: 2,
  });
  expect(await client.getAccount()).toEqual(before);
  expect((await client.listJobs()).total).toBe(0);
  expect(existsSync(out)).toBe(false);
});

test("mailproof login stores an accepted key per profile, readable only by its owner", async () => {
  const { env, liveKey, testKey } = await whenServed();
  const { MAILPROOF_API: api, MAILPROOF_KEY: _, ...bare } = env;
  const file = join(env.XDG_CONFIG_HOME, "mailproof/profiles.json");

  const first = await whenTyped(bare, `${testKey}\n`, "login", "--api", api);
  const second = await whenTyped(bare, liveKey, "login", "--api", api, "--profile", "live");
  const refused = await whenTyped(bare, "mp_live_wrong", "login", "--api", api, "--profile", "no");
  const { mode } = statSync(file);
  const jobs = await whenRun(bare, "jobs", "--json");
  const verified = await whenRun(bare, "verify", "invalid@example.com");
  const asLive = await whenRun(
    { ...bare, MAILPROOF_PROFILE: "live" },
    "check",
    "example.com",
    "--dry-run",
  );
  const elsewhere = await whenRun(bare, "jobs", "--api", "http://127.0.0.1:9");

  const missing = await whenTyped(bare, "\n", "login", "--api", api);

  expect([first.code, second.code, refused.code, missing.code]).toEqual([0, 0, 4, 2]);
  expect(missing.err).toContain("Missing API key: type it, or send it to standard input");
  expect(first.err).toContain(`${api} accepts the test key of`);
  expect(first.out + first.err).not.toContain(testKey);
  expect((mode & 0o777).toString(8)).toBe("600");
  expect(Object.keys(JSON.parse(readFileSync(file, "utf8")).profiles)).toEqual(["default", "live"]);
  expect(jobs).toMatchObject({ code: 0, out: "" });
  // With a test key the service answers from its sandbox, and no mail server is asked.
  expect(JSON.parse(verified.out)).toMatchObject({ status: "invalid", send: "no" });
  expect(JSON.parse(asLive.out)).toMatchObject({ credits_needed: 10 });
  // A stored key is sent to no other service.
  expect(elsewhere).toMatchObject({ code: 2, err: expect.stringContaining("Missing API key") });

  const out = await whenRun(bare, "logout");
  expect(out.code).toBe(0);
  expect((await whenRun(bare, "jobs")).code).toBe(2);
  await whenRun(bare, "logout", "--profile", "live");
  expect(existsSync(file)).toBe(false);
});

test("mailproof jobs writes the finished rows of a cancelled job and states the cancellation", async () => {
  const { env, folder, client, out } = await whenServed("live");
  const file = join(folder, "list.csv");
  writeFileSync(file, `email\nada.lovelace@valid.${ZONE}\nada.lovelace@greylist.${ZONE}\n`);
  const started = await whenRun(env, "file", file, "--no-wait");
  const id = started.out.trim();
  for (;;) {
    const { progress } = await client.getJob({ id, include_results: false });
    if (progress.processed === 1) break;
  }
  await whenRun(env, "jobs", "cancel", id);

  const { code, err } = await whenRun(env, "jobs", id, "--out", out);
  const lines = await whenRun(env, "jobs", id, "--json");

  expect(code).toBe(1);
  expect(err).toContain(`${id} was cancelled. The 1 of 2 rows with a result are written.`);
  expect(readFileSync(out, "utf8").trim().split("\r\n")).toHaveLength(2);
  expect({ code: lines.code, rows: lines.out.trim().split("\n").length }).toEqual({
    code: 1,
    rows: 1,
  });
});

test("the server continues after the reader of its output ended", async () => {
  const folder = createFolder();
  const server = spawnMailproof(["start"], {
    MAILPROOF_DIR: folder,
    PORT: "0",
    REACH_DOMAINS: "",
  });
  server.stdout.destroy();
  server.stderr.destroy();
  const file = join(folder, "ready.json");
  while (!existsSync(file) && server.exitCode === null) await setTimeout(20);
  const { base_url } = JSON.parse(readFileSync(file, "utf8")) as { base_url: string };

  // Each request is a line of the log.
  for (let request = 0; request < 3; request++)
    expect((await fetch(`${base_url}/health`)).status).toBe(200);

  const ended = once(server, "exit");
  server.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

test("a command exits silently, as cat does, when the reader of its output ended", async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const service = createServer((_, response) => {
    ask();
    void closed.then(() => response.end(JSON.stringify({ success: true, data: { jobs: JOBS } })));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void service.close());
  await once(service, "listening");
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const child = spawnMailproof(["jobs", "--api", url, "--key", "k"], {});
  const err = text(child.stderr);
  await asked;

  const ended = once(child, "exit");
  child.stdout.destroy();
  close();

  expect(await ended).toEqual([141, null]);
  expect(await err).toBe("");
});

const JOBS = Array.from({ length: 1_000 }, (_, n) => ({
  job_id: `job_${n}`,
  name: "x".repeat(100),
}));

const completeInBash = async (...typed: readonly string[]): Promise<readonly string[]> => {
  const script = join(createFolder(), "completion.bash");
  writeFileSync(script, await printCompletion("bash"));
  const words = typed.map((word) => `'${word}'`).join(" ");
  const program = `source ${script}; COMP_WORDS=(mailproof ${words}); COMP_CWORD=${typed.length}; _mailproof; echo "\${COMPREPLY[*]}"`;
  return execFileSync("bash", ["-c", program], { encoding: "utf8" }).trim().split(" ");
};

const printCompletion = async (shell: string): Promise<string> =>
  (await whenRun({}, "completion", shell)).out;

test("bash completes commands, options and their values, and otherwise files", async () => {
  expect(await completeInBash("fi")).toEqual(["file", "find"]);
  expect(await completeInBash("file", "list.csv", "--o")).toEqual(["--out"]);
  expect(await completeInBash("admin", "keys", "c")).toEqual(["create"]);
  expect(await completeInBash("admin", "keys", "create", "--mode", "")).toEqual(["live", "test"]);
  expect(await completeInBash("file", "--out", "")).toEqual([""]);
  expect(await completeInBash("completion", "z")).toEqual(["zsh"]);
});

test.each(["bash", "zsh", "fish"])(
  "the completion of %s contains every command and every option",
  async (shell) => {
    const script = await printCompletion(shell);
    const words = (await loadCommands(commands)).flatMap((command) => [
      ...command.name.split(" "),
      ...listOptions(command).map(({ name }) => name),
    ]);

    expect(words.filter((word) => !script.includes(word))).toEqual([]);
  },
);

// In a real zsh on a terminal: it reads the functions of bash, but not all of bash's syntax.

const findAbsence = (): string | null => {
  const absent = ["zsh", "script"].find((name) => spawnSync(name, ["--version"]).status !== 0);
  return absent === undefined ? null : `there is no ${absent}`;
};

const givenZsh = async (setUp: (file: string) => string) => {
  const folder = createFolder();
  const file = join(folder, "_mailproof");
  writeFileSync(file, (await whenRun({}, "completion", "zsh")).out);
  const child = spawn("script", ["--quiet", "--command", "zsh -f -i", "/dev/null"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", TERM: "dumb", HOME: folder },
    stdio: ["pipe", "pipe", "ignore"],
  });
  endWithTest(child);
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (shown += part));
  const whenShown = async (wanted: string) => {
    while (!stripVTControlCharacters(shown).includes(wanted))
      await new Promise((resolve) => child.stdout.once("data", resolve));
    return stripVTControlCharacters(shown);
  };
  child.stdin.write(`${setUp(file)}; print RE""ADY\n`);
  await whenShown("READY");
  return { type: (keys: string) => void child.stdin.write(keys), whenShown };
};

const COMPINIT = "autoload -Uz compinit && compinit -u -D";

describeUnless(findAbsence(), "completion in zsh", () => {
  test.each([
    ["when sourced", (file: string) => `${COMPINIT}; source ${file}`],
    ["from a folder of fpath", (file: string) => `fpath=(${join(file, "..")} $fpath); ${COMPINIT}`],
  ])("zsh completes commands and values %s", async (_, setUp) => {
    const { type, whenShown } = await givenZsh(setUp);

    type("mailproof admin accounts ren\t");
    await whenShown("mailproof admin accounts rename");
    type("\nmailproof completion z\t");

    expect(await whenShown("mailproof completion zsh")).not.toContain("modifier");
  });
});
