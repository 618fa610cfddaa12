import { gzipSync } from "node:zlib";
import { readReport } from "@mailproof/core/deliverability/reports/read-report";
import { expect, test } from "vitest";
import { asRows } from "../../../runner/as-rows.ts";
import {
  BEGIN,
  createDmarcReport,
  createRecord,
  createTlsPolicy,
  createTlsReport,
  createZip,
} from "../../../things/made-reports.ts";

// What receivers' programs are known to write, beyond the shapes in read-report.test.ts: each was reported in
// public to the authors of another parser. The reports are made here.

const read = (file: string | Uint8Array) => readReport(Buffer.from(file as string));

const dkim = (domain: string, result: string, more = "") =>
  `<dkim><domain>${domain}</domain><result>${result}</result>${more}</dkim>`;
const spf = (domain: string, result: string) =>
  `<spf><domain>${domain}</domain><result>${result}</result></spf>`;
const withAuth = (auth: string) => createDmarcReport({ records: [createRecord({ auth })] });
const inEvaluated = (more: string) =>
  createDmarcReport().replace("</policy_evaluated>", `${more}</policy_evaluated>`);

const ALIGNED = { ip: "192.0.2.1", messages: 1, aligned: 1, spfAligned: 1, dkimAligned: 1 };

const DMARC: readonly (readonly [
  name: string,
  file: string | Uint8Array,
  source: Readonly<Record<string, unknown>>,
])[] = asRows`
  GMX: RFC 9990's namespace, a version and a generator
    | ${createDmarcReport({ reporter: "gmx.net" }).replace("<feedback>", '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"><version>1.0</version>').replace("<date_range>", "<generator>reporter 1.2</generator><date_range>")}
    | ${{}}
  no version, sp left out, and the elements on lines of their own
    | ${createDmarcReport({ reporter: "Yahoo", policy: "<adkim>r</adkim><aspf>r</aspf><p>reject</p><pct>100</pct>" }).replaceAll("><", ">\n<")} | ${{}}
  capitals in verdicts and results | ${withAuth(dkim("example.com", "PASS") + spf("example.com", "Pass")).replaceAll(">pass<", ">PASS<")}
    | ${{ authenticated: { "example.com": 1 } }}
  the SPF result hardfail | ${withAuth(dkim("example.com", "pass") + spf("other.example", "hardfail"))} | ${{ authenticated: { "example.com": 1 } }}
  OpenDMARC: the SPF result unknown | ${withAuth(dkim("example.com", "pass") + spf("other.example", "unknown"))} | ${{ authenticated: { "example.com": 1 } }}
  an SPF domain that is empty, as of a bounce | ${withAuth(`${dkim("example.com", "pass")}<spf><domain/><scope>helo</scope><result>none</result></spf>`)}
    | ${{ authenticated: { "example.com": 1 } }}
  an SPF result of a host name that is no domain | ${withAuth(dkim("example.com", "pass") + spf("localhost", "pass"))} | ${{ authenticated: { "example.com": 1 } }}
  human_result and a selector beside the result | ${withAuth(dkim("example.com", "pass", "<selector>s1</selector><human_result>1024-bit key</human_result>"))}
    | ${{ authenticated: { "example.com": 1 } }}
  the results of each signature in a group of its own
    | ${withAuth(dkim("a.example", "pass")).replace("</auth_results>", `</auth_results><auth_results>${dkim("example.com", "pass")}</auth_results>`)}
    | ${{ authenticated: { "a.example": 1, "example.com": 1 } }}
  KDDI: a reason that is a text without a type | ${inEvaluated("<reason>none</reason>")} | ${{ reasons: {} }}
  a reason whose type is empty | ${inEvaluated("<reason><type/><comment/></reason>")} | ${{ reasons: {} }}
  Google: ARC as a local policy, with a comment | ${inEvaluated("<reason><type>local_policy</type><comment>arc=pass as.1.example.com=pass</comment></reason>")}
    | ${{ reasons: { local_policy: 1 } }}
  RFC 9990: extensions of a namespace of their own
    | ${createDmarcReport().replace("<record>", '<extension><x:a xmlns:x="urn:x" definition="https://x.example">1</x:a></extension><record>')} | ${{}}
  an error in the metadata, which says what the receiver could not do
    | ${createDmarcReport().replace("</report_metadata>", "<error>DNS time-out</error></report_metadata>")} | ${{}}
  a report of an hour | ${createDmarcReport({ end: BEGIN + 3_600 })} | ${{}}
  a report of a week | ${createDmarcReport({ end: BEGIN + 7 * 86_400 })} | ${{}}
  an id in angle brackets | ${createDmarcReport({ id: "&lt;20260301.1@receiver.example&gt;" })} | ${{}}
  an organisation in CDATA | ${createDmarcReport({ reporter: "<![CDATA[A & B]]>" })} | ${{}}
  all elements in capitals | ${createDmarcReport().replaceAll(/<(\/?)([a-z_]+)>/g, (_, end, name: string) => `<${end}${name.toUpperCase()}>`)} | ${{}}
  a zip file whose report is named as another zip file | ${createZip({ name: "a!example.com!1!2.xml.zip", content: createDmarcReport() })} | ${{}}
  a zip file whose report has no ending | ${createZip({ name: "report", content: createDmarcReport() })} | ${{}}
  a gzip file of two members | ${Buffer.concat([gzipSync(createDmarcReport().slice(0, 200)), gzipSync(createDmarcReport().slice(200))])} | ${{}}
`;

test.each(DMARC)("reads %s", async (_name, file, source) => {
  expect(await read(file)).toMatchObject({
    type: "dmarc",
    domain: "example.com",
    sources: [{ ...ALIGNED, ...source }],
  });
});

const policy = (type: string, domain: string | undefined) =>
  createTlsPolicy({
    policy: { "policy-type": type, ...(domain !== undefined && { "policy-domain": domain }) },
    "failure-details": [],
  });

const tls = (fields: Readonly<Record<string, unknown>>) => JSON.stringify(createTlsReport(fields));

const TLS: readonly (readonly [name: string, file: string | Uint8Array])[] = asRows`
  Google: packed, with an ending in a Z | ${gzipSync(tls({}))}
  Microsoft: a failure without the address of the server, and a plus in the id
    | ${tls({ "report-id": "133944884956529435+example.com", policies: [createTlsPolicy({ "failure-details": [{ "result-type": "sts-policy-fetch-error", "failed-session-count": 3 }] })] })}
  a gateway: no contact | ${tls({ "contact-info": null })}
  no list of failures | ${tls({ policies: [createTlsPolicy({ "failure-details": null })] })}
  Postfix: a policy of DANE for each mail host, and the domain in another one
    | ${tls({ policies: [policy("tlsa", "mx1.example.com"), policy("tlsa", "mx2.provider.example"), policy("sts", "example.com")] })}
  Postfix: a policy that was not found, without a domain | ${tls({ policies: [policy("no-policy-found", undefined), policy("sts", "example.com")] })}
`;

test.each(TLS)("reads a TLS report of %s", async (_name, file) => {
  expect(await read(file)).toMatchObject({ type: "tls", domain: "example.com" });
});

test.each([
  [
    "mail hosts alone",
    [policy("tlsa", "mx1.example.com"), policy("tlsa", "mx2.example.com")],
    /policies\[1\].policy.policy-domain: must be mx1.example.com/,
  ],
  [
    "no domain at all",
    [policy("no-policy-found", undefined)],
    /policies\[0\].policy.policy-domain: is missing/,
  ],
])(
  "a TLS report that names %s is refused, since it does not say whose it is",
  async (_name, policies, reason) => {
    await expect(read(tls({ policies }))).rejects.toThrow(reason);
  },
);
