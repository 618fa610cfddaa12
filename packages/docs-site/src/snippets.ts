import type { Example } from "@mailproof/api/openapi/examples";
import type { Sample } from "./html.ts";

// A request for the command line, in TypeScript and in Python. Each is ready to run, with the
// key in the environment.

export type Call = Pick<Example, "route" | "path" | "query" | "request"> & {
  readonly isPublic?: boolean;
};

export const snippetsFor = (baseUrl: string, call: Call): readonly Sample[] => [
  { language: "curl", text: curl(baseUrl, call) },
  { language: "TypeScript", text: typescript(baseUrl, call) },
  { language: "Python", text: python(baseUrl, call) },
];

const toParts = (baseUrl: string, { route, path, query, request }: Call) => {
  const [method = "", pattern = ""] = route.split(" ");
  const filled = pattern.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(path[name] ?? "").replaceAll("%40", "@"),
  );
  const search = new URLSearchParams(query).toString();
  return { method, url: `${baseUrl}${filled}${search && `?${search}`}`, body: request };
};

const curl = (baseUrl: string, call: Call): string => {
  const { method, url, body } = toParts(baseUrl, call);
  const lines = [
    `curl -s ${method === "GET" || body !== undefined ? "" : `-X ${method} `}'${url}'`,
    ...(method === "PUT" ? ["-X PUT"] : []),
    ...(call.isPublic ? [] : [`-H "X-Api-Key: $MAILPROOF_KEY"`]),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${readable(body)}'`]),
  ];
  return lines.join(" \\\n  ");
};

const LINE_LENGTH = 72;

/** On one line where it fits. */
const readable = (body: unknown): string => {
  const lines = JSON.stringify(body, null, 2);
  const line = lines.replaceAll(/\n\s*/g, " ").replaceAll(/([[{]) | ([\]}])/g, "$1$2");
  return line.length <= LINE_LENGTH ? line : lines;
};

const typescript = (baseUrl: string, call: Call): string => {
  const { method, url, body } = toParts(baseUrl, call);
  const key = `"X-Api-Key": process.env.MAILPROOF_KEY ?? ""`;
  const headers = [
    ...(call.isPublic ? [] : [key]),
    ...(body === undefined ? [] : [`"Content-Type": "application/json"`]),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length > 0 ? [`  headers: { ${headers.join(", ")} },`] : []),
    ...(body === undefined
      ? []
      : [`  body: JSON.stringify(${readable(body).replaceAll("\n", "\n  ")}),`]),
  ];
  const init = options.length > 0 ? `, {\n${options.join("\n")}\n}` : "";
  return `const answer = await fetch("${url}"${init});\nconsole.log(answer.status, await answer.json());`;
};

const python = (baseUrl: string, call: Call): string => {
  const { method, url, body } = toParts(baseUrl, call);
  const options = [
    ...(body === undefined ? [] : [`    data=json.dumps(${toPython(body)}).encode(),`]),
    ...(call.isPublic && body === undefined
      ? []
      : [
          `    headers={${[
            ...(call.isPublic ? [] : [`"X-Api-Key": os.environ["MAILPROOF_KEY"]`]),
            ...(body === undefined ? [] : [`"Content-Type": "application/json"`]),
          ].join(", ")}},`,
        ]),
    `    method="${method}",`,
  ];
  return `import json, os, urllib.request

request = urllib.request.Request(
    "${url}",
${options.join("\n")}
)
with urllib.request.urlopen(request) as answer:
    print(answer.status, json.load(answer))`;
};

/** JSON and Python differ in three words; strings are left unchanged. */
const toPython = (value: unknown): string =>
  JSON.stringify(value, null, 4)
    .replaceAll(/"(?:[^"\\]|\\.)*"?|\b(?:true|false|null)\b/g, (one) => PYTHON[one] ?? one)
    .replaceAll("\n", "\n    ");

const PYTHON: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
