#!/usr/bin/env node
import "../../../scripts/need-node.mjs";

await import("../src/cli/cli.ts");
