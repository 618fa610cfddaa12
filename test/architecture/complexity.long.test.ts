import { globSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "vite";
import { expect, test } from "vitest";

// Shapes whose cost grows with the square of what a caller sends or stores: a copy of what was gathered in each step, a
// recursion for each character, and a walk of everything where a part would do.

/** Where something bounds the number of steps: the file and its rule, with the reason. */
const JUSTIFIED: Readonly<Record<string, string>> = {
  "packages/api/src/openapi/schema.ts: copies": "the steps of a schema, once per process",
  "packages/core/src/accounts/account-activity.ts: walks": "only the operator lists all accounts",
  "packages/core/src/calibration/items.ts: copies": "an item has three fates",
  "packages/core/src/erasure/erase-address.ts: copies": "there are a few kinds of what is erased",
  "packages/local/src/storage/sqlite-queue.ts: walks": "only the operator's metrics read it",
  "packages/mail/src/message/parse/parts.ts: recursions": "parts are nested DEPTH_MAX deep",
  "packages/net/src/local-resource-errors.ts: recursions": "causes are followed DEPTH_MAX deep",
};

const files = globSync("packages/*/**/*.{ts,tsx}", {
  exclude: ["**/node_modules/**", "**/dist/**", "**/generated/**"],
});

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, any>
>;

type GetText = (of: Node | undefined) => string;

const LOOPS = new Set([
  "ForStatement",
  "ForOfStatement",
  "ForInStatement",
  "WhileStatement",
  "DoWhileStatement",
]);
const STEPPING = new Set(["reduce", "reduceRight", "forEach", "map", "flatMap", "filter"]);

const isFunction = ({ type }: Node): boolean =>
  ["ArrowFunctionExpression", "FunctionExpression", "FunctionDeclaration"].includes(type);

const listChildren = (node: Node): Node[] =>
  Object.values(node)
    .flat()
    .filter((one) => typeof one?.type === "string");

const getCallee = ({ callee }: Node): string => callee?.property?.name ?? callee?.name ?? "";

/** The texts that are copied whole: `...x` of a literal, and `x.concat(y)`. */
const listCopied = (node: Node, getText: GetText): string[] => {
  if (node.type === "CallExpression" && getCallee(node) === "concat")
    return [getText(node["callee"].object)];
  const parts: Node[] = node["elements"] ?? node["properties"] ?? [];
  const spread = parts.filter((part) => part?.type === "SpreadElement");
  // With fixed names an object does not grow.
  const grows = node["elements"] ?? (spread.length > 1 || parts.some((part) => part["computed"]));
  return grows ? spread.map((part) => getText(part["argument"])) : [];
};

const unwrap = (node: Node): Node =>
  node["expression"] && /^(?:Parenthesized|TS)/.test(node.type) ? unwrap(node["expression"]) : node;

/** What each step of a loop copies of what the steps before gathered. */
const findCopies = (root: Node, getText: GetText): Node[] => {
  const found: Node[] = [];
  /** `step`: the variables of the innermost loop; undefined outside of one. */
  const visit = (node: Node, step: string | undefined, accumulator: string | undefined): void => {
    if (node.type === "AssignmentExpression" && step !== undefined) {
      const [target, value] = [getText(node["left"]), unwrap(node["right"])];
      const isOfStep = step.split(/\W+/).includes(target.split(/\W/)[0] ?? "");
      if (!isOfStep && listCopied(value, getText).includes(target)) found.push(node);
    }
    if (node.type === "CallExpression" && getCallee(node) === "set") {
      const [key, value] = node["arguments"] as Node[];
      const own = key && `${getText(node["callee"].object)}.get(${getText(key)})`;
      if (own && value && listCopied(unwrap(value), getText).some((one) => one.includes(own)))
        found.push(node);
    }
    if (accumulator !== undefined && listCopied(node, getText).includes(accumulator))
      found.push(node);
    for (const child of listChildren(node)) {
      const isStep =
        node.type === "CallExpression" && STEPPING.has(getCallee(node)) && isFunction(child);
      const isBody = LOOPS.has(node.type) && child === node["body"];
      const isReduced = isStep && getCallee(node).startsWith("reduce");
      const own = isReduced && child["params"][0] ? getText(child["params"][0]) : accumulator;
      const inner = isStep
        ? child["params"].map(getText).join()
        : isBody
          ? getText(node["left"])
          : step;
      visit(child, inner, own?.split(":")[0]);
    }
  };
  visit(root, undefined, undefined);
  return found;
};

/** The name of a function where it is declared. */
const getOwnName = (node: Node, getText: GetText): string | undefined => {
  if (node.type === "FunctionDeclaration") return node["id"].name;
  const isDeclared = node.type === "VariableDeclarator" && node["init"] && isFunction(node["init"]);
  return isDeclared ? getText(node["id"]).split(":")[0] : undefined;
};

/** Calls of a function by itself with the next character or position. */
const findRecursions = (root: Node, getText: GetText): Node[] => {
  const found: Node[] = [];
  const recursive = new Set<string>();
  const visit = (node: Node, names: readonly string[]): void => {
    const own = getOwnName(node, getText);
    const inner = own === undefined ? names : [...names, own];
    // A position that is passed on in an object.
    const isDeeper = node.type === "Property" && names.some((name) => recursive.has(name));
    if (isDeeper && /^(\w+): \1 \+ 1$/.test(getText(node))) found.push(node);
    const isOwn = node.type === "CallExpression" && names.includes(getCallee(node));
    if (
      isOwn &&
      /[\w)]\s\+\s1\b|\.slice\(|\.substring\(/.test(node["arguments"].map(getText).join())
    )
      found.push(node);
    for (const child of listChildren(node)) visit(child, inner);
  };
  const findNames = (node: Node, names: readonly string[]): void => {
    const own = getOwnName(node, getText);
    const inner = own === undefined ? names : [...names, own];
    if (node.type === "CallExpression" && names.includes(getCallee(node)))
      recursive.add(getCallee(node));
    for (const child of listChildren(node)) findNames(child, inner);
  };
  findNames(root, []);
  visit(root, []);
  return found;
};

/** Everything of an account, or of the service, as one list. */
const findWalks = (root: Node, getText: GetText): Node[] => {
  const found: Node[] = [];
  new Visitor({
    CallExpression: (node: any) => {
      const isAll = getText(node.callee) === "Array.fromAsync";
      if (
        isAll &&
        /^iterate(?:Jobs|Accounts|Operations|Entries)\b/.test(getText(node.arguments[0]))
      )
        found.push(node);
    },
    TemplateLiteral: (node: any) => {
      const text = getText(node);
      if (/FROM (?:messages|items)\b/.test(text) && !/WHERE/.test(text)) found.push(node);
    },
    Literal: (node: any) => {
      const text = getText(node);
      if (/FROM (?:messages|items)\b/.test(text) && !/WHERE/.test(text)) found.push(node);
    },
  }).visit(root as never);
  return found;
};

const RULES = { copies: findCopies, recursions: findRecursions, walks: findWalks } as const;

const findShapes = (name: string, source: string): string[] => {
  const { program } = parseSync(name, source);
  const getText = (node: Node | undefined) => (node ? source.slice(node.start, node.end) : "");
  return Object.entries(RULES).flatMap(([rule, find]) =>
    find(program as unknown as Node, getText).map(
      (node) => `${name}: ${rule}: ${getText(node).replaceAll(/\s+/g, " ").slice(0, 90)}`,
    ),
  );
};

test("no code copies its collection in each step, recurses by character, or walks everything", () => {
  const found = files.flatMap((file) => findShapes(file, readFileSync(file, "utf8")));

  const isOf = (one: string) => (place: string) => one.startsWith(`${place}: `);
  const places = Object.keys(JUSTIFIED);
  expect(found.filter((one) => !places.some(isOf(one)))).toEqual([]);
  expect(places.filter((place) => !found.some((one) => isOf(one)(place)))).toEqual([]);
});

test.each([
  ["for (const one of all) sum = [...sum, one];", "copies"],
  ["while (next()) all = { ...all, [next()]: 1 };", "copies"],
  ["for (const [k, v] of all) map.set(k, [...(map.get(k) ?? []), v]);", "copies"],
  ["const f = (a) => a.reduce((sum, one) => ({ ...sum, [one]: 1 }), {});", "copies"],
  ["a.forEach((one) => { all = all.concat(one); });", "copies"],
  ["const sort = (rows, depth) => rows.map((r) => sort(r, depth + 1));", "recursions"],
  ["const cut = (o) => { const d = { depth: depth + 1 }; return cut(d); };", "recursions"],
  ["function read(text) { return text === '' ? 0 : read(text.slice(1)); }", "recursions"],
  ["const jobs = await Array.fromAsync(iterateJobs(table, owner));", "walks"],
  ["db.prepare('SELECT queue, COUNT(*) FROM messages GROUP BY queue');", "walks"],
])("the rules find %s among the %s", (source, rule) => {
  expect(findShapes("sample.ts", source)).toEqual([expect.stringContaining(`: ${rule}: `)]);
});
