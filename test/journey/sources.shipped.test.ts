import { describeProgram } from "./started.ts";

// README's first way: npm start in a clone.

describeProgram("the sources", () => {
  const { PATH = "", HOME = "" } = process.env;
  return {
    start: ["npm", "start"],
    command: ["npx", "mailproof"],
    cwd: process.cwd(),
    env: { PATH, HOME },
  };
});
