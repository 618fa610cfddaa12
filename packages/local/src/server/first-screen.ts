import { join } from "node:path";
import { toPageUrl } from "@mailproof/api/http/session";
import { PROGRAM, START_AFRESH } from "../installation.ts";
import type { RunningServer } from "./start.ts";

type Screen = Pick<
  RunningServer,
  "baseUrl" | "mcpUrl" | "version" | "demo" | "signInUrl" | "warnings"
>;
type ScreenOptions = { readonly directory: string; readonly isTerminal: boolean };

/**
 * The first screen: the server's URL, the link of the first visit, the keys, and commands to copy. The link and the live
 * key are printed on a terminal only: elsewhere this text becomes a log, and refers to ready.json instead.
 */
export const formatFirstScreen = (
  { baseUrl, mcpUrl, version, demo, signInUrl, warnings }: Screen,
  { directory, isTerminal }: ScreenOptions,
): string => {
  const readyFile = join(directory, "ready.json");
  const printedKey = isTerminal ? demo?.live_key : undefined;
  const inFile = `in ${readyFile}; it is printed on a terminal only`;
  const live = printedKey ?? (demo?.live_key && inFile);
  const readKeyCommand = `"$(sed -n 's/.*"live_key": *"\\([^"]*\\).*/\\1/p' ${quoteForShell(readyFile)})"`;
  const lines = [
    `Mailproof ${version} is running at ${baseUrl}`,
    "",
    ...(signInUrl === null
      ? []
      : [
          `first      ${isTerminal ? signInUrl : `the link sign_in_url ${inFile}`}`,
          "           open this link in a browser: it makes you the owner, once",
          "",
        ]),
    // The cookie of a session belongs to the host name of the link.
    `dashboard  ${toPageUrl(baseUrl, "")}   for the next visits`,
    `docs       ${baseUrl}/docs   how to use it; /openapi.json is the same for programs`,
    ...(live ? [`live key   ${live}   costs the demo account's credits`] : []),
    ...(demo?.test_key ? [`test key   ${demo.test_key}   simulated results, free`] : []),
    ...(live
      ? []
      : [`keys       ${PROGRAM} admin accounts create --name NAME --credits 100   prints them`]),
    `tools      ${mcpUrl}   for agents, by MCP, with either key: ${baseUrl}/docs/clients`,
    `state      ${directory}   (${START_AFRESH} forgets it)`,
    "",
    ...(warnings.length > 0 ? [...warnings, ""] : []),
    ...(live
      ? formatTryLines(baseUrl, { given: printedKey ?? readKeyCommand, sent: printedKey })
      : []),
    "Ctrl-C stops it; nothing is lost.",
  ];
  return `\n${lines.map((line) => (line === "" ? "" : `  ${line}`)).join("\n")}\n\n`;
};

const quoteForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

type KeyForms = { readonly given: string; readonly sent: string | undefined };

const formatTryLines = (baseUrl: string, { given, sent }: KeyForms): readonly string[] => {
  const header = sent ? `'X-Api-Key: ${sent}'` : '"X-Api-Key: $MAILPROOF_KEY"';
  return [
    "Try it, in another terminal:",
    "",
    `export MAILPROOF_API=${baseUrl} MAILPROOF_KEY=${given}`,
    "",
    `curl -s ${baseUrl}/v1/account -H ${header}`,
    "",
    `curl -s ${baseUrl}/v1/verify -H ${header} -H 'Content-Type: application/json' -d '{"email": "ada.lovelace@valid.lab.mailproof.test"}'`,
    "",
    `${PROGRAM} verify ada.lovelace@valid.lab.mailproof.test`,
    "",
  ];
};
