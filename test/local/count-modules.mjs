// Preloaded into a command by command-loading.test.ts: lists our own modules that it loads, when it ends.

import { writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const loaded = [];
registerHooks({
  load: (url, context, next) => {
    const [, file] = /\/(packages\/[\w-]+\/src\/.*)$/.exec(url) ?? [];
    if (file) loaded.push(file);
    return next(url, context);
  },
});
// The threads of a server preload this file, too.
if (isMainThread)
  process.on("exit", () => writeSync(Number(process.env.MODULES_FD), JSON.stringify(loaded)));
