import { parseLiteral } from "../address-literal.ts";
import { type Dns, getRecords, isFault } from "../dns/dns.ts";
import { analyseReverseDns, type ReverseDns } from "../dns/reverse-dns.ts";
import { isDomain, parseDomain } from "../domain.ts";
import { isSameIp, parseIp } from "../ip.ts";
import type { ReceivedMessage } from "./received-message.ts";

export type HeloCheck = {
  readonly name: string;
  readonly kind: "name" | "literal" | "invalid";
  readonly resolves: boolean | null;
  readonly isConfirmed: boolean | null;
};

export type ClientCheck = {
  readonly reverseDns: ReverseDns;
  readonly helo: HeloCheck;
};

export const checkClient = async (
  dns: Dns,
  { ip, helo }: Pick<ReceivedMessage, "ip" | "helo">,
): Promise<ClientCheck> => {
  const [reverseDns, heloCheck] = await Promise.all([
    analyseReverseDns(dns, ip),
    checkHelo(dns, helo, ip),
  ]);
  return { reverseDns, helo: heloCheck };
};

const checkHelo = async (dns: Dns, name: string, ip: string): Promise<HeloCheck> => {
  const client = parseIp(ip);
  const literal = /^\[(.+)\]$/.exec(name)?.[1];
  if (literal !== undefined) {
    const isConfirmed = client !== undefined && isSameIp(parseLiteralIp(literal), client);
    return { name, kind: "literal", resolves: isConfirmed, isConfirmed };
  }
  const parsed = parseDomain(name);
  if (!isDomain(parsed)) return { name, kind: "invalid", resolves: false, isConfirmed: false };
  const answers = await Promise.all([dns("A", parsed.ascii), dns("AAAA", parsed.ascii)]);
  const found = answers.flatMap((answer) => getRecords(answer));
  const isConfirmed = client !== undefined && found.some((text) => isSameIp(parseIp(text), client));
  const isOpen = answers.some(isFault);
  return {
    name,
    kind: "name",
    resolves: found.length === 0 && isOpen ? null : found.length > 0,
    isConfirmed: !isConfirmed && isOpen ? null : isConfirmed,
  };
};

const parseLiteralIp = (text: string) => parseIp(parseLiteral(text)?.ip ?? "");
