// Writes docs/performance.md again, without measuring anything: node scripts/write-performance.mjs
import { writePage } from "../bench/performance.ts";

writePage();
