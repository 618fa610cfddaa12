import { findBimiHints } from "@mailproof/core/mail/hints/bimi";
import { type FetchedPolicy, findMtaStsHints } from "@mailproof/core/mail/hints/mta-sts";
import { findTlsRptHints } from "@mailproof/core/mail/hints/tls-rpt";
import { expect, test } from "vitest";
import { createZoneDns, type Records } from "../../../zone.ts";

const DOMAIN = "example.com";
const at = (name: string, TXT: Records["TXT"]) =>
  createZoneDns({ [`${name}.${DOMAIN}`]: { TXT } as Records });
const getIds = (issues: readonly { readonly id: string }[]) => issues.map(({ id }) => id);

const RECORD = "v=STSv1; id=20261121T000000;";
const POLICY = "version: STSv1\r\nmode: enforce\r\nmx: mx.example.com\r\nmax_age: 604800\r\n";
const answer = (
  body = POLICY,
  status = 200,
  contentType = "text/plain; charset=utf-8",
): FetchedPolicy => ({
  kind: "answer",
  status,
  contentType,
  body,
});

test.each<readonly [what: string, TXT: Records["TXT"], ids: readonly string[]]>([
  ["a sound record", [RECORD], []],
  ["another text beside it", ["hello", RECORD], []],
  ["no record", [], ["MTA_STS_MISSING"]],
  ["a record of another version", ["v=STSv2; id=1;"], ["MTA_STS_MISSING"]],
  ["two records", [RECORD, RECORD], ["MTA_STS_BAD"]],
  ["no id", ["v=STSv1;"], ["MTA_STS_BAD"]],
  ["an id with a hyphen", ["v=STSv1; id=2026-11-21"], ["MTA_STS_BAD"]],
  ["an id that is too long", [`v=STSv1; id=${"1".repeat(33)}`], ["MTA_STS_BAD"]],
  ["no answer", "TIMEOUT", []],
])("MTA-STS in DNS: %s", async (_, TXT, ids) => {
  expect(
    getIds(await findMtaStsHints(at("_mta-sts", TXT), { domain: DOMAIN, mxHosts: [] })),
  ).toEqual(ids);
});

test.each<readonly [what: string, fetched: FetchedPolicy, ids: readonly string[]]>([
  ["in force", answer(), []],
  ["with bare line feeds", answer(POLICY.replaceAll("\r\n", "\n")), []],
  ["with a wildcard", answer(POLICY.replace("mx: mx.", "mx: *.")), []],
  ["in test", answer(POLICY.replace("enforce", "testing")), ["MTA_STS_NOT_ENFORCED"]],
  ["withdrawn", answer("version: STSv1\nmode: none\nmax_age: 0"), ["MTA_STS_NOT_ENFORCED"]],
  ["cannot be fetched", { kind: "failed", why: "certificate" }, ["MTA_STS_BAD"]],
  ["is elsewhere", answer(POLICY, 301), ["MTA_STS_BAD"]],
  ["is a page", answer(POLICY, 200, "text/html"), ["MTA_STS_BAD"]],
  ["of another version", answer(POLICY.replace("STSv1", "STSv2")), ["MTA_STS_BAD"]],
  ["without a mode", answer(POLICY.replace("mode: enforce\r\n", "")), ["MTA_STS_BAD"]],
  ["without max_age", answer(POLICY.replace("max_age: 604800", "")), ["MTA_STS_BAD"]],
  ["for more than a year", answer(POLICY.replace("604800", "31557601")), ["MTA_STS_BAD"]],
  ["without mx", answer(POLICY.replace("mx: mx.example.com\r\n", "")), ["MTA_STS_BAD"]],
  ["for another host", answer(POLICY.replace("mx.example.com", "mx.example.net")), ["MTA_STS_BAD"]],
  [
    "with a wildcard of another depth",
    answer(POLICY.replace("mx.example.com", "*.mx.example.com")),
    ["MTA_STS_BAD"],
  ],
])("an MTA-STS policy %s", async (_, fetched, ids) => {
  const questions: string[] = [];
  const fetchPolicy = async (url: string) => {
    questions.push(url);
    return fetched;
  };
  const input = { domain: DOMAIN, mxHosts: ["mx.example.com"], fetchPolicy };

  expect(getIds(await findMtaStsHints(at("_mta-sts", [RECORD]), input))).toEqual(ids);
  expect(questions).toEqual(["https://mta-sts.example.com/.well-known/mta-sts.txt"]);
});

test("no policy is fetched that no record announces", async () => {
  const fetchPolicy = () => Promise.reject(new Error("no policy was announced"));
  const input = { domain: DOMAIN, mxHosts: [], fetchPolicy };

  expect(getIds(await findMtaStsHints(at("_mta-sts", []), input))).toEqual(["MTA_STS_MISSING"]);
});

test.each<readonly [what: string, TXT: Records["TXT"], ids: readonly string[]]>([
  ["to an address", ["v=TLSRPTv1; rua=mailto:tls@example.com"], []],
  ["to two places", ["v=TLSRPTv1;rua=mailto:a@example.com,https://example.com/r"], []],
  ["not asked for", [], ["TLS_RPT_MISSING"]],
  [
    "asked for twice",
    ["v=TLSRPTv1; rua=mailto:a@b.test", "v=TLSRPTv1; rua=mailto:a@b.test"],
    ["TLS_RPT_BAD"],
  ],
  ["to nobody", ["v=TLSRPTv1;"], ["TLS_RPT_BAD"]],
  ["to an address without mailto:", ["v=TLSRPTv1; rua=a@example.com"], ["TLS_RPT_BAD"]],
  ["unknown", "SERVFAIL", []],
])("TLS reports are %s", async (_, TXT, ids) => {
  expect(getIds(await findTlsRptHints(at("_smtp._tls", TXT), DOMAIN))).toEqual(ids);
});

const LOGO = "v=BIMI1; l=https://example.com/l.svg; a=https://example.com/l.pem";
const ENFORCED = { status: "pass", policy: "reject", record: "v=DMARC1; p=reject" } as const;

test.each<
  readonly [
    what: string,
    TXT: Records["TXT"],
    dmarc: Parameters<typeof findBimiHints>[1]["dmarc"],
    ids: readonly string[],
  ]
>([
  ["a logo under DMARC reject", [LOGO], ENFORCED, []],
  ["no logo", [], ENFORCED, ["BIMI_MISSING"]],
  ["two records", [LOGO, LOGO], ENFORCED, ["BIMI_BAD"]],
  ["no l=", ["v=BIMI1; a="], ENFORCED, ["BIMI_BAD"]],
  ["a logo without https", ["v=BIMI1; l=http://example.com/l.svg"], ENFORCED, ["BIMI_BAD"]],
  ["a proof without https", ["v=BIMI1; l=; a=ftp://example.com"], ENFORCED, ["BIMI_BAD"]],
  ["said to be none", ["v=BIMI1; l=; a=;"], { ...ENFORCED, policy: "none" }, []],
  ["a logo under DMARC none", [LOGO], { ...ENFORCED, policy: "none" }, ["BIMI_BAD"]],
  ["a logo without DMARC", [LOGO], { ...ENFORCED, policy: null }, ["BIMI_BAD"]],
  [
    "a logo under DMARC for a half",
    [LOGO],
    { ...ENFORCED, record: "v=DMARC1; p=reject; pct=50" },
    ["BIMI_BAD"],
  ],
  ["a logo, and DMARC did not answer", [LOGO], { status: "error", policy: null, record: null }, []],
  ["no answer", "TIMEOUT", ENFORCED, []],
])("BIMI: %s", async (_, TXT, dmarc, ids) => {
  expect(getIds(await findBimiHints(at("default._bimi", TXT), { domain: DOMAIN, dmarc }))).toEqual(
    ids,
  );
});
