// What every bench is held to, in one place: docs/performance.md is written from this and from bench/results/.

/** A figure has a limit on one side. `beside` is who else does it, where somebody told or it is measured with ours. */
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

/** The nine of the design. */
export const GROUPS = {
  oneServer: {
    bench: "engine",
    what: "one mail server that lets in 10 connections and takes 20 ms per reply; all addresses are valid",
    boundBy:
      "The mail server: ten connections that answer every 20 ms take 500 addresses a second. A connection is used for " +
      "a hundred of them, and its first and last words are what is missing to 500. The peers open one for each address.",
  },
  manyServers: {
    bench: "engine",
    what: "a mail server per domain, 500 sessions in flight, 20 ms per reply",
    boundBy:
      "One core: processor time for an address, times addresses a second, is nearly a second. The pretend network has " +
      "the other core.",
  },
  intake: {
    bench: "intake",
    what: "a CSV of 500,000 rows and 66 MB: read, column found, normalised, duplicates removed, cut into chunks",
    boundBy:
      "One core. A line of JSON for each row takes about a third of it, splitting the CSV a quarter, and looking for " +
      "duplicates a fifth: that waits for memory, since a table of all addresses fits no cache. What was written is " +
      "flushed to the disk before the end.",
  },
  accepted: {
    bench: "bulk",
    what: "a file of 500,000 rows: `process` is answered with 202",
    boundBy: "The intake, which is nearly all of it. Whoever else asks meanwhile goes first.",
  },
  bulk: {
    bench: "bulk",
    what: "a file of 500,000 rows: all results can be read, on two cores that the pretend mail network shares",
    boundBy: "Processor time: the service and the pretend network share two cores.",
  },
  export: {
    bench: "export",
    what: "500,000 results as CSV",
    boundBy:
      "One core, which opens pages of results and writes lines. Memory is what V8 lets young objects grow to, and does " +
      "not grow with the rows.",
  },
  cached: {
    bench: "api",
    what: "`POST /v1/verify` from the cache, 50 connections, one account that all of them charge",
    boundBy:
      "One core. Each answer is a transaction that was flushed to the disk, and many share a flush; the load comes from " +
      "the other core.",
  },
  lambdas: {
    bench: "cold-start",
    what: "every HTTP Lambda, but for that of the tools",
    boundBy:
      "What a request needs before its first line runs: compiling and running the bundle of its own endpoint (decision " +
      "31). It is processor time, the least of eleven fresh processes.",
  },
  cost: {
    bench: "cost",
    what: "a million addresses in files, on AWS, without what goes out",
    boundBy:
      "Time in Lambda, which is assumed and not counted, is more than half; then writes of results. docs/costs.md has " +
      "every flow.",
  },
  mostlyDead: {
    bench: "engine",
    what: "the same mail server, and 90 % of the people do not exist (decision 41)",
    boundBy: "",
  },
  engineCare: {
    bench: "engine",
    what: "while it is fast: nobody is pressed, and nobody is judged wrongly",
    boundBy: "",
  },
  bulkCare: {
    bench: "bulk",
    what: "while the file runs: exact counts and money, no host pressed, and others are served",
    boundBy: "",
  },
  fairness: {
    bench: "fairness",
    what: "another account beside a file of 300,000 rows: its batches of ten, and its verifications from no cache",
    boundBy: "",
  },
  cachedCare: {
    bench: "api",
    what: "while it is fast: answers and money are right",
    boundBy: "",
  },
  check: {
    bench: "check",
    what: "a deliverability check, over sockets and without a cache",
    boundBy: "",
  },
  tools: {
    bench: "cold-start",
    what: "the Lambda of the tools (MCP), which has every operation in it",
    boundBy: "",
  },
  doors: { bench: "doors", what: "SQLite, with every write flushed", boundBy: "" },
} as const satisfies Record<string, BudgetGroup>;

export type GroupName = keyof typeof GROUPS;

export const BUDGETS = {
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
  intakeSeconds: { of: "intake", what: "taken in", unit: "seconds", most: 2.5 },
  intakeMemory: { of: "intake", what: "peak memory of the process", unit: "MB", most: 350 },
  accepted: { of: "accepted", what: "process is answered 202", unit: "seconds", most: 6 },
  bulkRate: {
    of: "bulk",
    what: "from process to the last result",
    unit: "addresses/s",
    least: 1_500,
    beside: { who: "SendGrid, as it says itself", value: 350 },
  },
  exportFirst: { of: "export", what: "first byte", unit: "ms", most: 300 },
  exportRate: { of: "export", what: "rows", unit: "per second", least: 100_000 },
  // 134 of them are what V8 lets young objects grow to, however few are alive. All rows as objects would be 1,000.
  exportMemory: { of: "export", what: "memory on top, at its peak", unit: "MB", most: 256 },
  cachedRate: { of: "cached", what: "from the cache", unit: "requests/s", least: 1_500 },
  cachedP99: { of: "cached", what: "99th percentile", unit: "ms", most: 40 },
  lambdaSize: { of: "lambdas", what: "the largest", unit: "KB", most: 300 },
  lambdaImport: { of: "lambdas", what: "the slowest import", unit: "ms", most: 60 },
  costCounted: { of: "cost", what: "counted", unit: "$/million", most: 1 },
  costAll: { of: "cost", what: "with calls and Lambda", unit: "$/million", most: 1 },

  enginePeak: { of: "engineCare", what: "connections to one MX", unit: "at once", most: 10 },
  engineWrong: {
    of: "engineCare",
    what: "situations judged otherwise",
    unit: "situations",
    most: 0,
  },
  falseInvalid: { of: "engineCare", what: "false invalid", unit: "situations", most: 0 },
  falseValid: { of: "engineCare", what: "false valid", unit: "situations", most: 0 },
  bulkExact: {
    of: "bulkCare",
    what: "counts that are not exact, of eight",
    unit: "counts",
    most: 0,
  },
  bulkLaws: { of: "bulkCare", what: "broken laws of money", unit: "laws", most: 0 },
  bulkSessions: { of: "bulkCare", what: "sessions to one mail host", unit: "at once", most: 10 },
  bulkOthersJob: { of: "bulkCare", what: "GET /v1/jobs/{id}, p99", unit: "ms", most: 150 },
  bulkOthersVerify: { of: "bulkCare", what: "POST /v1/verify, cached, p99", unit: "ms", most: 150 },
  fairBatch: { of: "fairness", what: "a batch of ten, p99 of 50", unit: "seconds", most: 5 },
  fairVerify: {
    of: "fairness",
    what: "verifications, p99",
    unit: "of p99 without the file",
    most: 1.5,
  },
  cachedOthers: { of: "cachedCare", what: "answers other than 200", unit: "answers", most: 0 },
  cachedLaws: { of: "cachedCare", what: "broken laws of money", unit: "laws", most: 0 },
  checkFirst: { of: "check", what: "the first of a process", unit: "ms", most: 300 },
  checkMedian: { of: "check", what: "median", unit: "ms", most: 300 },
  checkP99: { of: "check", what: "p99", unit: "ms", most: 300 },
  checkQuestions: { of: "check", what: "questions", unit: "questions", most: 110 },
  checkFewer: {
    of: "check",
    what: "questions where _domainkey does not exist",
    unit: "of those",
    most: 0.5,
  },
  checkSilent: { of: "check", what: "half of the name servers silent", unit: "ms", most: 10_000 },
  toolsSize: { of: "tools", what: "its size", unit: "KB", most: 850 },
  toolsImport: { of: "tools", what: "its import", unit: "ms", most: 150 },
  doorsWrites: {
    of: "doors",
    what: "transactions of two writes, 200 at once",
    unit: "per second",
    least: 5_000,
  },
  doorsGets: { of: "doors", what: "gets, 200 at once", unit: "per second", least: 20_000 },
} as const satisfies Record<string, Budget>;

export type BudgetName = keyof typeof BUDGETS;
