import type { Domain } from "./settings.ts";

/** SST creates the certificate and the DNS records in Route 53. An operator with an own certificate creates the records. */
export const toSstDomain = ({ name, certificate }: Domain) =>
  certificate === null ? name : { name, dns: false as const, cert: certificate };
