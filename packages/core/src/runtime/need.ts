/** What an endpoint or a worker accesses. The IAM policy of its Lambda grants this and nothing more. */
export type Need =
  | "table:read"
  | "table:readwrite"
  | "queue:depth"
  | "queue:send"
  | "blobs:read"
  | "blobs:write"
  /** Mail servers, by a Lambda that has their port. */
  | "mail"
  /** Mail servers themselves: the Lambda is behind our fixed addresses. */
  | "smtp"
  /** The lists that a verdict is judged by. They are in the bundle. */
  | "lists"
  | "dns"
  | "https";
