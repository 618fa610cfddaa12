import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { applyEdit } from "../../faults/fault.ts";
import { PLANTED_BUGS } from "../../faults/money.ts";

// Loaded before a server that a recording starts: its clock is ahead by what a file says, and its code may have a bug.

const { CLOCK_AHEAD_FILE: file = "", PLANTED_BUG: planted = "" } = process.env;

const RealDate = Date;
const aheadMs = Number(readFileSync(file, "utf8"));
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: readonly unknown[], self) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + aheadMs] : args, self) as Date,
  get: (target, name, self) =>
    name === "now" ? () => RealDate.now() + aheadMs : (Reflect.get(target, name, self) as unknown),
});

const edits = PLANTED_BUGS[planted] ?? [];
if (edits.length > 0)
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      const own = edits.filter((edit) => url.endsWith(`/${edit.file}`));
      if (own.length === 0) return loaded;
      const source = Buffer.from(loaded.source as Uint8Array).toString();
      return { ...loaded, source: own.reduce(applyEdit, source) };
    },
  });
