/** The resource that an endpoint or a worker accesses. The IAM policy of its Lambda grants these needs and nothing more. */
export type Need =
  | "table:read"
  | "table:readwrite"
  /** The items that a pass over rows uses: no key, no webhook and no check. Its worker parses the replies of mail servers. */
  | "table:rows"
  /** The items of a sign-in by passkey: its Lambda parses what strangers send. */
  | "table:passkeys"
  | "queue:depth"
  | "queue:send"
  | "blobs:read"
  | "blobs:write"
  /** Sessions with mail servers through the prober's Lambda. */
  | "mail"
  /** Sessions with mail servers from this Lambda itself, behind our fixed addresses. */
  | "smtp"
  /** The lists that a verdict depends on. The bundle contains them. */
  | "lists"
  | "dns"
  /** Signs the cursors of its pages. */
  | "cursor"
  /** Hashes addresses and domains in keys of the table. */
  | "activity"
  /** Seals the secrets of webhooks, or signs receipts. */
  | "seal"
  /** Redeems codes at the identity provider, with the client's secret. */
  | "oidc"
  /** Checks passkeys. The bundle contains the library. */
  | "passkeys"
  | "https"
  /** Sends mail through the operator's relay. */
  | "relay";
