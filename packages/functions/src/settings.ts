// The environment of the Lambdas: every name is here, and no other file reads one. A Lambda gets the names that it
// needs; when one is missing, only the port that needs it fails, with its name.
//
//   name                     who needs it                     what it is
//   KEY_PEPPER               checks keys                      key of the stored hash of every API key
//   FRONT_SECRET             checks keys, behind CloudFront   proves that a request came through CloudFront
//   CURSOR_SECRET            needs cursor                     signs pagination cursors
//   ACTIVITY_KEY             needs activity                   key for hashing stored activity
//   SEALING_KEY              needs seal                       seals secrets; makes the keys of receipts
//   …_BEFORE                 as the secret, if set            the value before of each of these secrets but FRONT_SECRET
//   ACTIVITY_POOL            acts for accounts, if set        shared: accounts see each other's activity
//   MAIL_DOMAIN              acts for accounts, if set        domain of the addresses that Amazon SES receives mail for
//   MAIL_FROM                acts for accounts, if set        address that this service's mails come from
//   SMTP_URL, PUBLIC_URL     needs relay                      the relay of those mails, and where their links lead
//   SES_ACCOUNT              the activity worker              account of SES events without an account tag
//   OAUTH_ISSUER             all, if set                      issuer whose access tokens are accepted
//   OAUTH_AUDIENCE           all, if set                      the aud of those tokens: the public URL of /mcp
//   OIDC_ISSUER              all, if set                      identity provider that people sign in with
//   OIDC_CLIENT_ID           all, if set                      this service's name at the provider
//   OIDC_CLIENT_SECRET       needs oidc, if set               its secret there
//   POWERTOOLS_SERVICE_NAME  all                              app and stage, in every log line and metric
//   TABLE_NAME               all                              the one table (aws/table-shape.ts)
//   BUCKET_NAME              needs blobs:… or uploads:remove  the one bucket; its role also needs s3:ListBucket
//   QUEUE_URL_<NAME>         needs queue:send                 URL of a queue: QUEUE_URL_CHUNKS, QUEUE_URL_SINGLES, …
//   QUEUE_URL_<NAME>_DEAD    needs queue:depth                URL of its dead-letter queue
//   PROBER_FUNCTION          needs mail, outside the VPC      the Lambda that talks to mail servers (workers/prober.ts)
//   SMTP_HELLO, SMTP_FROM    workers in the VPC               our name and sender for mail servers
//   PROBE_POLICY             workers in the VPC, if set       provider=yes|careful|never, separated by commas
//   WITNESSES                workers in the VPC, if set       mailboxes of ours that exist, separated by commas
//   SMTP_PROXIES             workers in the VPC               socks5://…, separated by commas; default: none
//   DNS_SERVERS              needs dns or mail                host:port, separated by commas; default: the Lambda's
//   BLOCKLISTS               needs dns                        zones or ids; default: the built-in lists
//   BLOCKLIST_DNS_SERVERS    needs dns                        resolvers for blocklists, which refuse those of clouds
//   DKIM_SELECTORS           needs dns                        selectors to ask about at every domain; default: none
//   SPAMHAUS_KEY             needs dns                        a key of Spamhaus' data query service
//   BARRACUDA_REGISTERED     needs dns                        yes: our resolvers are registered there
//
// Lambda itself sets AWS_REGION, the credentials and _X_AMZN_TRACE_ID. AWS_ENDPOINT_URL_<SERVICE> points to an emulator.

export type LambdaEnvironment = Readonly<Record<string, string | undefined>>;

/** Begins the value of a secret that a Lambda does not need (infra/iam.ts). */
export const WITHHELD = "withheld:";

export const requireSetting = (environment: LambdaEnvironment, name: string): string => {
  const value = environment[name];
  if (!value || value.startsWith(WITHHELD)) throw new Error(`The setting ${name} is missing.`);
  return value;
};

/** Several values with commas between them. */
export const readList = (environment: LambdaEnvironment, name: string): readonly string[] =>
  (environment[name] ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");

const QUEUE_URL = "QUEUE_URL_";

/** The setting with a queue's URL: "chunks-dead" is in QUEUE_URL_CHUNKS_DEAD. */
export const getQueueSetting = (queue: string): string =>
  `${QUEUE_URL}${queue.toUpperCase().replaceAll("-", "_")}`;

/** The queue URLs of the environment, by queue name. */
export const readQueueUrls = (environment: LambdaEnvironment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, url]) =>
      name.startsWith(QUEUE_URL) && url
        ? [[name.slice(QUEUE_URL.length).toLowerCase().replaceAll("_", "-"), url]]
        : [],
    ),
  );
