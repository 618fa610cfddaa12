import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { writeZip } from "@mailproof/core/exports/write-zip";
import { writeGoOperations } from "./go.ts";
import { GO_MODULE, GO_PROXY, GO_VERSION, NPM_PACKAGE, VERSION, WHEEL } from "./programs.ts";
import { writePythonOperations } from "./python.ts";
import { type ClientTypes, readClientTypes } from "./types.ts";

// Builds the archives that npm, pip and go install: the sources in packages/client, and the operations made from the endpoints. Node alone
// suffices, so a clone without developer tools has the archives.

type Files = Readonly<Record<string, string>>;

const readText = (path: string): string =>
  readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

const readClient = (path: string): string => readText(`packages/client/${path}`);

/** npm gives the files of its packages this time in 1985: the same files make the same archive. */
const TAR_SECONDS = 499_162_500;
const TAR_BLOCK_BYTES = 512;

const toOctal = (value: number, digits: number): string =>
  `${value.toString(8).padStart(digits, "0")}\0`;

const createTarEntry = (path: string, text: string): Buffer => {
  const content = Buffer.from(text);
  const header = Buffer.alloc(TAR_BLOCK_BYTES);
  header.write(path, 0);
  header.write(toOctal(0o644, 7), 100);
  header.write(toOctal(0, 7), 108);
  header.write(toOctal(0, 7), 116);
  header.write(toOctal(content.length, 11), 124);
  header.write(toOctal(TAR_SECONDS, 11), 136);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  header.write(
    `${toOctal(
      header.reduce((sum, byte) => sum + byte),
      6,
    )} `,
    148,
  );
  const padding = Buffer.alloc(-content.length & (TAR_BLOCK_BYTES - 1));
  return Buffer.concat([header, content, padding]);
};

const writeTarball = (files: Files): Buffer =>
  gzipSync(
    Buffer.concat([
      ...Object.entries(files).map(([path, text]) => createTarEntry(path, text)),
      Buffer.alloc(2 * TAR_BLOCK_BYTES),
    ]),
    { level: 9 },
  );

const writeZipOf = async (files: Files): Promise<Buffer> => {
  const parts = Object.entries(files).map(([name, text]) => ({
    name,
    pieces: (async function* () {
      yield Buffer.from(text);
    })(),
  }));
  return Buffer.concat(await Array.fromAsync(writeZip(parts)));
};

/** The files of the npm package: scripts/made/client.ts builds built.json, and types.ts contains only types. */
const listNpmFiles = (): Files => ({
  ...(JSON.parse(readClient("built.json")) as Files),
  "types.d.ts": readClient("src/types.ts"),
  "README.md": readClient("README.md"),
  LICENSE: readText("LICENSE"),
});

export const packNpm = (): Buffer =>
  writeTarball(
    Object.fromEntries(
      Object.entries(listNpmFiles()).map(([path, text]) => [`package/${path}`, text]),
    ),
  );

const ABOUT = "Client of Mailproof: verify addresses and files, find addresses, check domains.";

/** https://packaging.python.org/en/latest/specifications/core-metadata/ */
const METADATA = `Metadata-Version: 2.4
Name: mailproof-client
Version: ${VERSION}
Summary: ${ABOUT}
License-Expression: MIT
License-File: LICENSE
Requires-Python: >=3.11
`;

const WHEEL_FORMAT = `Wheel-Version: 1.0
Generator: mailproof
Root-Is-Purelib: true
Tag: py3-none-any
`;

const createRecord = (files: Files, path: string): string => {
  const lines = Object.entries(files).map(([name, text]) => {
    const hash = createHash("sha256").update(text).digest("base64url");
    return `${name},sha256=${hash},${Buffer.byteLength(text)}\n`;
  });
  return `${lines.join("")}${path},,\n`;
};

const PYTHON_FILES = ["__init__.py", "client.py", "transport.py", "py.typed"];

/** https://packaging.python.org/en/latest/specifications/binary-distribution-format/ */
const packWheel = (types: ClientTypes): Promise<Buffer> => {
  const about = `mailproof_client-${VERSION}.dist-info`;
  const sources = PYTHON_FILES.map((name) => [name, readClient(`python/${name}`)] as const);
  const all = [...sources, ["operations.py", writePythonOperations(types)] as const];
  const files = {
    ...Object.fromEntries(all.map(([name, text]) => [`mailproof_client/${name}`, text])),
    [`${about}/METADATA`]: METADATA,
    [`${about}/WHEEL`]: WHEEL_FORMAT,
    [`${about}/licenses/LICENSE`]: readText("LICENSE"),
  };
  const record = `${about}/RECORD`;
  return writeZipOf({ ...files, [record]: createRecord(files, record) });
};

const packGoModule = async (types: ClientTypes): Promise<Readonly<Record<string, Buffer>>> => {
  const goMod = `module ${GO_MODULE}\n\ngo 1.24\n`;
  const sources: Files = {
    LICENSE: readText("LICENSE"),
    "go.mod": goMod,
    "client.go": readClient("go/client.go"),
    "transport.go": readClient("go/transport.go"),
    "operations.go": writeGoOperations(types),
  };
  const inModule = Object.entries(sources).map(
    ([name, text]) => [`${GO_MODULE}@${GO_VERSION}/${name}`, text] as const,
  );
  const at = `${GO_PROXY}/${GO_MODULE}/@v`;
  return {
    [`${at}/list`]: Buffer.from(`${GO_VERSION}\n`),
    [`${at}/${GO_VERSION}.info`]: Buffer.from(JSON.stringify({ Version: GO_VERSION })),
    [`${at}/${GO_VERSION}.mod`]: Buffer.from(goMod),
    [`${at}/${GO_VERSION}.zip`]: await writeZipOf(Object.fromEntries(inModule)),
  };
};

export const packClients = async (): Promise<Readonly<Record<string, Buffer>>> => {
  const types = readClientTypes();
  return {
    [NPM_PACKAGE]: packNpm(),
    [WHEEL]: await packWheel(types),
    ...(await packGoModule(types)),
  };
};
