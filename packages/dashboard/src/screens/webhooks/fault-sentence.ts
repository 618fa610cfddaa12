const SENTENCES: Readonly<Record<string, string>> = {
  timeout: "The address did not respond within 10 seconds. Respond first, then do the work.",
  connect_timeout: "No connection was made within 5 seconds. Check the host and its firewall.",
  connect_refused: "The host refuses the connection. Check that your receiver runs on this port.",
  unreachable: "The host cannot be reached. Check its network and its firewall.",
  closed: "The connection was closed before the response was complete. Check your receiver's log.",
  not_http: "The response is not HTTP. Check the port of the address.",
  internal: "This service had no free connection. The delivery is retried automatically.",
  tls_failed:
    "The host has no TLS, or its certificate is not valid for this name. Renew the certificate.",
  name_not_found: "The host name has no IP address. Check its spelling.",
  dns_failed: "DNS did not answer for the host name. Check its name servers.",
  private_address:
    "The name resolves to a private address, which we do not call. Use a public one.",
  port_not_allowed: "We do not call this port. Use one that the operator allows, such as 443.",
  webhook_deleted: "The webhook was deleted.",
  webhook_disabled: "The webhook is disabled. Enable it, then send again.",
  secret_unreadable: "The signing secret can no longer be read. Replace the secret.",
};

export const toFaultSentence = (error: string | null): string =>
  error === null ? "There was no response." : (SENTENCES[error] ?? `The reason is ${error}.`);
