import { expect, test } from "vitest";
import { createFolder, whenCommanded, whenRunIn } from "../servers/running.ts";

const at = (name: string) => `${name}.senders.lab.mailproof.test`;

const whenChecked = async (...args: readonly string[]) => {
  const { code, out, err } = await whenRunIn(createFolder(), "check", ...args);
  return { code, err, report: out === "" ? null : JSON.parse(out) };
};

test("mailproof check works without a server or state and writes one line of JSON to a pipe", async () => {
  const args = ["check", at("good"), "--ip", "192.0.2.10"];
  const { code, out, err } = await whenCommanded(createFolder(), ...args);

  expect({ code, err, lines: out.split("\n").length - 1 }).toEqual({ code: 0, err: "", lines: 1 });
  expect(JSON.parse(out)).toMatchObject({ domain: at("good"), score: 100, grade: "A" });
});

test("mailproof check prints recommendations for a faulty domain and exits with 0", async () => {
  const { code, report } = await whenChecked(at("bare"), "--json");

  expect(code).toBe(0);
  expect(report).toMatchObject({ server: { reverse_dns_status: "not_checked" }, grade: "F" });
  expect(report.recommendations[0]).toMatchObject({ id: "add_dkim" });
});

test("mailproof check --flatten replaces the given includes by address blocks and counts the look-ups again", async () => {
  const include = `i0.${at("lookups")}`;
  const { code, report } = await whenChecked(at("lookups"), "--flatten", include);

  expect(code).toBe(0);
  expect(report.authentication.spf.lookups).toBe(11);
  expect(report.flattened_spf).toMatchObject({
    includes: [{ include, address_blocks: 1 }],
    lookups: 10,
  });
  expect(report.flattened_spf.record.value).not.toContain(`include:${include} `);
});

test("mailproof check --flatten exits with 2 for an include that the record lacks", async () => {
  const { code, err, report } = await whenChecked(at("good"), "--flatten", "elsewhere.test");

  expect({ code, report }).toEqual({ code: 2, report: null });
  expect(err).toContain("--flatten: elsewhere.test: the SPF record does not include it");
});

test("mailproof check accepts a domain pasted as a URL and reports both of its forms", async () => {
  const { code, report } = await whenChecked(` HTTPS://${at("BÜCHER")}.:443/path?x `);

  expect(code).toBe(0);
  expect(report).toMatchObject({
    domain: at("xn--bcher-kva"),
    domain_unicode: at("bücher"),
    confidence: "medium",
    missing_parts: ["reputation"],
  });
});

test.each(["10.0.0.1", "127.0.0.1", "198.51.100.7"])(
  "mailproof check exits with 2 for a private or reserved sending address (%s)",
  async (ip) => {
    const { code, err, report } = await whenChecked(at("good"), "--ip", ip);

    expect({ code, report }).toEqual({ code: 2, report: null });
    expect(err).toContain(`${ip} is a private or reserved address`);
  },
);

test("mailproof check reports a domain that does not exist", async () => {
  const { code, report } = await whenChecked(at("nobody-has-this"));

  expect(code).toBe(0);
  expect(report).toMatchObject({ score: 0, grade: "F", dns: { has_valid_mx: false } });
});

test("mailproof check exits with 1 and writes the reason to stderr when no verdict is possible", async () => {
  const { code, err, report } = await whenChecked(at("failing"));

  expect({ code, report }).toEqual({ code: 1, report: null });
  expect(err).toBe(
    `No name server answered any query about ${at("failing")}, so there is no verdict. Is this machine online?\n`,
  );
});
