import { gzipSync } from "node:zlib";
import {
  BEGIN,
  createDmarcReport,
  createRecord,
  createTlsReport,
} from "../../../things/made-reports.ts";

// Reports with a fault where no sum needs it. The first five are what real reporters send; the others are of their kind.

/** Sums that a wrong reading would miss: two sources, one of them in two records, and mail that is not aligned. */
const RECORDS = [
  createRecord({ count: 3 }),
  createRecord({ count: 4, dkim: "fail" }),
  createRecord({ ip: "198.51.100.7", count: 20, dkim: "fail", spf: "fail", auth: "" }),
];

/** Of each source: messages, and those that are aligned by SPF, by DKIM, and by either. */
export const FAULTY_REPORT_SUMS = [
  { ip: "198.51.100.7", messages: 20, spfAligned: 0, dkimAligned: 0, aligned: 0 },
  { ip: "192.0.2.1", messages: 7, spfAligned: 7, dkimAligned: 3, aligned: 7 },
];

type Fields = Parameters<typeof createDmarcReport>[0];
const create = (fields: Fields = {}): string => createDmarcReport({ records: RECORDS, ...fields });

const xml = create();
const before = (element: string, text: string): string =>
  xml.replace(`<${element}>`, `${text}<${element}>`);
const inText = (...bytes: readonly number[]): Buffer => {
  const [head = "", tail = ""] = create({ reporter: "M@@ller" }).split("@@");
  return Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);
};
const SCHEMA = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="x">';
const METADATA = "feedback.report_metadata";

/** What it is, the file, and what is noted about it. */
export const FAULTY_REPORTS: readonly (readonly [
  name: string,
  file: string | Buffer,
  note: string,
])[] = [
  [
    "two bytes after the end of its gzip file",
    Buffer.concat([gzipSync(xml), Buffer.from("\r\n")]),
    "file has bytes after the end of its gzip file",
  ],
  [
    "a schema before it that is not closed",
    before("feedback", SCHEMA),
    "file has the element schema before it",
  ],
  ["one byte of Latin-1 in UTF-8", inText(0xfc), "file is not UTF-8 text throughout"],
  [
    "an address in angle brackets",
    xml.replace("noreply@receiver.example", "<noreply@receiver.example>"),
    `${METADATA}.email has a tag <noreply@receiver.example> that does not end`,
  ],
  [
    "a begin in 1979, as the sample of RFC 9990",
    create({ begin: 302_832_000 }),
    `${METADATA}.date_range is longer than 31 days`,
  ],

  [
    "a gzip file with a name, a comment and text behind it",
    Buffer.concat([
      Buffer.from([0x1f, 0x8b, 8, 0x18, 0, 0, 0, 0, 0, 3]),
      Buffer.from("a.xml\0note\0"),
      gzipSync(xml).subarray(10),
      Buffer.from("text"),
    ]),
    "file has bytes after the end of its gzip file",
  ],
  [
    "a schema inside of it that is not closed",
    before("report_metadata", SCHEMA),
    "feedback has a tag <xs:schema xmlns",
  ],
  [
    "another element behind it",
    `${xml}<signature>x</signature>`,
    "feedback has the element signature behind it",
  ],
  ["NUL bytes behind it", `${xml}\0\0\0`, "file has text outside of its elements"],
  ...["UTF-7", "constructor", "x-mac-klingon"].map(
    (encoding) =>
      [
        `the encoding ${encoding}`,
        create({ head: `<?xml version="1.0" encoding="${encoding}"?>` }),
        `file is in the encoding ${encoding}`,
      ] as const,
  ),
  [
    "an ampersand in its reporter's name",
    create({ reporter: "A&B Mail" }),
    `${METADATA}.org_name is no XML that is read (the entity &B Mail)`,
  ],
  ["an end without a beginning", `</feedback>${xml}`, "file has a tag </feedback> outside of"],
  [
    "an entity that nothing defines",
    create({ reporter: "&company;" }),
    `${METADATA}.org_name is no XML that is read (the entity &company;)`,
  ],
  [
    "tags that overlap",
    create({ reporter: "<b>Receiver</org_name></b><org_name>" }),
    `${METADATA}.org_name.b ends with </org_name>`,
  ],
  [
    "an ampersand in a comment",
    xml.replace("<identifiers>", "<comment>R&D</comment><identifiers>"),
    "feedback.record.comment is no XML that is read (the entity &D)",
  ],
  ["no id", create().replace(/<report_id>.*<\/report_id>/, ""), `${METADATA}.report_id is missing`],
  [
    "an id of 5,000 characters",
    create({ id: "x".repeat(5_000) }),
    `${METADATA}.report_id is over 1000 characters`,
  ],
  [
    "a name of a megabyte",
    create({ reporter: "a".repeat(1_000_000) }),
    `${METADATA}.org_name is over 10000 characters`,
  ],
  [
    "no organisation and no address",
    create().replace(/<org_name>.*<\/email>/, ""),
    `${METADATA}.org_name is missing`,
  ],
  ...["-1", "NaN", "1.7e9", "2026-03-01"].map(
    (begin) =>
      [
        `the begin ${begin}`,
        create({ begin }),
        `${METADATA}.date_range.begin must be a time in seconds`,
      ] as const,
  ),
  [
    "a begin in milliseconds",
    create({ begin: BEGIN * 1_000 }),
    `${METADATA}.date_range.begin must be a time between 1970 and 2100`,
  ],
  [
    "a range that ends before it begins",
    create({ begin: BEGIN + 10 * 86_400 }),
    `${METADATA}.date_range ends before it begins`,
  ],
];

export const FAULTY_TLS_REPORTS: readonly (readonly [name: string, file: string, note: string])[] =
  [
    ["no id", JSON.stringify(createTlsReport({ "report-id": undefined })), "report-id is missing"],
    [
      "a number for its organisation",
      JSON.stringify(createTlsReport({ "organization-name": 5 })),
      "organization-name is missing",
    ],
    [
      "an end that is a day",
      JSON.stringify(
        createTlsReport({
          "date-range": { "start-datetime": "2026-03-01T00:00:00Z", "end-datetime": "2026-03-01" },
        }),
      ),
      "date-range.end-datetime must be a time such as",
    ],
  ];
