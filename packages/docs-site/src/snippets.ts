import { endpoints } from "@mailproof/api/endpoints";
import type { Example } from "@mailproof/api/openapi/examples";
import type { Sample } from "./html.ts";

// A request in each language of the manual. Each snippet is a whole program, with the key in the environment.

export type Call = Pick<Example, "route" | "path" | "query" | "request"> & {
  readonly isPublic?: boolean;
};

type Request = {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly isPublic: boolean;
};

type Language = {
  readonly language: string;
  readonly write: (request: Request, call: Call, baseUrl: string) => string;
};

const toRequest = (baseUrl: string, { route, path, query, request, isPublic }: Call): Request => {
  const [method = "", pattern = ""] = route.split(" ");
  const filled = pattern.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(path[name] ?? "").replaceAll("%40", "@"),
  );
  const search = new URLSearchParams(query).toString();
  const url = `${baseUrl}${filled}${search && `?${search}`}`;
  return { method, url, body: request, isPublic: isPublic ?? false };
};

const LINE_LENGTH = 72;

/** Writes JSON on one line if it fits, otherwise with `margin` before each further line. */
const format = (body: unknown, margin = "", step = 2): string => {
  const lines = JSON.stringify(body, null, step);
  const line = lines.replaceAll(/\n\s*/g, " ").replaceAll(/([[{]) | ([\]}])/g, "$1$2");
  return line.length <= LINE_LENGTH ? line : lines.replaceAll("\n", `\n${margin}`);
};

const translate = (
  json: string,
  words: Readonly<Record<string, string>>,
  string: (literal: string) => string = (literal) => literal,
): string =>
  json.replaceAll(/"(?:[^"\\]|\\[^])*(?:"|\\?$)|\b(?:true|false|null)\b|[{}:]/g, (one) =>
    one.startsWith('"') ? string(one) : (words[one] ?? one),
  );

const writeCurl: Language["write"] = ({ method, url, body, isPublic }) =>
  [
    `curl -s ${method === "GET" || (method === "POST" && body !== undefined) ? "" : `-X ${method} `}'${url}'`,
    ...(isPublic ? [] : [`-H "X-Api-Key: $MAILPROOF_KEY"`]),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${format(body)}'`]),
  ].join(" \\\n  ");

const isNumber = (text: string): boolean => /^\d+$/.test(text);

const toClientCall = ({ route, path, query, request }: Call) => {
  const endpoint = endpoints.find((one) => one.route === route);
  const { action, ...fields } = (request ?? {}) as { readonly action?: string };
  const { format: _, ...search } = query;
  const typed = Object.entries(search).map(([name, text]) => [
    name,
    isNumber(text) ? Number(text) : text,
  ]);
  const method = endpoint?.actions?.[action ?? ""]?.id ?? endpoint?.id ?? "";
  return { method, input: { ...path, ...(Object.fromEntries(typed) as object), ...fields } };
};

const writeTypeScript: Language["write"] = (_, call, baseUrl) => {
  const { method, input } = toClientCall(call);
  const fields = format(input).replaceAll(/"(\w+)":/g, "$1:");
  const argument = fields.includes("\n") ? fields : `{ ${fields.slice(1, -1)} }`;
  return `import { createClient } from "@mailproof/client";

// It reads MAILPROOF_KEY.
const mailproof = createClient({ baseUrl: "${baseUrl}" });
console.log(await mailproof.${method}(${Object.keys(input).length === 0 ? "" : argument}));`;
};

const PYTHON_WORDS = { true: "True", false: "False", null: "None" };

const writePython: Language["write"] = ({ method, url, body, isPublic }) => {
  const options = [
    `    "${url}",`,
    ...(isPublic ? [] : [`    headers={"X-Api-Key": os.environ["MAILPROOF_KEY"]},`]),
    ...(body === undefined
      ? []
      : [`    json=${translate(format(body, "    ", 4), PYTHON_WORDS)},`]),
  ];
  return `${isPublic ? "" : "import os\n"}import requests

response = requests.${method.toLowerCase()}(
${options.join("\n")}
)
print(response.status_code, response.json())`;
};

const PHP_WORDS = { "{": "[", "}": "]", ":": " =>" };

const writePhp: Language["write"] = ({ method, url, body, isPublic }) => {
  const headers = [
    ...(isPublic ? [] : [`"X-Api-Key: " . getenv("MAILPROOF_KEY")`]),
    ...(body === undefined ? [] : [`"Content-Type: application/json"`]),
  ];
  // A dollar starts a variable within a PHP string.
  const data = translate(format(body ?? [], "    ", 4), PHP_WORDS, (text) =>
    text.replaceAll("$", "\\$"),
  );
  return `<?php
$call = curl_init("${url}");
curl_setopt_array($call, [
    CURLOPT_CUSTOMREQUEST => "${method}",
    CURLOPT_RETURNTRANSFER => true,${headers.length > 0 ? `\n    CURLOPT_HTTPHEADER => [${headers.join(", ")}],` : ""}${body === undefined ? "" : `\n    CURLOPT_POSTFIELDS => json_encode(${data}),`}
]);
$answer = curl_exec($call);
echo curl_getinfo($call, CURLINFO_RESPONSE_CODE), " ", $answer, "\\n";`;
};

const GO_FAILURE = `	if err != nil {
		panic(err)
	}`;

const writeGo: Language["write"] = ({ method, url, body, isPublic }) => {
  const imports = [
    "fmt",
    "io",
    "net/http",
    ...(isPublic ? [] : ["os"]),
    ...(body === undefined ? [] : ["strings"]),
  ];
  const sent = body === undefined ? "nil" : "body";
  return `package main

import (
${imports.map((one) => `	"${one}"`).join("\n")}
)

func main() {
${body === undefined ? "" : `	body := strings.NewReader(\`${format(body, "	")}\`)\n`}	request, err := http.NewRequest("${method}", "${url}", ${sent})
${GO_FAILURE}
${isPublic ? "" : `	request.Header.Set("X-Api-Key", os.Getenv("MAILPROOF_KEY"))\n`}${body === undefined ? "" : `	request.Header.Set("Content-Type", "application/json")\n`}	response, err := http.DefaultClient.Do(request)
${GO_FAILURE}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
${GO_FAILURE}
	fmt.Println(response.StatusCode, string(answer))
}`;
};

const toCapital = (method: string): string => method.charAt(0) + method.slice(1).toLowerCase();

const writeRuby: Language["write"] = ({ method, url, body, isPublic }) => {
  const lines = [
    ...(isPublic ? [] : [`request["X-Api-Key"] = ENV.fetch("MAILPROOF_KEY")`]),
    ...(body === undefined
      ? []
      : [
          `request["Content-Type"] = "application/json"`,
          // A hash starts an expression within a Ruby string.
          `request.body = JSON.generate(${translate(format(body), { ":": " =>", null: "nil" }, (text) => text.replaceAll("#", "\\#"))})`,
        ]),
  ];
  return `require "json"
require "net/http"

uri = URI("${url}")
request = Net::HTTP::${toCapital(method)}.new(uri)
${lines.map((line) => `${line}\n`).join("")}response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }
puts response.code, response.body`;
};

const writeJava: Language["write"] = ({ method, url, body, isPublic }) => {
  const publisher =
    body === undefined ? "BodyPublishers.noBody()" : "BodyPublishers.ofString(body)";
  // A text block reads a backslash as the start of an escape.
  const text = format(body ?? {}, "            ").replaceAll("\\", "\\\\");
  const declared = body === undefined ? "" : `        var body = """\n            ${text}""";\n`;
  const steps = [
    ...(isPublic ? [] : [`            .header("X-Api-Key", System.getenv("MAILPROOF_KEY"))`]),
    ...(body === undefined ? [] : [`            .header("Content-Type", "application/json")`]),
    `            .method("${method}", ${publisher})`,
  ];
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

class Call {
    public static void main(String[] args) throws Exception {
${declared}        var request = HttpRequest.newBuilder(URI.create("${url}"))
${steps.join("\n")}
            .build();
        var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        System.out.println(response.statusCode() + " " + response.body());
    }
}`;
};

const writeCsharp: Language["write"] = ({ method, url, body, isPublic }) => {
  const lines = [
    ...(isPublic
      ? []
      : [`request.Headers.Add("X-Api-Key", Environment.GetEnvironmentVariable("MAILPROOF_KEY"));`]),
    ...(body === undefined
      ? []
      : [
          `request.Content = new StringContent("""\n    ${format(body, "    ")}\n    """, Encoding.UTF8, "application/json");`,
        ]),
  ];
  return `${body === undefined ? "" : "using System.Text;\n\n"}using var client = new HttpClient();
using var request = new HttpRequestMessage(HttpMethod.${toCapital(method)}, "${url}");
${lines.map((line) => `${line}\n`).join("")}using var response = await client.SendAsync(request);
Console.WriteLine($"{(int)response.StatusCode} {await response.Content.ReadAsStringAsync()}");`;
};

const LANGUAGES: readonly Language[] = [
  { language: "curl", write: writeCurl },
  { language: "TypeScript", write: writeTypeScript },
  { language: "Python", write: writePython },
  { language: "PHP", write: writePhp },
  { language: "Go", write: writeGo },
  { language: "Ruby", write: writeRuby },
  { language: "Java", write: writeJava },
  { language: "C#", write: writeCsharp },
];

/** The page of everything shows only a few languages, because samples in all would fill most of it. */
const FEW = 3;

export const snippetsFor = (
  baseUrl: string,
  call: Call,
  count: number = LANGUAGES.length,
): readonly Sample[] =>
  LANGUAGES.slice(0, count).map(({ language, write }) => ({
    language,
    text: write(toRequest(baseUrl, call), call, baseUrl),
  }));

export const fewSnippetsFor = (baseUrl: string, call: Call): readonly Sample[] =>
  snippetsFor(baseUrl, call, FEW);
