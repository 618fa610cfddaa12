import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { endpoints } from "@mailproof/api/endpoints";
import { LOOK_UP_ROUTES } from "@mailproof/api/http/http-failure";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import { createClient } from "@mailproof/client/client";
import { OPERATIONS } from "@mailproof/client/operations";
import { getMoneySentence, MONEY_OUTCOMES } from "@mailproof/core/lib/failure";
import { STATUS_ORDER } from "@mailproof/core/verify/judge";
import { generateSecret, signHeaders } from "@mailproof/core/webhooks/signature";
import { clientsAt } from "@mailproof/docs-site/clients/programs";
import { TEST_ADDRESSES } from "@mailproof/docs-site/guides-start";
import { html, inline } from "@mailproof/docs-site/html";
import { docsPage } from "@mailproof/docs-site/page";
import { DECISION } from "@mailproof/docs-site/pictures";
import { retrying, VERIFYING } from "@mailproof/docs-site/programs";
import { snippetsFor } from "@mailproof/docs-site/snippets";
import { describe, expect, test } from "vitest";
import { given } from "../app/given.ts";
import { whenVerified } from "../app/send.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { whenListening } from "../servers/listening.ts";
import { whenLosing } from "../servers/proxied-server.ts";
import { createFolder } from "../servers/running.ts";

const ran = promisify(execFile);

test.each(TEST_ADDRESSES)(
  "%s verifies as %s under a test key, as the docs page states",
  async (email, status, reason) => {
    const { world, testKey } = await given();

    const { statusCode, data } = await whenVerified(world, testKey, { email });

    expect(data?.status ?? String(statusCode)).toBe(status);
    expect(data?.reason ?? "-").toBe(reason);
  },
);

test("the docs page prints each money outcome with the last sentence of its error message", () => {
  const page = docsPage("http://127.0.0.1:8787");
  const rows = MONEY_OUTCOMES.map((money) => {
    const sentence = getMoneySentence(money, LOOK_UP_ROUTES.listJobs);
    return `<td data-head="Money"><code>${money}</code></td> <td data-head="The message ends with">${sentence}</td>`;
  });

  expect(rows.filter((one) => !page.includes(one))).toEqual([]);
});

/** Lines that stand together and come to the same may be one question. */
const atOnce = (statuses: readonly string[]) =>
  statuses.filter((status, at) => status !== statuses[at - 1]);

test("the docs page's picture of the decision follows the decision's order", () => {
  expect(atOnce(DECISION.map(([, status]) => status))).toEqual(atOnce(STATUS_ORDER));
});

test("the docs page escapes inserted text, also inside an attribute", () => {
  const evil = `"><script>alert("1")</script>`;

  expect(html`<a title="${evil}">${evil}</a>`.markup).toBe(
    `<a title="&quot;>&lt;script>alert(&quot;1&quot;)&lt;/script>">">&lt;script>alert("1")&lt;/script></a>`,
  );
  expect(inline("a `<b>` **c&d**").markup).toBe("a <code>&lt;b></code> <strong>c&amp;d</strong>");
});

const findSnippet = (
  language: string,
  all: readonly { language: string; text: string }[],
): string => all.find((one) => one.language === language)?.text ?? "";

const runWith =
  (program: string, name: string) =>
  async (text: string, key = "") => {
    const file = join(createFolder(), name);
    writeFileSync(file, text);
    const { stdout } = await ran(program, [file], { env: { ...process.env, MAILPROOF_KEY: key } });
    return stdout.trim();
  };

const whyNot = (program: string, ...args: readonly string[]): string | null => {
  try {
    execFileSync(program, args.length > 0 ? args : ["--version"], { stdio: "ignore" });
    return null;
  } catch {
    return `there is no ${[program, ...args].join(" ")}`;
  }
};

/** Printed after each snippet. */
const END = "-- the end of a snippet --";

/** One process for all snippets of a language: most of them start longer than they run. */
const runEach = async (
  folder: string,
  [program, ...args]: readonly [program: string, ...args: string[]],
  key: string,
): Promise<readonly string[]> => {
  // Without C, so that the library of Go compiles in seconds.
  const env = { ...process.env, MAILPROOF_KEY: key, CGO_ENABLED: "0" };
  const { stdout } = await ran(program, args, { cwd: folder, env });
  return stdout.split(`${END}\n`).slice(0, -1);
};

const writeEach = (folder: string, name: string, texts: readonly string[]): readonly string[] =>
  texts.map((text, at) => {
    const file = join(folder, name.replace("N", String(at)));
    writeFileSync(file, text);
    return file;
  });

type RunAll = (texts: readonly string[], key: string) => Promise<readonly string[]>;

/** `program` is a script that runs each file of its arguments. */
const runFiles =
  (name: string, ...program: readonly [program: string, ...args: string[]]): RunAll =>
  (texts, key) => {
    const folder = createFolder();
    return runEach(folder, [...program, ...writeEach(folder, name, texts)], key);
  };

/** In a folder in which our client can be imported, as where it is installed. */
const runTypeScript: RunAll = (texts, key) => {
  const folder = createFolder();
  mkdirSync(join(folder, "node_modules/@mailproof"), { recursive: true });
  symlinkSync(resolve("packages/client"), join(folder, "node_modules/@mailproof/client"));
  const script = `for (const file of process.argv.slice(1)) { await import(file); console.log("${END}"); }`;
  const node = [process.execPath, "--input-type=module", "--eval", script] as const;
  return runEach(folder, [...node, ...writeEach(folder, "snippetN.mts", texts)], key);
};

/** The programs as functions of one program, since compiling takes most of the time. */
const runGo: RunAll = (texts, key) => {
  const folder = createFolder();
  const functions = texts.map((text, at) => text.replace("func main()", `func call${at}()`));
  const calls = texts.map((_, at) => `\tcall${at}()\n\tfmt.Println("${END}")\n`).join("");
  const main = `package main\n\nimport "fmt"\n\nfunc main() {\n${calls}}`;
  const files = [...writeEach(folder, "callN.go", functions), join(folder, "main.go")];
  writeFileSync(join(folder, "main.go"), main);
  return runEach(folder, ["go", "run", ...files], key);
};

/** The same with classes. The second compiler of the JVM would cost more than it saves. */
const runJava: RunAll = async (texts, key) => {
  const folder = createFolder();
  const classes = texts.map((text, at) => text.replace("class Call {", `class Call${at} {`));
  const calls = texts.map((_, at) => `Call${at}.main(args); System.out.println("${END}");`);
  const main = `class Main { public static void main(String[] args) throws Exception { ${calls.join(" ")} } }`;
  const files = [...writeEach(folder, "CallN.java", classes), join(folder, "Main.java")];
  writeFileSync(join(folder, "Main.java"), main);
  const quick = "-XX:TieredStopAtLevel=1";
  await ran("javac", [`-J${quick}`, ...files]);
  return runEach(folder, ["java", quick, "-cp", folder, "Main"], key);
};

/** From version 10 on it runs a single file. */
const runCsharp: RunAll = async (texts, key) => {
  const outputs: string[] = [];
  for (const text of texts) {
    const file = join(createFolder(), "snippet.cs");
    writeFileSync(file, text);
    const env = { ...process.env, MAILPROOF_KEY: key };
    outputs.push((await ran("dotnet", ["run", file], { env })).stdout);
  }
  return outputs;
};

const runPython = runFiles(
  "snippetN.py",
  "python3",
  "-c",
  `import runpy, sys\nfor file in sys.argv[1:]:\n    runpy.run_path(file)\n    print("${END}")`,
);
const runShell = runFiles(
  "snippetN.sh",
  "bash",
  "-c",
  `for file; do bash "$file"; echo; echo "${END}"; done`,
  "bash",
);
const runPhp = runFiles(
  "snippetN.php",
  "php",
  "-r",
  `foreach (array_slice($argv, 1) as $file) { include $file; echo "${END}\n"; }`,
  "--",
);
const runRuby = runFiles(
  "snippetN.rb",
  "ruby",
  "-e",
  `ARGV.each { |file| load file; puts "${END}" }`,
);

const [NO_PYTHON, NO_REQUESTS] = [whyNot("python3"), whyNot("python3", "-c", "import requests")];

const LANGUAGES = [
  { language: "TypeScript", run: runTypeScript, why: null },
  { language: "Python", run: runPython, why: NO_PYTHON ?? NO_REQUESTS },
  { language: "curl", run: runShell, why: whyNot("curl") },
  { language: "PHP", run: runPhp, why: whyNot("php") },
  { language: "Go", run: runGo, why: whyNot("go", "version") },
  { language: "Ruby", run: runRuby, why: whyNot("ruby") },
  { language: "Java", run: runJava, why: whyNot("javac") },
  { language: "C#", run: runCsharp, why: whyNot("dotnet") },
] as const;

/** One of each kind: without a key, with a query, with words that other languages write otherwise, with a list; and what each is answered. */
const CALLS: Readonly<Record<string, string>> = {
  getHealth: "healthy",
  listJobs: "jobs",
  verifyEmail2: "mailbox_not_found",
  verifyBatch: "job_",
  createApiKey: "mp_test_",
};

describe.each(LANGUAGES)("the docs page's examples in $language", ({ language, run, why }) => {
  describeUnless(why, `${language} on the page`, () => {
    test("a docs example runs unchanged", async () => {
      const { port, testKey } = await whenListening(...endpoints);
      const base = `http://127.0.0.1:${port}`;

      const texts = Object.keys(CALLS).map((name) => {
        const example = EXAMPLES.find((one) => one.name === name);
        if (!example) throw new Error(`There is no example ${name}.`);
        const call = { ...example, isPublic: name === "getHealth" };
        return findSnippet(language, snippetsFor(base, call));
      });

      const outputs = await run(texts, testKey);

      expect(outputs).toEqual(
        Object.values(CALLS).map((answer) => expect.stringContaining(answer)),
      );
    });
  });
});

test("each snippet of our client sends the same request as its curl snippet", async () => {
  const library = createClient({ baseUrl: "http://127.0.0.1:8787", key: "mp_test_x" });
  for (const example of EXAMPLES) {
    const text = findSnippet("TypeScript", snippetsFor("http://127.0.0.1:8787", example));
    const [, method = "", input] = /mailproof\.(\w+)\(([\s\S]*)\)\);$/.exec(text) ?? [];
    expect(Object.keys(library), `${example.name}`).toContain(method);
    const { route, fixed = {} } = OPERATIONS[method as keyof typeof OPERATIONS];
    const fields = input ? (runInNewContext(`(${input})`) as object) : {};
    const { format: _, ...query } = example.query;
    const wanted = { ...example.path, ...query, ...(example.request as object | undefined) };
    expect(route, `${example.name}`).toBe(example.route);
    expect(toTexts({ ...fixed, ...fields, format: undefined })).toEqual(toTexts(wanted));
  }
});

/** In a query every value is text. */
const toTexts = (fields: object): object =>
  JSON.parse(JSON.stringify(fields), (_, value: unknown) =>
    typeof value === "number" ? String(value) : value,
  ) as object;

/** A way to a server on which the first answer is lost. */
const whenLosingOne = async () => {
  const { port, testKey } = await whenListening(...endpoints);
  const { url, seen } = await whenLosing(
    `http://127.0.0.1:${port}`,
    (_, before) => before.length === 0,
  );
  return { url, testKey, tries: () => seen.length };
};

const secret = generateSecret({ randomBytes: (count) => Buffer.alloc(count, 7) });
const body = JSON.stringify({ id: "evt_1", type: "job.completed", data: { name: "Größe" } });
const message = { id: "evt_1", body, at: new Date() };
const signed = signHeaders(message, secret);
/** Made up by the client that sent a batch with it. */
const own = "my own words, no base64";
const signedByOwn = signHeaders(message, own);
const old = signHeaders({ ...message, at: new Date(Date.now() - 3_600_000) }, secret);
const CASES = [
  ["True", signed, body],
  ["False", signed, body.replace("completed", "failed")],
  ["False", { ...signed, "webhook-id": "evt_2" }, body],
  ["False", { ...signed, "webhook-signature": "v1,AAAA" }, body],
  ["True", { ...signed, "webhook-signature": `v1,AAAA ${signed["webhook-signature"]}` }, body],
  ["False", old, body],
  ["True", signedByOwn, body, own],
  ["False", signedByOwn, body],
  ["False", { ...signed, "webhook-timestamp": "soon" }, body],
  ["False", { ...signed, "webhook-signature": "v1,é" }, body],
  ["False", {}, body],
] as const;

test("the docs page's TypeScript accepts our signatures and no other", async () => {
  const snippetCases = CASES.map(
    ([, headers, sent, by = secret]) =>
      `isFromMailproof(${JSON.stringify(headers)}, ${JSON.stringify(sent)}, "${by}")`,
  );
  const program = `${findSnippet("TypeScript", VERIFYING)}\nconsole.log([${snippetCases.join(", ")}].join(" "));`;

  expect(await runWith(process.execPath, "snippet.mts")(program)).toBe(
    CASES.map(([is]) => is.toLowerCase()).join(" "),
  );
});

describeUnless(whyNot("python3"), "the docs page's signature check in Python", () => {
  test("the docs page's Python accepts our signatures and no other", async () => {
    const snippetCases = CASES.map(
      ([, headers, sent, by = secret]) =>
        `is_from_mailproof(${JSON.stringify(headers)}, ${JSON.stringify(sent)}.encode(), "${by}")`,
    );
    const program = `${findSnippet("Python", VERIFYING)}\nprint(${snippetCases.join(", ")})`;

    expect(await runWith("python3", "snippet.py")(program)).toBe(CASES.map(([is]) => is).join(" "));
  });

  test("the docs page's Python client pays once when a response is lost", async () => {
    const { url, testKey, tries } = await whenLosingOne();
    const program = `${findSnippet("Python", retrying(url))}\nprint(verify("ann@example.com")["idempotent_replay"])\nprint(verify("bo@example.com")["status"])`;

    expect(await runWith("python3", "snippet.py")(program, testKey)).toBe("True\nvalid");
    expect(tries()).toBe(3);
  });
});

test("our library exports every method that the docs page calls", () => {
  const base = "http://127.0.0.1:8787";
  const library = createClient({ baseUrl: base, key: "mp_test_x" });
  const program = clientsAt(base)[0]?.program ?? "";
  const called = [...program.matchAll(/mailproof\.(\w+)\(/g)].map(([, name = ""]) => name);

  expect(called).toEqual(["upload", "processFile", "waitForJob", "download"]);
  expect(called.filter((name) => !(name in library))).toEqual([]);
});

test("the docs page's TypeScript client pays once when a response is lost", async () => {
  const { url, testKey, tries } = await whenLosingOne();
  const program = `${findSnippet("TypeScript", retrying(url))}
console.log((await verify("ann@example.com")).idempotent_replay, (await verify("bo@example.com")).status);`;

  expect(await runWith(process.execPath, "snippet.mts")(program, testKey)).toBe("true valid");
  expect(tries()).toBe(3);
});
