import { verify } from "@mailproof/core/verify/verify";
import { expect, test } from "vitest";
import { whenQuiet } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import {
  createProcessRequest,
  givenUpload,
  readJob,
  whenBatched,
  whenFiled,
} from "../things/jobs.ts";

// One address, as people write it, is the same address at every entrance.

const WRITTEN = [
  "Ann Lee <ann@x.com>",
  '"Lee, Ann" <ann@x.com>',
  "<ann@x.com>",
  "mailto:ann@x.com?subject=hi",
  " ann@x.com; ",
  "\u200Bann@x.com\u200B",
];

const setup = () => given({ balance: 100 });
type Ctx = Awaited<ReturnType<typeof setup>>;

const readFirst = async (ctx: Ctx, id: string) => {
  await whenQuiet(ctx);
  const { results } = await readJob(ctx, id);
  return results?.[0];
};

const ENTRANCES: readonly (readonly [
  string,
  (ctx: Ctx, text: string) => Promise<object | undefined>,
])[] = [
  [
    "POST /v1/verify",
    async ({ world, liveKey }, email) => (await whenVerified(world, liveKey, { email })).data,
  ],
  [
    "POST /v1/verify/batch",
    async (ctx, email) => {
      const { data } = await whenBatched(ctx.world, ctx.liveKey, { emails: [email] });
      return readFirst(ctx, data.job_id);
    },
  ],
  [
    "a file",
    async (ctx, email) => {
      const content = `email\n"${email.replaceAll('"', '""')}"\n`;
      const fileKey = await givenUpload(ctx, ctx.liveKey, content);
      const { data } = await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey));
      return readFirst(ctx, data.job_id);
    },
  ],
  [
    "the library",
    ({ world: { engine } }, email) =>
      verify(engine, email, { deepVerify: true, includeAi: false, includeEvidence: false }),
  ],
];

test.each(ENTRANCES)("%s finds the address in what people write", async (_name, enter) => {
  const ctx = await setup();

  for (const text of WRITTEN)
    expect(await enter(ctx, text), `${text}`).toMatchObject({
      email: "ann@x.com",
      status: "valid",
    });
});

test("a form finds the address in what people write", async () => {
  const ctx = await setup();

  for (const email of WRITTEN) {
    const { data } = await send(ctx.world, "POST /v1/verify/form", {
      key: ctx.liveKey,
      body: { email },
    });
    expect(data, `${email}`).toMatchObject({ email: "ann@x.com" });
  }
});

test.each(ENTRANCES.filter(([name]) => name === "POST /v1/verify" || name === "the library"))(
  "%s finds none of two addresses",
  async (_name, enter) => {
    const ctx = await setup();

    const found = await enter(ctx, "ann@x.com, bob@x.com");

    expect(found).toMatchObject({ status: "invalid", email: "ann@x.com, bob@x.com" });
  },
);
