import type { Domain } from "./settings.ts";

/** SST makes the certificate and the records of a zone in Route 53; with a certificate of one's own, one makes the records. */
export const toSstDomain = ({ name, certificate }: Domain) =>
  certificate === null ? name : { name, dns: false as const, cert: certificate };
