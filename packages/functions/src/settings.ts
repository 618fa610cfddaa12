// What a deployment tells its Lambdas, in their environment: every name is here, and nothing else reads one. A Lambda
// is told what it needs; where a name is missing, only the door behind it fails, and says so.
//
//   name                     who needs it                     what it is
//   KEY_PEPPER               whoever acts for accounts        keyed into the stored hash of every API key
//   CURSOR_SECRET            whoever acts for accounts        signs the cursors that callers bring back
//   ACTIVITY_KEY             whoever acts for accounts        keyed into what is stored of an address's activity
//   SEALING_KEY              whoever acts for accounts        encrypts the signing secrets of webhooks
//   ACTIVITY_POOL            the same, where it is wanted     shared: accounts see each other's activity
//   SES_ACCOUNT              the worker of activity           whose the events of Amazon SES are that name nobody
//   OAUTH_ISSUER             all, where it is set             whose access tokens open this service
//   OAUTH_AUDIENCE           all, where it is set             the aud of those tokens: the public address of /mcp
//   TABLE_NAME               all                              the one table (aws/table-shape.ts)
//   BUCKET_NAME              needs blobs:…                    the one bucket; its role also needs s3:ListBucket
//   QUEUE_URL_<NAME>         needs queue:send                 where a queue is: QUEUE_URL_CHUNKS, QUEUE_URL_SINGLES, …
//   QUEUE_URL_<NAME>_DEAD    needs queue:depth                where its dead letters are
//   PROBER_FUNCTION          needs mail, outside the VPC      the Lambda that talks to mail servers (workers/prober.ts)
//   SMTP_HELLO, SMTP_FROM    workers in the VPC               how we appear to mail servers
//   SMTP_PROXIES             workers in the VPC               socks5://…, with commas; without it, directly
//   DNS_SERVERS              needs dns or mail                host:port, with commas; without it, the Lambda's own
//   BLOCKLISTS               needs dns                        zones or our ids of them; without it, those we know
//   BLOCKLIST_DNS_SERVERS    needs dns                        others for blocklists, which refuse those of clouds
//   SPAMHAUS_KEY             needs dns                        a key of Spamhaus' data query service
//   BARRACUDA_REGISTERED     needs dns                        yes: our resolvers are registered there
//
// Lambda itself sets AWS_REGION and the credentials. AWS_ENDPOINT_URL_<SERVICE> leads to an emulator.

export type LambdaEnvironment = Readonly<Record<string, string | undefined>>;

export const requireSetting = (environment: LambdaEnvironment, name: string): string => {
  const value = environment[name];
  if (!value) throw new Error(`The setting ${name} is missing.`);
  return value;
};

/** Several values with commas between them. */
export const readList = (environment: LambdaEnvironment, name: string): readonly string[] =>
  (environment[name] ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");

const QUEUE_URL = "QUEUE_URL_";

/** Where a queue is told of: "chunks-dead" in QUEUE_URL_CHUNKS_DEAD. */
export const getQueueSetting = (queue: string): string =>
  `${QUEUE_URL}${queue.toUpperCase().replaceAll("-", "_")}`;

/** Every queue that the environment tells of, by its name. */
export const readQueueUrls = (environment: LambdaEnvironment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, url]) =>
      name.startsWith(QUEUE_URL) && url
        ? [[name.slice(QUEUE_URL.length).toLowerCase().replaceAll("_", "-"), url]]
        : [],
    ),
  );
