// Run after `npm install` has changed a lock file: node scripts/complete-lockfile.mjs [infra/package-lock.json]
//
// Some registries do not carry the builds of a tool for other platforms. npm then leaves them out of the lock
// file, and `npm ci` refuses that file everywhere. A build for another platform is never fetched, so an entry
// with its version and platform is all that npm needs to be content.
import { readFileSync, writeFileSync } from "node:fs";

const [FILE = "package-lock.json"] = process.argv.slice(2);
const OS = ["aix", "android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const CPU = ["arm64", "arm", "ia32", "ppc64", "riscv64", "s390x", "x64"];

const lock = JSON.parse(readFileSync(FILE, "utf8"));
const added = [];

for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  if (path === "") continue;
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const entry = `node_modules/${name}`;
    const platform = findPlatform(name);
    if (lock.packages[entry] || !platform) continue;
    lock.packages[entry] = { version, ...(dev && { dev }), optional: true, ...platform };
    added.push(name);
  }
}

lock.packages = Object.fromEntries(
  Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
);
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added.length} builds for other platforms added`, ...added);

function findPlatform(name) {
  const words = name.split(/[/-]/);
  const os = OS.find((one) => words.includes(one));
  const cpu = CPU.find((one) => words.includes(one));
  const musl = words.some((word) => word.startsWith("musl"));
  return os && cpu && { os: [os], cpu: [cpu], ...(os === "linux" && musl && { libc: ["musl"] }) };
}
