import { formatCompanyLabel, getCompany, getPeople } from "@mailproof/lab/companies";
import { LAB_FAMILY_NAMES, LAB_GIVEN_NAMES } from "@mailproof/lab/person-names";

/** Reserved for examples (RFC 2606), and below a top-level domain that every engine takes for one. */
export const ZONE = "lab.example.com";

/** Of these every tenth runs a mail server of its own. */
export const COMPANIES = 20_000;
const PER_DOMAIN = 6;

/** Of the lab's domains with one mail server: one that takes a command at a time, and one that takes several at once. */
export const [PLAIN, PIPELINING] = ["opensmtpd", "valid"];

/** People of one domain with one mail server. */
export const listOneServer = (count: number, domain = PLAIN): readonly string[] =>
  Array.from({ length: count }, (_, index) => {
    const given = LAB_GIVEN_NAMES[index % LAB_GIVEN_NAMES.length];
    const family =
      LAB_FAMILY_NAMES[Math.floor(index / LAB_GIVEN_NAMES.length) % LAB_FAMILY_NAMES.length];
    return `${given}.${family}${Math.floor(index / LAB_GIVEN_NAMES.length / LAB_FAMILY_NAMES.length) || ""}@${domain}.${ZONE}`;
  });

/** The same with so many in a hundred that do not exist, evenly spread. */
export const listMostlyDead = (count: number, deadPercent: number): readonly string[] =>
  listOneServer(count).map((address, index) =>
    (index * deadPercent) % 100 < deadPercent ? `nonexistent.${address}` : address,
  );

/** Six people of each of many domains with a mail server of their own, domain by domain as a chunk has them. */
export const listManyServers = (count: number): readonly string[] => {
  const found: string[] = [];
  for (let number = 1; number <= COMPANIES && found.length < count; number++) {
    const { mailHosts, catchAll } = getCompany(number);
    const domain = `${formatCompanyLabel(number)}.companies`;
    const isOwn = mailHosts.length === 1 && mailHosts[0] === `mx.${domain}`;
    if (!isOwn || catchAll) continue;
    const staff = getPeople(domain).slice(0, PER_DOMAIN);
    found.push(...staff.map(({ local }) => `${local}@${domain}.${ZONE}`));
  }
  return found.slice(0, count);
};
