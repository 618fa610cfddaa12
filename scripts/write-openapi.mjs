// Writes docs/openapi.json again. Run it when test/api/openapi.test.ts says that the file is stale.
import { writeFileSync } from "node:fs";
import { openapi } from "@mailproof/api/openapi/openapi";

writeFileSync(
  "docs/openapi.json",
  `${JSON.stringify(openapi("http://127.0.0.1:8787"), null, 2)}\n`,
);
