import { type ESTree, parseSync, Visitor } from "vite";

// The edits that keep a bundle small, on the syntax tree of a file. An edit throws on a form that it does not know, so that
// the build fails: a bundle whose code differs from the source in an unexpected way would be found by callers.

type Edit = { readonly start: number; readonly end: number; readonly text: string };

const parse = (file: string, source: string): ESTree.Program => {
  const { program, errors } = parseSync(file, source);
  const [error] = errors;
  if (error) throw new Error(`${file}: ${error.message}`);
  return program;
};

const applyEdits = (source: string, edits: readonly Edit[]): string => {
  let at = 0;
  let edited = "";
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    edited += source.slice(at, start) + text;
    at = end;
  }
  return edited + source.slice(at);
};

const createRefusal = (file: string, source: string, at: number, why: string): Error =>
  new Error(`${file}:${source.slice(0, at).split("\n").length}: ${why}`);

/** True for a text, or a value that forms a text: the edit may remove it, because it has no side effects. */
const isText = (node: ESTree.Node): boolean => {
  if (node.type === "Literal") return typeof node.value === "string";
  if (node.type === "TemplateLiteral") return node.expressions.every(isText);
  if (node.type === "BinaryExpression")
    return node.operator === "+" && isText(node.left) && isText(node.right);
  if (node.type === "MemberExpression") return !node.computed && isText(node.object);
  if (node.type === "CallExpression") return isJoin(node.callee) && node.arguments.every(isText);
  return node.type === "Identifier";
};

const isJoin = (node: ESTree.Node): boolean =>
  node.type === "MemberExpression" &&
  node.property.type === "Identifier" &&
  node.property.name === "join" &&
  isText(node);

const DESCRIBE = "describe";
const DESCRIBING_MODULE = /(?:^|\/)(?:lib\/describe|common)(?:\.ts)?$/;

/** Each function of this module has a text of `describe` as its first argument. */
const FIELDS_MODULE = /^(?:\.\/|\.\.\/schema\/)fields\.ts$/;

/**
 * `describe(schema, text)` becomes `(schema)`, in a file that imports it by that name; and `field.count(text)` becomes
 * `field.count("")`. A file that gets them in another way keeps its texts, and its bundle is too large.
 */
export const dropDescriptions = (file: string, source: string): string => {
  if (!source.includes(DESCRIBE) && !source.includes("fields.ts")) return source;
  const program = parse(file, source);
  const refuse = (at: number, why: string) => createRefusal(file, source, at, why);
  const known = new Set(program.body.flatMap(listDescribingImports));
  const fields = program.body.flatMap(listFieldsImports);
  if (known.size + fields.length === 0) return source;
  const edits: Edit[] = [];
  new Visitor({
    ExportSpecifier: ({ local, exported, start }) => {
      if (source.slice(start, exported.end) === DESCRIBE) known.add(local.start);
    },
    CallExpression: ({ callee, arguments: given, start, end }) => {
      if (isOfModule(callee, fields)) {
        const [words] = given;
        if (!words || !isText(words)) throw refuse(start, "the text of a field is not plain");
        edits.push({ start: words.start, end: words.end, text: '""' });
        return;
      }
      if (callee.type !== "Identifier" || callee.name !== DESCRIBE) return;
      const [schema, text] = given;
      if (given.length !== 2 || !schema || !text || schema.type === "SpreadElement")
        throw refuse(start, `${DESCRIBE} has other arguments than a schema and a text`);
      if (!isText(text)) throw refuse(text.start, `the text of ${DESCRIBE} is not plain`);
      known.add(callee.start);
      edits.push({ start, end: schema.start, text: "(" }, { start: schema.end, end, text: ")" });
    },
    // The walk visits an identifier after the call or the export around it.
    Identifier: ({ name, start }) => {
      if (name === DESCRIBE && !known.has(start))
        throw refuse(start, `${DESCRIBE} is used other than by a call`);
    },
  }).visit(program);
  return applyEdits(source, edits);
};

/** Finds the position of the import of `describe`. */
const listDescribingImports = (statement: ESTree.Node): readonly number[] =>
  statement.type === "ImportDeclaration" && DESCRIBING_MODULE.test(statement.source.value)
    ? statement.specifiers
        .filter(({ type, local }) => type === "ImportSpecifier" && local.name === DESCRIBE)
        .map(({ start }) => start)
    : [];

/** Finds the name under which a file has the whole module of fields. */
const listFieldsImports = (statement: ESTree.Node): readonly string[] =>
  statement.type === "ImportDeclaration" && FIELDS_MODULE.test(statement.source.value)
    ? statement.specifiers
        .filter(({ type }) => type === "ImportNamespaceSpecifier")
        .map(({ local }) => local.name)
    : [];

const isOfModule = (callee: ESTree.Node, names: readonly string[]): boolean =>
  callee.type === "MemberExpression" &&
  callee.object.type === "Identifier" &&
  names.includes(callee.object.name);

/** Removes a property that only the reference or a test reads. Throws if the file lacks it or its value is not plain text. */
export const dropTexts = (file: string, source: string, property: string): string => {
  const edits: Edit[] = [];
  new Visitor({
    ObjectExpression: ({ properties, start, end }) => {
      const at = properties.findIndex((one) => one.type === "Property" && isKey(one, property));
      const [before, found, after] = [properties[at - 1], properties[at], properties[at + 1]];
      if (found?.type !== "Property") return;
      if (!isText(found.value))
        throw createRefusal(file, source, found.start, `${property} is not a plain text`);
      // The edit also removes the comma behind the property.
      if (after) edits.push({ start: found.start, end: after.start, text: "" });
      else if (before) edits.push({ start: before.end, end: found.end, text: "" });
      else edits.push({ start: start + 1, end: end - 1, text: "" });
    },
  }).visit(parse(file, source));
  if (edits.length === 0) throw new Error(`${file}: no ${property} was found`);
  return applyEdits(source, edits);
};

const isKey = ({ key, computed }: ESTree.ObjectProperty, name: string): boolean =>
  !computed && key.type === "Identifier" && key.name === name;

/**
 * A client of AWS's SDK has the schemas of all its operations in one file, as literals whose keys are constants of the
 * file. A bundler keeps a literal with a computed key, used or not; with plain keys it keeps those of the operations in use.
 */
export const inlineKeys = (file: string, source: string): string => {
  const program = parse(file, source);
  const constants = new Map(program.body.flatMap(listTextConstants));
  const edits: Edit[] = [];
  new Visitor({
    Property: ({ key, value, computed, start, method, kind }) => {
      if (!computed) return;
      const text = key.type === "Identifier" ? constants.get(key.name) : undefined;
      if (text === undefined || text === "__proto__" || method || kind !== "init")
        throw createRefusal(file, source, start, "a key is not a constant of the file");
      edits.push({ start, end: value.start, text: `${JSON.stringify(text)}: ` });
    },
  }).visit(program);
  if (edits.length === 0) throw new Error(`${file}: no key was found`);
  return applyEdits(source, edits);
};

const listTextConstants = (statement: ESTree.Node): readonly (readonly [string, string])[] =>
  statement.type === "VariableDeclaration" && statement.kind === "const"
    ? statement.declarations.flatMap(({ id, init }) =>
        id.type === "Identifier" && init?.type === "Literal" && typeof init.value === "string"
          ? [[id.name, init.value] as const]
          : [],
      )
    : [];

/**
 * Removes the registration of each error but these: an error without a class of its own has the service's class, with the
 * same code, status and message.
 */
export const dropUnreadErrors = (
  file: string,
  source: string,
  readErrors: readonly string[],
): string => {
  const registered = parse(file, source).body.flatMap((statement) => {
    if (statement.type !== "ExpressionStatement") return [];
    const name = findRegisteredError(statement.expression);
    if (name === undefined)
      throw createRefusal(file, source, statement.start, "a statement registers no error");
    return [{ name, start: statement.start, end: statement.end, text: "" }];
  });
  const names = registered.map(({ name }) => name);
  const missing = readErrors.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`${file}: no registration of ${missing.join(", ")}`);
  const dropped = registered.filter(
    ({ name }) => !readErrors.includes(name) && !name.endsWith(SERVICE_ERROR),
  );
  if (dropped.length === 0 || dropped.length === registered.length)
    throw new Error(`${file}: not the errors and the service's error that were expected`);
  return applyEdits(source, dropped);
};

/** The class of a service's errors that have no class of their own ends with this. */
const SERVICE_ERROR = "ServiceException";

/** `registry.registerError(Name$, Name)`. */
const findRegisteredError = (expression: ESTree.Node): string | undefined => {
  if (expression.type !== "CallExpression") return undefined;
  const { callee, arguments: given } = expression;
  const [schema, name] = given;
  return given.length === 2 &&
    callee.type === "MemberExpression" &&
    callee.property.type === "Identifier" &&
    callee.property.name === "registerError" &&
    schema?.type === "Identifier" &&
    name?.type === "Identifier" &&
    schema.name === `${name.name}$`
    ? name.name
    : undefined;
};
