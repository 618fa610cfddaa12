import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { endpoints } from "@mailproof/api/endpoints";
import { LOOK_UP_ROUTES } from "@mailproof/api/http/http-failure";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import { createClient } from "@mailproof/client/client";
import { getMoneySentence, MONEY_OUTCOMES } from "@mailproof/core/lib/failure";
import { STATUS_ORDER } from "@mailproof/core/verify/judge";
import { generateSecret, signHeaders } from "@mailproof/core/webhooks/signature";
import { TEST_ADDRESSES } from "@mailproof/docs-site/guides-start";
import { html, inline } from "@mailproof/docs-site/html";
import { docsPage } from "@mailproof/docs-site/page";
import { DECISION } from "@mailproof/docs-site/pictures";
import { retrying, VERIFYING, withClient } from "@mailproof/docs-site/programs";
import { snippetsFor } from "@mailproof/docs-site/snippets";
import { describe, expect, test } from "vitest";
import { whenLosing } from "../client/proxied-server.ts";
import { describeUnless } from "../describe-when.ts";
import { given } from "../given.ts";
import { whenListening } from "../local/listening.ts";
import { createFolder } from "../local/running.ts";
import { whenVerified } from "../send.ts";

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

const whyNot = (program: string): string | null => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return null;
  } catch {
    return `there is no ${program}`;
  }
};

const LANGUAGES = [
  { language: "TypeScript", run: runWith(process.execPath, "snippet.mts"), why: null },
  { language: "Python", run: runWith("python3", "snippet.py"), why: whyNot("python3") },
  { language: "curl", run: runWith("bash", "snippet.sh"), why: whyNot("curl") },
] as const;

describe.each(LANGUAGES)("what the page says in $language", ({ language, run, why }) => {
  describeUnless(why, `${language} on the page`, () => {
    // One of each kind: without a key, with a query, with words that Python writes otherwise, with a list.
    const calls = EXAMPLES.filter(({ name }) =>
      ["getHealth", "listJobs", "verifyEmail2", "verifyBatch", "createApiKey"].includes(name),
    );

    test("works as it stands", async () => {
      const { port, testKey } = await whenListening(...endpoints);
      const base = `http://127.0.0.1:${port}`;

      expect(calls).toHaveLength(5);
      for (const example of calls) {
        const output = await run(findSnippet(language, snippetsFor(base, example)), testKey);
        expect(output, `${example.name}`).toMatch(/success|healthy/i);
        expect(output, `${example.name}`).not.toMatch(/"?success"?: ?false/i);
      }
    });
  });
});

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
/** Made up by whoever sent a batch with it. */
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

  expect(await LANGUAGES[0].run(program)).toBe(CASES.map(([is]) => is.toLowerCase()).join(" "));
});

describeUnless(whyNot("python3"), "Python that checks signatures", () => {
  test("the page's lines of Python know what we signed, and nothing else", async () => {
    const snippetCases = CASES.map(
      ([, headers, sent, by = secret]) =>
        `is_from_mailproof(${JSON.stringify(headers)}, ${JSON.stringify(sent)}.encode(), "${by}")`,
    );
    const program = `${findSnippet("Python", VERIFYING)}\nprint(${snippetCases.join(", ")})`;

    expect(await LANGUAGES[1].run(program)).toBe(CASES.map(([is]) => is).join(" "));
  });

  test("the page's client in Python pays once, also when the answer is lost", async () => {
    const { url, testKey, tries } = await whenLosingOne();
    const program = `${findSnippet("Python", retrying(url))}\nprint(verify("ann@example.com")["idempotent_replay"])\nprint(verify("bo@example.com")["status"])`;

    expect(await LANGUAGES[1].run(program, testKey)).toBe("True\nvalid");
    expect(tries()).toBe(3);
  });
});

test("what the page calls of our library is there", () => {
  const base = "http://127.0.0.1:8787";
  const library = createClient({ baseUrl: base, key: "mp_test_x" });
  const called = [...withClient(base).matchAll(/mailproof\.(\w+)\(/g)].map(([, name = ""]) => name);

  expect(called).toEqual(["verifyEmail", "verifyFile"]);
  expect(called.filter((name) => !(name in library))).toEqual([]);
});

test("the page's client in TypeScript pays once, also when the answer is lost", async () => {
  const { url, testKey, tries } = await whenLosingOne();
  const program = `${findSnippet("TypeScript", retrying(url))}
console.log((await verify("ann@example.com")).idempotent_replay, (await verify("bo@example.com")).status);`;

  expect(await LANGUAGES[0].run(program, testKey)).toBe("true valid");
  expect(tries()).toBe(3);
});
