import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

// Whether an answer is one that the document promises. The judge is Ajv, which knows nothing of our schemas.

export type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
};

/** What is wrong with it, in words; nothing, where it is as documented. */
export type Judge = (method: string, path: string, answered: Answered) => readonly string[];

export const createJudge = (document: any): Judge => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addFormat("idn-email", /^[^@]+@[^@\s]+$|^"[^"]+"@[^@\s]+$/u);
  ajv.addSchema(closed(document), "openapi");
  const compiled = new Map<string, ValidateFunction>();

  const validatorAt = (pointer: string): ValidateFunction => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
    compiled.set(pointer, validate);
    return validate;
  };

  const schemaFaults = (pointer: string, value: unknown): string[] => {
    const validate = validatorAt(pointer);
    if (validate(value)) return [];
    return (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`);
  };

  return (method, path, { status, headers, text }) => {
    const own = `/paths/${escaped(path)}/${method.toLowerCase()}/responses/${status}`;
    const { answer, pointer } = dereferenced(document, own);
    if (!answer) return [`${status} is not documented: ${text.slice(0, 300)}`];
    const type = headers["content-type"]?.split(";")[0] ?? "";
    const missing = Object.keys(answer.headers ?? {})
      .filter((name) => isPromised(name, status, path) && headers[name.toLowerCase()] === undefined)
      .map((name) => `the header ${name} is missing`);
    if (!answer.content) return missing;
    if (!(type in answer.content)) return [...missing, `${type} is not documented`];
    const value: unknown = type === "application/json" ? JSON.parse(text) : text;
    return [...missing, ...schemaFaults(`${pointer}/content/${escaped(type)}/schema`, value)];
  };
};

/** Whether an answer of this status has this header each time, or only where there is something to say. */
const isPromised = (name: string, status: number, path: string): boolean => {
  if (name === "Content-Disposition") return false;
  // A 429 or 503 always says how long to wait.
  if (name === "Retry-After") return status === 429 || status === 503;
  // A failure before the key is known cannot report its allowance; a page of another origin learns nothing about it.
  const isEarly = status === 503 || (status === 403 && path === "/v1/verify/form");
  return !(name.startsWith("X-RateLimit-") && isEarly);
};

/**
 * Callers must bear further fields, so that there may be some one day. What an answer holds today is in the document
 * today: a field that is not is one that slipped out.
 */
const closed = (part: any): any => {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== "object" || part === null) return part;
  const inside = Object.fromEntries(Object.entries(part).map(([name, one]) => [name, closed(one)]));
  const isShape = part.type === "object" && typeof part.properties === "object";
  return isShape ? { additionalProperties: false, ...inside } : inside;
};

const escaped = (part: string): string =>
  encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));

const at = (document: any, pointer: string): any =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((value, part) => value?.[part], document);

const dereferenced = (document: any, pointer: string): { answer: any; pointer: string } => {
  const answer = at(document, pointer);
  return answer?.$ref ? dereferenced(document, answer.$ref.slice(1)) : { answer, pointer };
};
