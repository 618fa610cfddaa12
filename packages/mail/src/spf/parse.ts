import { type Cidr, parseCidr, parseIp } from "../ip.ts";
import { isDomainSpec, type MacroString, parseMacroString } from "./macro.ts";

/**
 * directive = [ qualifier ] mechanism
 * qualifier = "+" / "-" / "?" / "~"
 * mechanism = ( all / include / a / mx / ptr / ip4 / ip6 / exists )
 */
export type SpfDirective = {
  readonly qualifier: Qualifier;
  readonly mechanism: SpfMechanism;
  readonly term: string;
};

export type Qualifier = "+" | "-" | "?" | "~";

export type SpfMechanism =
  | { readonly kind: "all" }
  | { readonly kind: "include" | "exists"; readonly target: MacroString }
  | { readonly kind: "ptr"; readonly target: MacroString | null }
  | ({ readonly kind: "a" | "mx"; readonly target: MacroString | null } & DualLength)
  | { readonly kind: "ip4" | "ip6"; readonly block: Cidr };

export type DualLength = { readonly length4: number; readonly length6: number };

export type SpfModifier = { readonly target: MacroString; readonly term: string };

/** A syntax error and its place: `at` counts characters from the start of the record. */
export type SpfFault = { readonly fault: SpfFaultName; readonly term: string; readonly at: number };

export type SpfRecord = {
  readonly directives: readonly SpfDirective[];
  readonly redirect: SpfModifier | null;
  readonly exp: SpfModifier | null;
  /** With any fault the record is a permerror for all mail (RFC 7208 §4.6). */
  readonly faults: readonly SpfFault[];
};

/** Every kind of invalid term, with the words that tell the domain's owner the remedy. */
export const FAULTS = {
  unknown_term: "there is no mechanism of this name",
  missing_space: "a space is missing before the last part",
  colon_for_equals: "a modifier is written with = and not with :",
  needs_target: "a domain has to follow",
  bad_target: "what follows is not a domain name of at least two labels",
  address_for_target: "an address stands where a domain belongs; use ip4 or ip6",
  bad_macro: "a % does not start a macro that is allowed here",
  takes_nothing: "nothing may follow after this name",
  bad_ip4: "ip4 needs four decimal numbers of at most 255, with at most one /length of 0 to 32",
  bad_ip6: "ip6 needs an IPv6 address, with at most one /length of 0 to 128",
  bad_length: "a length is /0 to /32 for IPv4 and //0 to //128 for IPv6, without leading zeros",
  repeated_modifier: "this modifier may be given only once",
  bad_character: "there is a character that is not visible ASCII",
} as const;

export type SpfFaultName = keyof typeof FAULTS;

/** version = "v=spf1", followed by a space or the end (RFC 7208 §4.5): v=spf10 is not an SPF record. */
const VERSION = /^v=spf1(?= |$)/i;

export const isSpf = (text: string): boolean => VERSION.test(text);

/**
 * record = version terms *SP
 * terms = *( 1*SP ( directive / modifier ) )
 *
 * Reports every fault, not only the first: the record's owner needs all of them.
 */
export const parseSpf = (text: string): SpfRecord => {
  const directives: SpfDirective[] = [];
  const modifiers = new Map<string, SpfModifier>();
  const faults: SpfFault[] = [];

  for (const { term, at } of splitTerms(text)) {
    const parsed = parseTerm(term);
    if (typeof parsed === "string") faults.push({ fault: parsed, term, at });
    else if ("mechanism" in parsed) directives.push(parsed);
    else if (parsed.name !== "redirect" && parsed.name !== "exp") continue;
    else if (modifiers.has(parsed.name)) faults.push({ fault: "repeated_modifier", term, at });
    else modifiers.set(parsed.name, { target: parsed.target, term });
  }
  return {
    directives,
    redirect: modifiers.get("redirect") ?? null,
    exp: modifiers.get("exp") ?? null,
    faults,
  };
};

const splitTerms = (text: string): readonly { readonly term: string; readonly at: number }[] =>
  [...text.replace(VERSION, "      ").matchAll(/[^ ]+/g)].map((found) => ({
    term: found[0],
    at: found.index,
  }));

/**
 * modifier         = redirect / explanation / unknown-modifier
 * unknown-modifier = name "=" macro-string
 * name             = ALPHA *( ALPHA / DIGIT / "-" / "_" / "." )
 */
type NamedTarget = { readonly name: string; readonly target: MacroString };

const MODIFIER = /^([a-z][a-z\d._-]*)=(.*)$/is;
const DIRECTIVE = /^([-+?~]?)([^:/]*)(.*)$/s;
const INVISIBLE = /[^!-~]/;
/** "ip4:192.0.2.1~all" is so common that it has its own fault. */
const GLUED_ALL = /[a-z\d][-+?~]all$/i;

const parseTerm = (term: string): SpfDirective | NamedTarget | SpfFaultName => {
  if (INVISIBLE.test(term)) return "bad_character";
  const [, name, value = ""] = MODIFIER.exec(term) ?? [];
  if (name !== undefined) return parseModifier(name.toLowerCase(), value);
  const mechanism = parseMechanism(term);
  if (typeof mechanism !== "string") return { qualifier: parseQualifier(term), mechanism, term };
  return GLUED_ALL.test(term) ? "missing_space" : mechanism;
};

// By the grammar, a redirect= without a domain would be an unknown modifier.
const parseModifier = (name: string, value: string): NamedTarget | SpfFaultName => {
  const target = parseMacroString(value, "domain");
  if (!target) return "bad_macro";
  if (name === "redirect" || name === "exp") {
    if (value === "") return "needs_target";
    if (!isDomainSpec(target)) return "bad_target";
  }
  return { name, target };
};

const parseQualifier = (term: string): Qualifier => {
  const [first] = term;
  return first === "-" || first === "~" || first === "?" ? first : "+";
};

const parseMechanism = (term: string): SpfMechanism | SpfFaultName => {
  const [, , name = "", argument = ""] = DIRECTIVE.exec(term) ?? [];
  const kind = name.toLowerCase();
  if (Object.hasOwn(READ, kind)) return (READ[kind] as Reader)(argument);
  const isModifier = kind === "redirect" || kind === "exp";
  return isModifier && argument.startsWith(":") ? "colon_for_equals" : "unknown_term";
};

type Reader = (argument: string) => SpfMechanism | SpfFaultName;

const READ: Readonly<Record<string, Reader>> = {
  all: (argument) => (argument === "" ? { kind: "all" } : "takes_nothing"),
  include: (argument) => createTargetReader(argument, (target) => ({ kind: "include", target })),
  exists: (argument) => createTargetReader(argument, (target) => ({ kind: "exists", target })),
  ptr: (argument) =>
    argument === ""
      ? { kind: "ptr", target: null }
      : createTargetReader(argument, (target) => ({ kind: "ptr", target })),
  a: (argument) => parseLengths("a", argument),
  mx: (argument) => parseLengths("mx", argument),
  ip4: (argument) => parseBlock("ip4", 32, argument),
  ip6: (argument) => parseBlock("ip6", 128, argument),
};

const createTargetReader = (
  argument: string,
  make: (target: MacroString) => SpfMechanism,
): SpfMechanism | SpfFaultName => {
  if (!argument.startsWith(":") || argument === ":") return "needs_target";
  const written = argument.slice(1);
  const target = parseMacroString(written, "domain");
  if (!target) return "bad_macro";
  if (isDomainSpec(target)) return make(target);
  return parseIp(written) ? "address_for_target" : "bad_target";
};

/**
 * dual-cidr-length = [ ip4-cidr-length ] [ "/" ip6-cidr-length ]
 * ip4-cidr-length = "/" ("0" / %x31-39 0*1DIGIT)
 * ip6-cidr-length = "/" ("0" / %x31-39 0*2DIGIT)
 *
 * A domain-spec may contain slashes too, but its last label has none, so the lengths are the slashes at the end.
 */
const LENGTHS = /(?:\/(\d+))?(?:\/\/(\d+))?$/;

const parseLengths = (kind: "a" | "mx", argument: string): SpfMechanism | SpfFaultName => {
  const [lengths = "", text4, text6] = LENGTHS.exec(argument) ?? [];
  const length4 = parseLength(text4, 32);
  const length6 = parseLength(text6, 128);
  if (length4 === undefined || length6 === undefined) return "bad_length";
  const targetText = argument.slice(0, argument.length - lengths.length);
  if (targetText === "") return { kind, target: null, length4, length6 };
  if (targetText.startsWith("/")) return "bad_length";
  return createTargetReader(targetText, (target) => ({ kind, target, length4, length6 }));
};

const DECIMAL = /^(?:0|[1-9]\d{0,2})$/;

const parseLength = (text: string | undefined, most: number): number | undefined => {
  if (text === undefined) return most;
  return DECIMAL.test(text) && Number(text) <= most ? Number(text) : undefined;
};

const parseBlock = (kind: "ip4" | "ip6", bits: 32 | 128, argument: string) => {
  const block = argument.startsWith(":") ? parseCidr(argument.slice(1)) : undefined;
  return block?.base.bits === bits ? { kind, block } : (`bad_${kind}` as const);
};

/** Lists the domains that a domain's SPF includes, read from its TXT records, without names that have a macro. */
export const listIncludes = (texts: readonly string[]): readonly string[] =>
  texts
    .filter(isSpf)
    .flatMap((text) => text.split(/\s+/))
    .flatMap((term) => /^[+?~-]?(?:include:|redirect=)([^%\s]+)$/i.exec(term)?.[1] ?? []);

/** Tells whether a record allows no host to send: "v=spf1 -all" and nothing else. */
export const sendsNothing = (record: string | null): boolean =>
  /^v=spf1\s+-all\s*$/i.test(record ?? "");
