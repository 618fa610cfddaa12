// What every bench is held to, in one place: docs/performance.md is written from this and from bench/results.json.

/** A figure has a limit on one side. `beside` is what else does it, where that is published or is measured with ours. */
export type Budget = {
  readonly of: GroupName;
  readonly what: string;
  readonly unit: string;
  readonly least?: number;
  readonly most?: number;
  readonly beside?: { readonly who: string; readonly value: number };
};

export type BudgetGroup = {
  readonly bench: string;
  readonly what: string;
  /** What the figure would need more of to be better. */
  readonly boundBy: string;
};

export const GROUPS = {
  oneServer: {
    bench: "engine",
    what: "one mail server with 10 connections, 20 ms per reply and no PIPELINING; all addresses are valid",
    boundBy:
      "The mail server: ten connections with a reply every 20 ms allow 500 addresses a second. A connection is used for " +
      "a hundred of them; its first and last commands are the difference to 500. The peers open one for each address.",
  },
  manyServers: {
    bench: "engine",
    what: "a mail server per domain, 500 concurrent sessions, 20 ms per reply",
    boundBy:
      "One core: processor time per address, times addresses a second, is nearly a second. The simulated network uses " +
      "the other core.",
  },
  intake: {
    bench: "intake",
    what: "a CSV of 500,000 rows and 66 MB: read, column found, normalised, duplicates removed, cut into chunks",
    boundBy:
      "One core. A line of JSON for each row takes about a third of it, splitting the CSV a quarter, and the search for " +
      "duplicates a fifth, which waits for memory, since a table of all addresses fits no cache. The output is " +
      "flushed to the disk before the end.",
  },
  accepted: {
    bench: "bulk",
    what: "a file of 500,000 rows: `process` returns 202",
    boundBy: "The intake, which is nearly all of it. Other clients' requests go first meanwhile.",
  },
  bulk: {
    bench: "bulk",
    what: "a file of 500,000 rows: all results can be read, on two cores shared with the simulated mail network",
    boundBy: "Processor time: the service and the simulated network share two cores.",
  },
  export: {
    bench: "export",
    what: "500,000 results as CSV",
    boundBy:
      "One core, which reads pages of results and writes lines. Memory is V8's limit for young objects, and does " +
      "not grow with the rows.",
  },
  cached: {
    bench: "api",
    what: "`POST /v1/verify` from the result cache, 50 connections, one account",
    boundBy:
      "One core. Each response is a transaction flushed to the disk, and many share a flush; the load generator uses " +
      "the other core.",
  },
  lambdas: {
    bench: "cold-start",
    what: "every HTTP Lambda except the MCP tools, by what it reaches",
    boundBy:
      "The work before a request's first line runs: compiling and running the bundle of its own endpoint, most of " +
      "which is AWS's SDK. It is processor time, the least of eleven fresh processes.",
  },
  cost: {
    bench: "cost",
    what: "a million addresses in files, on AWS, without egress",
    boundBy:
      "Writes of results, and time in Lambda, as the simulated cluster measures it. At one large provider, whose connections " +
      "are few, Lambda is three quarters. docs/costs.md has every flow.",
  },
  mostlyDead: {
    bench: "engine",
    what: "the same mail server; 90 % of the addresses do not exist",
    boundBy: "",
  },
  engineCare: {
    bench: "engine",
    what: "at that speed: no host over its limit, and no wrong verdict",
    boundBy: "",
  },
  receivers: {
    bench: "receivers",
    what: "receivers as they are documented to answer (docs/receivers.md): verdicts, and sessions into their blocks",
    boundBy: "",
  },
  bulkCare: {
    bench: "bulk",
    what: "while the file runs: exact counts and money, no host over its limit, and other requests are served",
    boundBy: "",
  },
  fairness: {
    bench: "fairness",
    what: "another account beside a file of 300,000 rows: its batches of ten, and its uncached verifications",
    boundBy: "",
  },
  fairnessOnAws: {
    bench: "fairness-on-aws",
    what: "50 accounts' batches of ten beside a file of 500,000 rows on AWS, by a model of SQS",
    boundBy: "",
  },
  exportJson: {
    bench: "export-json",
    what: "500,000 results as JSON: a worker makes the file, and it is downloaded",
    boundBy: "",
  },
  rows: {
    bench: "rows",
    what: "a page of 100 rows of a job of 500,000: `GET /v1/jobs/{id}`, processor time",
    boundBy: "",
  },
  cachedCare: {
    bench: "api",
    what: "at that speed: responses and money are right",
    boundBy: "",
  },
  check: {
    bench: "check",
    what: "a deliverability check, over sockets and without a cache",
    boundBy: "",
  },
  reports: {
    bench: "reports",
    what: "10,000 DMARC reports of 100 records in gzip: unpacked, read and summed, on one core",
    boundBy: "",
  },
  tools: {
    bench: "cold-start",
    what: "the Lambda of the MCP tools, which contains every operation",
    boundBy: "",
  },
  workers: { bench: "cold-start", what: "the Lambdas of queues and schedules", boundBy: "" },
  audit: {
    bench: "audit",
    what: "the audit of an account with 1,000,000 ledger entries in 24 months",
    boundBy: "",
  },
  dashboard: {
    bench: "dashboard",
    what: "the overview of the dashboard in Chromium, from a fresh profile, with a processor slowed down four times",
    boundBy: "",
  },
  ports: { bench: "ports", what: "SQLite, with every write flushed", boundBy: "" },
  floors: {
    bench: "floors",
    what: "processor time beside the least that keeps the same promise (`bench/floors`)",
    boundBy: "",
  },
  growth: {
    bench: "growth",
    what: "processor time with ever more rows, stored jobs and accounts: the most beside the fewest",
    boundBy: "",
  },
} as const satisfies Record<string, BudgetGroup>;

export type GroupName = keyof typeof GROUPS;

export const BUDGETS = {
  // The aims are 2.5 and 2. The limits keep the ratios of a busy machine from growing.
  callFloor: { of: "floors", what: "a cached call", unit: "times its floor", most: 4.5 },
  rowFloor: {
    of: "floors",
    what: "a row of a list at 200 domains",
    unit: "times its floor",
    most: 16,
  },
  rowSessions: { of: "floors", what: "sessions of the list", unit: "per 1,000", most: 40 },
  rowGrowth: { of: "growth", what: "a row, by the length of its list", unit: "times", most: 1.1 },
  jobGrowth: { of: "growth", what: "a cached call, by stored jobs", unit: "times", most: 1.1 },
  accountGrowth: { of: "growth", what: "a cached call, by accounts", unit: "times", most: 1.1 },
  dashboardPaint: { of: "dashboard", what: "largest contentful paint", unit: "ms", most: 1_500 },
  dashboardBytes: { of: "dashboard", what: "sent until then, the data too", unit: "KB", most: 90 },
  oneServerRate: { of: "oneServer", what: "one MX", unit: "addresses/s", least: 420 },
  oneServerSessions: { of: "oneServer", what: "one MX, sessions", unit: "per 1,000", most: 60 },
  deadRate: {
    of: "mostlyDead",
    what: "one MX, few exist",
    unit: "of the rate where all exist",
    least: 0.5,
  },
  deadSessions: {
    of: "mostlyDead",
    what: "one MX, few exist, sessions",
    unit: "per 1,000",
    most: 120,
  },
  manyServersRate: { of: "manyServers", what: "many domains", unit: "addresses/s", least: 4_500 },
  manyServersCpu: { of: "manyServers", what: "many domains, CPU", unit: "ms/address", most: 0.25 },
  intakeSeconds: { of: "intake", what: "intake", unit: "seconds", most: 2.5 },
  intakeMemory: { of: "intake", what: "peak memory of the process", unit: "MB", most: 350 },
  accepted: { of: "accepted", what: "process returns 202", unit: "seconds", most: 6 },
  bulkRate: {
    of: "bulk",
    what: "from process to the last result",
    unit: "addresses/s",
    least: 1_500,
    beside: { who: "SendGrid's own figure", value: 350 },
  },
  exportFirst: { of: "export", what: "first byte", unit: "ms", most: 300 },
  exportRate: { of: "export", what: "rows", unit: "per second", least: 100_000 },
  // 134 of them are what V8 lets young objects grow to, however few are alive. All rows as objects would be 1,000.
  exportMemory: { of: "export", what: "memory on top, at its peak", unit: "MB", most: 256 },
  // On a machine with other work, processor time is up to three times what it is on an idle one.
  exportJsonWork: { of: "exportJson", what: "server's processor time", unit: "seconds", most: 15 },
  // Four times as many bytes, written to a file and read again.
  exportJsonRatio: {
    of: "exportJson",
    what: "the same",
    unit: "of the CSV's processor time",
    most: 2.5,
  },
  rowsSummary: { of: "rows", what: "the counts of all rows", unit: "ms", most: 150 },
  rowsFilter: { of: "rows", what: "filtered by two statuses", unit: "ms", most: 150 },
  rowsScore: { of: "rows", what: "sorted by score", unit: "ms", most: 150 },
  rowsMiddle: { of: "rows", what: "the same, from its middle", unit: "ms", most: 150 },
  rowsEmail: { of: "rows", what: "sorted by address", unit: "ms", most: 150 },
  rowsText: { of: "rows", what: "a text in many addresses", unit: "ms", most: 150 },
  rowsRare: { of: "rows", what: "a text in few addresses", unit: "ms", most: 150 },
  rowsAll: { of: "rows", what: "all of these at once", unit: "ms", most: 150 },
  cachedRate: { of: "cached", what: "from the cache", unit: "requests/s", least: 1_500 },
  cachedP99: { of: "cached", what: "99th percentile", unit: "ms", most: 40 },
  reportsRate: { of: "reports", what: "reports read", unit: "per second", least: 200 },
  reportsHostileMemory: {
    of: "reports",
    what: "memory on top, for hostile files",
    unit: "MB",
    most: 300,
  },
  tableSize: { of: "lambdas", what: "table alone, the largest", unit: "KB", most: 352 },
  documentsSize: { of: "lambdas", what: "the manual with the clients", unit: "KB", most: 590 },
  tableImport: { of: "lambdas", what: "table alone, the slowest import", unit: "ms", most: 60 },
  // The two Lambdas of passkeys carry @simplewebauthn/server, 340 KB. The others stay below 596, with packed lists of 37 and 74 KB.
  reachSize: { of: "lambdas", what: "queue, mail or DNS, the largest", unit: "KB", most: 640 },
  reachImport: {
    of: "lambdas",
    what: "queue, mail or DNS, the slowest import",
    unit: "ms",
    most: 80,
  },
  filesSize: { of: "lambdas", what: "files, the largest", unit: "KB", most: 590 },
  filesImport: { of: "lambdas", what: "files, the slowest import", unit: "ms", most: 95 },
  costCounted: { of: "cost", what: "counted", unit: "$/million", most: 1 },
  costAll: { of: "cost", what: "with calls and Lambda", unit: "$/million", most: 1 },
  // A connection of a large provider takes 50 recipients one after the other, and Lambda is paid while it waits.
  costProvider: {
    of: "cost",
    what: "the same, all at one large provider",
    unit: "$/million",
    most: 2,
  },

  enginePeak: { of: "engineCare", what: "connections to one MX", unit: "at once", most: 10 },
  engineWrong: {
    of: "engineCare",
    what: "situations with another verdict",
    unit: "situations",
    most: 0,
  },
  falseInvalid: { of: "engineCare", what: "false invalid", unit: "situations", most: 0 },
  falseValid: { of: "engineCare", what: "false valid", unit: "situations", most: 0 },
  receiversRight: { of: "receivers", what: "right verdicts", unit: "%", least: 95 },
  receiversFalseInvalid: { of: "receivers", what: "false invalid", unit: "addresses", most: 0 },
  receiversFalseValid: { of: "receivers", what: "false valid", unit: "addresses", most: 0 },
  // Twenty for each receiver that has the client on its list or puts it there.
  receiversIntoBlock: {
    of: "receivers",
    what: "sessions into blocks",
    unit: "sessions",
    most: 20 * 20,
  },
  bulkExact: {
    of: "bulkCare",
    what: "counts that are not exact, of eight",
    unit: "counts",
    most: 0,
  },
  bulkInvariants: { of: "bulkCare", what: "broken money invariants", unit: "invariants", most: 0 },
  bulkSessions: { of: "bulkCare", what: "sessions to one mail host", unit: "at once", most: 10 },
  bulkOthersJob: { of: "bulkCare", what: "GET /v1/jobs/{id}, p99", unit: "ms", most: 150 },
  bulkOthersVerify: { of: "bulkCare", what: "POST /v1/verify, cached, p99", unit: "ms", most: 150 },
  // 900 seconds, which a schedule has on AWS, for 100 million entries.
  auditFirst: { of: "audit", what: "first run, a million entries", unit: "CPU seconds", most: 9 },
  auditLater: {
    of: "audit",
    what: "later run, months closed",
    unit: "CPU seconds",
    most: 2,
  },
  auditMemory: { of: "audit", what: "growth of the process", unit: "MB", most: 200 },
  fairBatch: { of: "fairness", what: "a batch of ten, p99 of 50", unit: "seconds", most: 2 },
  fairVerify: {
    of: "fairness",
    what: "verifications, p99",
    unit: "of p99 without the file",
    most: 5,
  },
  fairFile: { of: "fairness", what: "the file meanwhile", unit: "of its speed alone", least: 0.9 },
  fairAwsBatch: {
    of: "fairnessOnAws",
    what: "a batch of ten, p99 of 50",
    unit: "seconds",
    most: 5,
  },
  fairAwsRatio: {
    of: "fairnessOnAws",
    what: "batches of ten, p99",
    unit: "of p99 without the file",
    most: 3,
  },
  cachedOthers: { of: "cachedCare", what: "responses other than 200", unit: "responses", most: 0 },
  cachedInvariants: {
    of: "cachedCare",
    what: "broken money invariants",
    unit: "invariants",
    most: 0,
  },
  checkFirst: { of: "check", what: "the first of a process", unit: "ms", most: 300 },
  checkMedian: { of: "check", what: "median", unit: "ms", most: 300 },
  checkP99: { of: "check", what: "p99", unit: "ms", most: 300 },
  checkQuestions: { of: "check", what: "queries", unit: "queries", most: 110 },
  checkFewer: {
    of: "check",
    what: "queries if _domainkey does not exist",
    unit: "of those",
    most: 0.5,
  },
  checkSilent: { of: "check", what: "half of the name servers silent", unit: "ms", most: 10_000 },
  toolsSize: { of: "tools", what: "its size", unit: "KB", most: 1_690 },
  toolsImport: { of: "tools", what: "its import", unit: "ms", most: 220 },
  workersSize: { of: "workers", what: "the largest", unit: "KB", most: 852 },
  portsWrites: {
    of: "ports",
    what: "transactions of two writes, 200 at once",
    unit: "per second",
    least: 5_000,
  },
  portsGets: { of: "ports", what: "gets, 200 at once", unit: "per second", least: 20_000 },
} as const satisfies Record<string, Budget>;

export type BudgetName = keyof typeof BUDGETS;
