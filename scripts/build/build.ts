// npm run build writes what people install into dist/; npm run build -- package writes only the first of these, and
// npm run build -- lists the last:
//
//   mailproof-x.y.z.tgz         npm install -g ./mailproof-x.y.z.tgz   (any system with Node 24)
//   mailproof-client-x.y.z.tgz  npm install ./mailproof-client-x.y.z.tgz
//   mailproof-linux-x64         one file, without Node
//   LICENCES.txt                the licences of everything inside them, in their own words
//   sbom.cdx.json, SHA256SUMS   what is in them, and their checksums
//   mailproof-lists-y.m.d.txt   the lists of domains, for servers that run already (docs/lists.md)
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packNpm } from "@mailproof/docs-site/clients/archives";
import { NPM_PACKAGE } from "@mailproof/docs-site/clients/programs";
import { buildExecutable, joinExecutableLicences } from "./executable.ts";
import { writeEdition } from "./lists.ts";
import { LICENCES, writePackage } from "./package.ts";

const DIST = "dist";
const PACKAGE = join(DIST, "package");

const writeSbom = (): void => {
  const args = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
  const sbom = execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  writeFileSync(join(DIST, "sbom.cdx.json"), sbom);
};

const writeChecksums = (): void => {
  const files = readdirSync(DIST).filter((name) => /\.tgz$|linux|sbom|LICENCES|lists/.test(name));
  const lines = files.toSorted().map((name) => {
    const hash = createHash("sha256")
      .update(readFileSync(join(DIST, name)))
      .digest("hex");
    return `${hash}  ${name}\n`;
  });
  writeFileSync(join(DIST, "SHA256SUMS"), lines.join(""));
};

rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST);
const [, , only] = process.argv;
if (only === "lists") console.log(await writeEdition(DIST));
else {
  await writePackage(PACKAGE);
  const pack = ["pack", `./${PACKAGE}`, "--pack-destination", DIST];
  execFileSync("npm", pack, { stdio: ["ignore", "ignore", "pipe"] });
  if (only === undefined) writeFileSync(join(DIST, NPM_PACKAGE), packNpm());
}
if (only === undefined) {
  await writeEdition(DIST);
  if (process.platform === "linux" && process.arch === "x64")
    buildExecutable(PACKAGE, join(DIST, "mailproof-linux-x64"));
  writeFileSync(join(DIST, LICENCES), joinExecutableLicences(PACKAGE));
  writeSbom();
  writeChecksums();
  process.stdout.write(readFileSync(join(DIST, "SHA256SUMS"), "utf8"));
}
