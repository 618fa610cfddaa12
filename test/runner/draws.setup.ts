import fc from "fast-check";

// What decides whether a change lands draws the same cases each time: a case that was never drawn before would stop a
// change that has nothing to do with it. SEED=n draws others.

fc.configureGlobal({ seed: Number(process.env["SEED"] ?? 20_261_123) });
