import type { Request, Synthesis } from "./synthesise.ts";

// The process that synthesise.ts starts. It makes one stage after the other, because loading Pulumi's provider of AWS takes longer than
// a stage. As with Pulumi, a stage is made when nothing is left to do: then Node would end this process.

export type Reply = { readonly synthesis: Synthesis } | { readonly error: string };

let stages = 0;
let finish: (() => Synthesis) | undefined;
let failure: unknown;
let isBusy = false;

const setEnvironment = (env: Request["env"]): void => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
};

const begin = async (request: Request): Promise<void> => {
  isBusy = true;
  finish = failure = undefined;
  setEnvironment(request.env);
  // The test that waits does not keep the stage from being done.
  process.channel?.unref();
  try {
    // Each has a query of its own, and so is evaluated anew.
    const { synthesise } = await import(`${request.program}?${stages++}`);
    finish = await synthesise(request);
  } catch (error) {
    failure ??= error;
  }
};

process.on("message", (request: Request) => void begin(request));
// A part of the stage that nothing waited for.
process.on("uncaughtException", (error) => (failure ??= error));
process.on("beforeExit", () => {
  if (!isBusy) return;
  isBusy = false;
  const reply: Reply =
    failure === undefined && finish
      ? { synthesis: finish() }
      : { error: String((failure as Error | undefined)?.stack ?? failure) };
  process.channel?.ref();
  process.send?.(reply);
});
