import type { HostTarget, LabDomains } from "./domain.ts";
import { acceptAll, acceptExisting } from "./host-behavior.ts";

const KNOWS_USERS: HostTarget = { rcpt: acceptExisting() };

const createHostsAt = (address: string) => ({ mx: { address } });

export const dnsDomains: LabDomains = {
  nullmx: {
    shows: "Has a null MX: it accepts no mail (RFC 7505).",
    examples: [["ada.lovelace", "invalid", "null_mx"]],
    mx: [[0, ""]],
  },
  aonly: {
    shows: "Has no MX, only an address: the implicit MX of RFC 5321 §5.1.",
    mx: [],
    hosts: { "@": KNOWS_USERS },
  },
  nomail: {
    shows: "Exists, with neither an MX nor an address.",
    examples: [["ada.lovelace", "invalid", "no_mail_host"]],
    mx: [],
    records: { TXT: ["nothing to see here"] },
  },
  nxdomain: {
    shows: "Does not exist.",
    examples: [["ada.lovelace", "invalid", "domain_not_found"]],
    records: "NXDOMAIN",
  },
  servfail: {
    shows: "Its name servers fail: SERVFAIL.",
    examples: [["ada.lovelace", "unknown", "dns_inconclusive"]],
    records: "SERVFAIL",
  },
  dnsrefused: {
    shows: "Its name servers refuse the query: REFUSED.",
    examples: [["ada.lovelace", "unknown", "dns_inconclusive"]],
    records: "REFUSED",
  },
  dnstimeout: {
    shows: "Its name servers never respond.",
    examples: [["ada.lovelace", "unknown", "dns_inconclusive"]],
    records: "TIMEOUT",
  },
  mxservfail: {
    shows: "Has an address, but the MX query fails.",
    examples: [["ada.lovelace", "unknown", "dns_inconclusive"]],
    mx: [],
    hosts: { "@": KNOWS_USERS },
    records: { MX: "SERVFAIL" },
  },
  mxhostfail: {
    shows: "Has an MX whose address cannot be looked up: SERVFAIL.",
    examples: [["ada.lovelace", "unknown", "dns_inconclusive"]],
    mx: [[10, "mx"]],
    hosts: { mx: { fails: "SERVFAIL" } },
  },
  mxgone: {
    shows: "Names a mail host that does not exist.",
    examples: [["ada.lovelace", "invalid", "no_mail_host"]],
    mx: [[10, "gone"]],
  },
  mxcname: {
    shows: "Its MX points to a CNAME, which RFC 2181 forbids.",
    mx: [[10, "alias"]],
    hosts: { alias: { cname: "mx" }, mx: KNOWS_USERS },
  },
  cname: {
    shows: "Is a CNAME of the domain `valid`.",
    aliasOf: "valid",
  },
  mxmany: {
    shows: "Has too many MX records for a UDP response.",
    mx: Array.from({ length: 30 }, (_, index) => [
      index === 0 ? 10 : 20 + index,
      index === 0 ? "mx" : `spare-mail-exchanger-${index}`,
    ]),
    hosts: { mx: KNOWS_USERS },
  },
  mxprivate: {
    shows: "Its MX has an address of a private network, 10.0.0.1.",
    examples: [["ada.lovelace", "invalid", "mx_unroutable"]],
    hosts: createHostsAt("10.0.0.1"),
  },
  mxloopback: {
    shows: "Its MX has the address 127.0.0.1.",
    examples: [["ada.lovelace", "invalid", "mx_unroutable"]],
    hosts: createHostsAt("127.0.0.1"),
  },
  mxmetadata: {
    shows: "Its MX has the address of a cloud's metadata service.",
    examples: [["ada.lovelace", "invalid", "mx_unroutable"]],
    hosts: createHostsAt("169.254.169.254"),
  },
  mxmapped: {
    shows: "Its MX has 10.0.0.1 as the IPv4-mapped IPv6 address ::ffff:10.0.0.1.",
    examples: [["ada.lovelace", "invalid", "mx_unroutable"]],
    hosts: createHostsAt("::ffff:10.0.0.1"),
  },
  mxmixed: {
    shows: "Its first MX is private; the second works.",
    mx: [
      [10, "inside"],
      [20, "mx"],
    ],
    hosts: { inside: { address: "192.168.1.25" }, mx: KNOWS_USERS },
  },
  nolisting: {
    shows: "Its first MX refuses connections; the second works.",
    mx: [
      [10, "dead"],
      [20, "mx"],
    ],
    hosts: { dead: "closed", mx: KNOWS_USERS },
  },
  secondbad: {
    shows: "Its first MX greets with 421; the second proves presence, not absence.",
    examples: [
      ["ada.lovelace", "valid", "accepted"],
      ["unknown.person", "unknown", "server_error"],
    ],
    mx: [
      [10, "busy"],
      [20, "mx"],
    ],
    hosts: {
      busy: { rcpt: acceptExisting(), greeting: "421 4.3.2 HOST Service not available" },
      mx: KNOWS_USERS,
    },
  },
  backupaccepts: {
    shows: "Its first MX greets with 421; the backup accepts everybody.",
    examples: [["ada.lovelace", "unknown", "server_refuses"]],
    mx: [
      [10, "busy"],
      [20, "mx"],
    ],
    hosts: {
      busy: { rcpt: acceptExisting(), greeting: "421 HOST All server ports are busy" },
      mx: { rcpt: acceptAll },
    },
  },
  refused: {
    shows: "Its only MX refuses connections.",
    examples: [["ada.lovelace", "unknown", "connect_failed"]],
    hosts: { mx: "closed" },
  },
};
