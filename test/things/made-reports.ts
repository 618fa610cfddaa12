import { crc32, deflateRawSync } from "node:zlib";

// Reports in the shapes that receivers send, made here. Nothing in them is of a real report.

type MadeRecord = {
  readonly ip?: string;
  readonly count?: number | string;
  readonly disposition?: string;
  readonly dkim?: string;
  readonly spf?: string;
  readonly reasons?: readonly string[];
  readonly from?: string;
  /** Complete elements. */
  readonly auth?: string;
};

export const createRecord = ({
  ip = "192.0.2.1",
  count = 1,
  disposition = "none",
  dkim = "pass",
  spf = "pass",
  reasons = [],
  from = "example.com",
  auth = `<dkim><domain>${from}</domain><result>pass</result></dkim><spf><domain>${from}</domain><result>pass</result></spf>`,
}: MadeRecord = {}): string =>
  `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf>${reasons
    .map((reason) => `<reason><type>${reason}</type><comment/></reason>`)
    .join(
      "",
    )}</policy_evaluated></row><identifiers><header_from>${from}</header_from></identifiers><auth_results>${auth}</auth_results></record>`;

type MadeReport = {
  readonly reporter?: string;
  readonly id?: string;
  readonly domain?: string;
  readonly begin?: number | string;
  readonly end?: number | string;
  readonly policy?: string;
  readonly records?: readonly string[];
  readonly head?: string;
};

/** 2026-03-01, a Sunday. */
export const BEGIN = 1_772_323_200;

export const createDmarcReport = ({
  reporter = "google.com",
  id = "1234567890",
  domain = "example.com",
  begin = BEGIN,
  end = BEGIN + 86_399,
  policy = "<adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct>",
  records = [createRecord()],
  head = '<?xml version="1.0" encoding="UTF-8" ?>\n',
}: MadeReport = {}): string =>
  `${head}<feedback><report_metadata><org_name>${reporter}</org_name><email>noreply@receiver.example</email><report_id>${id}</report_id><date_range><begin>${begin}</begin><end>${end}</end></date_range></report_metadata><policy_published><domain>${domain}</domain>${policy}</policy_published>${records.join("")}</feedback>`;

export const createTlsReport = (fields: Readonly<Record<string, unknown>> = {}) => ({
  "organization-name": "Receiver Inc.",
  "date-range": {
    "start-datetime": "2026-03-01T00:00:00Z",
    "end-datetime": "2026-03-01T23:59:59Z",
  },
  "contact-info": "smtp-tls-reporting@receiver.example",
  "report-id": "2026-03-01T00:00:00Z_example.com",
  policies: [createTlsPolicy()],
  ...fields,
});

export const createTlsPolicy = (fields: Readonly<Record<string, unknown>> = {}) => ({
  policy: {
    "policy-type": "sts",
    "policy-string": ["version: STSv1", "mode: testing", "mx: mx.example.com", "max_age: 86400"],
    "policy-domain": "example.com",
    "mx-host": ["mx.example.com"],
  },
  summary: { "total-successful-session-count": 100, "total-failure-session-count": 3 },
  "failure-details": [
    {
      "result-type": "certificate-expired",
      "sending-mta-ip": "192.0.2.9",
      "receiving-mx-hostname": "mx.example.com",
      "failed-session-count": 3,
    },
  ],
  ...fields,
});

type ZipPart = {
  readonly name: string;
  readonly content: Uint8Array | string;
  readonly isStored?: boolean;
  readonly crc?: number;
  readonly flags?: number;
  readonly method?: number;
};

export const createZip = (...parts: readonly ZipPart[]): Buffer => {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const part of parts) {
    const { name, isStored = false, flags = 0 } = part;
    const content = Buffer.from(part.content as string);
    const packed = isStored ? content : deflateRawSync(content);
    const crc = part.crc ?? crc32(content);
    const method = part.method ?? (isStored ? 0 : 8);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(flags, 6);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(Buffer.byteLength(name), 26);
    files.push(local, Buffer.from(name), packed);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(crc, 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(Buffer.byteLength(name), 28);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, listed, end]);
};
