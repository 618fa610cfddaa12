import manifest from "../../package.json" with { type: "json" };
import type { Sample } from "../html.ts";

// The clients that a server offers at /docs/clients/ (archives.ts makes them), how to install each, and a program with each.
// test/journey/served-clients.ts runs the lines of the page unchanged.

export const VERSION = manifest.version;

export const NPM_PACKAGE = `mailproof-client-${VERSION}.tgz`;
export const WHEEL = `mailproof_client-${VERSION}-py3-none-any.whl`;
/** Not in a registry: the server acts as the module proxy. */
export const GO_MODULE = "mailproof.test/mailproof";
export const GO_VERSION = `v${VERSION}`;
/** The path below /docs/clients/ that speaks the protocol of Go's module proxies. */
export const GO_PROXY = "go";

const TYPESCRIPT = `import { writeFile } from "node:fs/promises";
import { createClient } from "@mailproof/client";

const key = process.env.MAILPROOF_KEY ?? "";
const mailproof = createClient({ baseUrl: "BASE", key });

// 1. Upload the list. This is free.
const { file_key } = await mailproof.upload("customers.csv");

// 2. Start. It is charged once, even if responses are lost.
const { job_id: id } = await mailproof.processFile({ file_key });
await mailproof.waitForJob({ id });

// 3. Download the list with its verdicts.
const { stream } = await mailproof.download({ id });
await writeFile("results.csv", stream);`;

const PYTHON = `import os, shutil
from mailproof_client import Mailproof

mailproof = Mailproof("BASE", os.environ["MAILPROOF_KEY"])

# 1. Upload the list. This is free.
file_key = mailproof.upload("customers.csv")

# 2. Start. It is charged once, even if responses are lost.
job_id = mailproof.process_file(file_key=file_key)["job_id"]
mailproof.wait_for_job(id=job_id)

# 3. Download the list with its verdicts.
with mailproof.download(id=job_id) as results, open("results.csv", "wb") as file:
    shutil.copyfileobj(results, file)`;

const GO = `package main

import (
	"context"
	"io"
	"log"
	"os"

	"mailproof.test/mailproof"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	client := must(mailproof.New(mailproof.Options{BaseURL: "BASE", Key: os.Getenv("MAILPROOF_KEY")}))

	// 1. Upload the list. This is free.
	list := must(os.ReadFile("customers.csv"))
	fileKey := must(client.Upload(ctx, "customers.csv", list))

	// 2. Start. It is charged once, even if responses are lost.
	job := must(client.ProcessFile(ctx, mailproof.ProcessFileInput{FileKey: fileKey}))
	must(client.WaitForJob(ctx, job.JobID))

	// 3. Download the list with its verdicts.
	results := must(client.Download(ctx, mailproof.DownloadJobInput{ID: job.JobID}))
	defer results.Close()
	must(io.Copy(must(os.Create("results.csv")), results))
}`;

type ServedClient = Sample & {
  readonly install: (baseUrl: string) => string;
};

const CLIENTS: readonly ServedClient[] = [
  {
    language: "TypeScript",
    install: (baseUrl) => `npm install ${baseUrl}/docs/clients/${NPM_PACKAGE}`,
    text: TYPESCRIPT,
  },
  {
    language: "Python",
    install: (baseUrl) => `pip install ${baseUrl}/docs/clients/${WHEEL}`,
    text: PYTHON,
  },
  {
    language: "Go",
    install: (baseUrl) => `export GOPROXY="${baseUrl}/docs/clients/${GO_PROXY},$(go env GOPROXY)"
export GONOSUMDB=${GO_MODULE}
go get ${GO_MODULE}@${GO_VERSION}`,
    text: GO,
  },
];

export const clientsAt = (baseUrl: string) =>
  CLIENTS.map(({ language, install, text }) => ({
    language,
    install: install(baseUrl),
    program: text.replace("BASE", baseUrl),
  }));
