/** Why a delivery failed and what to do, by the codes of docs/webhooks.md. */
const SENTENCES: Readonly<Record<string, string>> = {
  timeout: "The address did not respond within 10 seconds. Respond first, and work afterwards.",
  connect_timeout: "No connection was made within 5 seconds. Check the host and its firewall.",
  connect_refused: "The host refuses the connection. Check that your receiver runs on this port.",
  unreachable: "The host cannot be reached. Check its network and its firewall.",
  closed: "The connection was closed before the response was complete. Check your receiver's log.",
  not_http: "The response is not HTTP. Check the port of the address.",
  internal: "This service had no free connection. The delivery is retried automatically.",
  tls_failed:
    "There is no TLS, or its certificate is not valid for this name. Renew the certificate.",
  name_not_found: "The name of the host has no address. Check the spelling of the address.",
  dns_failed: "DNS did not respond for the name of the host. Check its name servers.",
  private_address: "The name leads to a private address, which is not called. Use a public one.",
  port_not_allowed: "This port is not called. Use one that the operator allows, such as 443.",
  webhook_deleted: "The webhook was deleted.",
  webhook_disabled: "The webhook is disabled. Enable it, then send again.",
  secret_unreadable: "The signing secret can no longer be read. Replace the secret.",
};

/** The code where it is not known here. */
export const toFaultSentence = (error: string | null): string =>
  error === null ? "There was no response." : (SENTENCES[error] ?? `The reason is ${error}.`);
