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
  "%s comes to %s under a test key, as the page says",
  async (email, status, reason) => {
    const { world, testKey } = await given();

    const { statusCode, data } = await whenVerified(world, testKey, { email });

    expect(data?.status ?? String(statusCode)).toBe(status);
    expect(data?.reason ?? "-").toBe(reason);
  },
);

test("the page knows every word for what became of the money, and its sentence that a message can end with", () => {
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

test("the picture of the decision asks in the order in which it is decided", () => {
  expect(atOnce(DECISION.map(([, status]) => status))).toEqual(atOnce(STATUS_ORDER));
});

test("what is put into a page is text, also inside an attribute", () => {
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

/** A folder in which our client can be imported, as where it is installed. */
const runTypeScript = async (text: string, key = "") => {
  const folder = createFolder();
  mkdirSync(join(folder, "node_modules/@mailproof"), { recursive: true });
  symlinkSync(resolve("packages/client"), join(folder, "node_modules/@mailproof/client"));
  const file = join(folder, "snippet.mts");
  writeFileSync(file, text);
  const env = { ...process.env, MAILPROOF_KEY: key };
  return (await ran(process.execPath, [file], { env })).stdout.trim();
};

/** From version 10 on it runs a single file. */
const runCsharp = async (text: string, key = "") => {
  const file = join(createFolder(), "snippet.cs");
  writeFileSync(file, text);
  const env = { ...process.env, MAILPROOF_KEY: key };
  return (await ran("dotnet", ["run", file], { env })).stdout.trim();
};

/** Without C, so that the library compiles in seconds. */
const runGo = async (text: string, key = "") => {
  const folder = createFolder();
  writeFileSync(join(folder, "main.go"), text);
  const env = { ...process.env, MAILPROOF_KEY: key, CGO_ENABLED: "0" };
  return (await ran("go", ["run", join(folder, "main.go")], { env })).stdout.trim();
};

const [NO_PYTHON, NO_REQUESTS] = [whyNot("python3"), whyNot("python3", "-c", "import requests")];

const LANGUAGES = [
  { language: "TypeScript", run: runTypeScript, why: null },
  { language: "Python", run: runWith("python3", "snippet.py"), why: NO_PYTHON ?? NO_REQUESTS },
  { language: "curl", run: runWith("bash", "snippet.sh"), why: whyNot("curl") },
  { language: "PHP", run: runWith("php", "snippet.php"), why: whyNot("php") },
  { language: "Go", run: runGo, why: whyNot("go", "version") },
  { language: "Ruby", run: runWith("ruby", "snippet.rb"), why: whyNot("ruby") },
  { language: "Java", run: runWith("java", "Call.java"), why: whyNot("javac") },
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

describe.each(LANGUAGES)("what the page says in $language", ({ language, run, why }) => {
  describeUnless(why, `${language} on the page`, () => {
    test("works as it stands", async () => {
      const { port, testKey } = await whenListening(...endpoints);
      const base = `http://127.0.0.1:${port}`;

      for (const [name, answer] of Object.entries(CALLS)) {
        const example = EXAMPLES.find((one) => one.name === name);
        if (!example) throw new Error(`There is no example ${name}.`);
        const call = { ...example, isPublic: name === "getHealth" };
        const output = await run(findSnippet(language, snippetsFor(base, call)), testKey);
        expect(output, `${name}`).toContain(answer);
      }
    }, 180_000);
  });
});

test("each snippet of our client sends what the snippet of curl sends", async () => {
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

test("the page's lines of TypeScript know what we signed, and nothing else", async () => {
  const snippetCases = CASES.map(
    ([, headers, sent, by = secret]) =>
      `isFromMailproof(${JSON.stringify(headers)}, ${JSON.stringify(sent)}, "${by}")`,
  );
  const program = `${findSnippet("TypeScript", VERIFYING)}\nconsole.log([${snippetCases.join(", ")}].join(" "));`;

  expect(await runWith(process.execPath, "snippet.mts")(program)).toBe(
    CASES.map(([is]) => is.toLowerCase()).join(" "),
  );
});

describeUnless(whyNot("python3"), "Python that checks signatures", () => {
  test("the page's lines of Python know what we signed, and nothing else", async () => {
    const snippetCases = CASES.map(
      ([, headers, sent, by = secret]) =>
        `is_from_mailproof(${JSON.stringify(headers)}, ${JSON.stringify(sent)}.encode(), "${by}")`,
    );
    const program = `${findSnippet("Python", VERIFYING)}\nprint(${snippetCases.join(", ")})`;

    expect(await runWith("python3", "snippet.py")(program)).toBe(CASES.map(([is]) => is).join(" "));
  });

  test("the page's client in Python pays once, also when the answer is lost", async () => {
    const { url, testKey, tries } = await whenLosingOne();
    const program = `${findSnippet("Python", retrying(url))}\nprint(verify("ann@example.com")["idempotent_replay"])\nprint(verify("bo@example.com")["status"])`;

    expect(await runWith("python3", "snippet.py")(program, testKey)).toBe("True\nvalid");
    expect(tries()).toBe(3);
  });
});

test("what the page calls of our library is there", () => {
  const base = "http://127.0.0.1:8787";
  const library = createClient({ baseUrl: base, key: "mp_test_x" });
  const program = clientsAt(base)[0]?.program ?? "";
  const called = [...program.matchAll(/mailproof\.(\w+)\(/g)].map(([, name = ""]) => name);

  expect(called).toEqual(["upload", "processFile", "waitForJob", "download"]);
  expect(called.filter((name) => !(name in library))).toEqual([]);
});

test("the page's client in TypeScript pays once, also when the answer is lost", async () => {
  const { url, testKey, tries } = await whenLosingOne();
  const program = `${findSnippet("TypeScript", retrying(url))}
console.log((await verify("ann@example.com")).idempotent_replay, (await verify("bo@example.com")).status);`;

  expect(await runWith(process.execPath, "snippet.mts")(program, testKey)).toBe("true valid");
  expect(tries()).toBe(3);
});
