import type { Dns } from "@mailproof/mail/dns/dns";
import { evaluateSpf } from "@mailproof/mail/spf/evaluate";
import { createResolverPool } from "@mailproof/net/resolver-pool";
import { expect, onTestFinished, test } from "vitest";
import { createZoneDns, type DnsTrouble, type Records, type Zone } from "../app/zone.ts";
import { createDescribe } from "../runner/describe-when.ts";
import { serveZone } from "../servers/dns-server.ts";

/** One document of the RFC 7208 test suite. */
type Document = {
  readonly description: string;
  readonly tests: Readonly<Record<string, Case>>;
  readonly zonedata: ZoneData;
};

type Case = {
  readonly host: string;
  readonly helo: string;
  readonly mailfrom: string;
  /** Several where the RFC leaves it open. */
  readonly result: string | readonly string[];
  readonly explanation?: string;
};

type ZoneData = Readonly<Record<string, readonly Entry[]>>;
type Entry = "TIMEOUT" | Readonly<Record<string, Value>>;
/** Several strings are one TXT record of several, or an MX with its preference. */
type Value = string | readonly (string | number)[];

/** `silence` is what stands for a server that does not answer. */
const toZone = (zonedata: ZoneData, silence: DnsTrouble): Zone =>
  Object.fromEntries(
    Object.entries(zonedata).map(([name, entries]) => [name, listRecords(entries, silence)]),
  );

const listRecords = (entries: readonly Entry[], silence: DnsTrouble): Records | DnsTrouble => {
  const records = entries.filter((entry) => entry !== "TIMEOUT");
  // Beside records it is the questions for other types that have no answer.
  const isSilent = records.length < entries.length;
  if (records.length === 0) return silence;
  const of = (type: string) =>
    records.flatMap((record) => (type in record ? [record[type] ?? ""] : []));

  // What is published as the retired type SPF stands as TXT too, unless there is TXT, or TXT is "NONE".
  const txt = of("TXT").length > 0 ? of("TXT").filter((value) => value !== "NONE") : of("SPF");
  const supportedTypes: Records = {
    A: of("A").map(String),
    AAAA: of("AAAA").map(String),
    MX: of("MX").map(([preference, exchange]: Value) => `${preference} ${bare(exchange) || "."}`),
    PTR: of("PTR").map(bare),
    CNAME: of("CNAME").map(bare),
    TXT: txt.map((value) => [value].flat().join("")),
  };
  const supported = Object.entries(supportedTypes).map(([type, values]) => [
    type,
    values.length === 0 && isSilent ? silence : values,
  ]);
  return Object.fromEntries(supported.filter(([, values]) => values?.length !== 0)) as Records;
};

const bare = (name: Value | number | undefined): string => String(name ?? "").replace(/\.$/, "");

const CASES = 203;
/** The suite's documents, by their descriptions. */
const DOCUMENTS = [
  "Initial processing",
  "Record lookup",
  "Selecting records",
  "Record evaluation",
  "ALL mechanism syntax",
  "PTR mechanism syntax",
  "A mechanism syntax",
  "Include mechanism semantics and syntax",
  "MX mechanism syntax",
  "EXISTS mechanism syntax",
  "IP4 mechanism syntax",
  "IP6 mechanism syntax",
  "Semantics of exp and other modifiers",
  "Macro expansion rules",
  "Processing limits",
  "Test cases from implementation bugs",
];

/** The suite's word for an explanation that is the receiver's own; ours has none then. */
const DEFAULT = "DEFAULT";

const whenChecked = async (dns: Dns, { host, helo, mailfrom }: Case) => {
  const domain = mailfrom.slice(mailfrom.lastIndexOf("@") + 1) || helo;
  const evaluation = await evaluateSpf(dns, { ip: host, domain, sender: mailfrom, helo });
  return { result: evaluation.result, explanation: evaluation.explanation ?? DEFAULT };
};

const getExpected = ({ result, explanation }: Case) => ({
  result: expect.toBeOneOf([result].flat()),
  ...(explanation !== undefined && { explanation }),
});

const expectedOfAll = (document: Document) =>
  Object.fromEntries(Object.entries(document.tests).map(([name, one]) => [name, getExpected(one)]));

const whenAllChecked = async (dns: Dns, document: Document) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(document.tests).map(async ([name, one]) => [
        name,
        await whenChecked(dns, one),
      ]),
    ),
  );

createDescribe("spfCases", "the RFC 7208 test suite", (read) => {
  const readDocuments = () => JSON.parse(read()) as readonly Document[];
  const readDocument = (description: string): Document => {
    const found = readDocuments().find((one) => one.description === description);
    if (found === undefined) throw new Error(`the suite has no document "${description}"`);
    return found;
  };

  test(`the suite contains all ${CASES} cases`, () => {
    const documents = readDocuments();

    expect(documents.map(({ description }) => description)).toEqual(DOCUMENTS);
    expect(documents.flatMap(({ tests }) => Object.keys(tests))).toHaveLength(CASES);
  });

  test.each(DOCUMENTS)(
    "the evaluation in memory returns the results of %s",
    async (description) => {
      const document = readDocument(description);

      const found = await whenAllChecked(
        createZoneDns(toZone(document.zonedata, "TIMEOUT")),
        document,
      );

      expect(found).toMatchObject(expectedOfAll(document));
    },
  );

  // Here a server that is silent says SERVFAIL instead, which comes to the same and takes no seconds.
  test.each(DOCUMENTS)(
    "the evaluation over real sockets returns the results of %s",
    async (description) => {
      const document = readDocument(description);
      const server = await serveZone(toZone(document.zonedata, "SERVFAIL"));
      const dns = createResolverPool({
        servers: [server.address],
        packetsPerSecond: 10_000,
      });
      onTestFinished(async () => {
        dns.close();
        await server.close();
      });

      const found = await whenAllChecked(dns, document);

      expect(found).toMatchObject(expectedOfAll(document));
    },
  );
});
