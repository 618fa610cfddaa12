// oxlint-disable-next-line typescript/triple-slash-reference -- SST allows no import here
/// <reference path="./.sst/platform/config.d.ts" />

export default $config({
  async app({ stage }) {
    const { createTags, findOwner, getLifecycle: lifeOf } = await import("./infra/lifecycle.ts");
    return {
      name: "mailproof",
      home: "aws",
      // The one that infra:prepare fetches and test/infra is run with.
      providers: {
        // AWS_REGION in .env.<stage> is the one place that names the region (infra/settings.ts).
        aws: {
          version: "7.20.0",
          region: process.env["AWS_REGION"] as "eu-central-1",
          defaultTags: { tags: createTags(stage, findOwner(stage, process.env)) },
        },
      },
      ...lifeOf(stage),
    };
  },

  async run() {
    await import("./infra/boundary.ts");
    await import("./infra/storage.ts");
    await import("./infra/queues.ts");
    await import("./infra/mail-topic.ts");
    await import("./infra/inbound-mail.ts");
    await import("./infra/network.ts");
    const { api } = await import("./infra/api.ts");
    await import("./infra/workers.ts");
    await import("./infra/upload-limit.ts");
    await import("./infra/published-names.ts");
    const { url } = await import("./infra/front.ts");
    return { api: api.url, url };
  },
});
