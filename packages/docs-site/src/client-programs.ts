import manifest from "../package.json" with { type: "json" };
import type { Sample } from "./html.ts";

// The clients that a server has at /docs/clients/ (scripts/build/clients.ts makes them), how each is installed, and a
// program with each. test/third-party/served-clients.test.ts does what the page says, word by word.

const { version } = manifest;

export const NPM_PACKAGE = `mailproof-client-${version}.tgz`;
export const WHEEL = `mailproof_client-${version}-py3-none-any.whl`;
/** Of no registry: the server is the proxy that has it. */
export const GO_MODULE = "mailproof.test/mailproof";
export const GO_VERSION = `v${version}`;
/** Below /docs/clients/, the protocol of Go's module proxies. */
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

const PYTHON = `import os, time, uuid
import httpx
from mailproof_client import AuthenticatedClient, models
from mailproof_client.api.jobs import download_job, get_job
from mailproof_client.api.verification import verify_file

client = AuthenticatedClient(base_url="BASE", token=os.environ["MAILPROOF_KEY"])

def data(answer):
    if hasattr(answer, "error"):
        raise RuntimeError(answer.error.message + " " + answer.error.doc_url)
    return answer.data

# 1. Upload the list. This is free.
ask = models.UploadRequest(action="get_upload_url", file_name="customers.csv")
upload = data(verify_file.sync(client=client, body=ask))
with open("customers.csv", "rb") as file:
    httpx.put(upload.upload_url, content=file.read()).raise_for_status()

# 2. Start. If the response is lost, repeat it with the same key: it is charged once.
start = models.ProcessFileRequest(action="process", file_key=upload.file_key)
key = str(uuid.uuid4())
job = data(verify_file.sync(client=client, body=start, idempotency_key=key))
while not data(get_job.sync(job.job_id, client=client)).completed_at:
    time.sleep(1)

# 3. Download the list with its verdicts.
results = download_job.sync_detailed(job.job_id, client=client)
with open("results.csv", "wb") as file:
    file.write(results.content)`;

const GO = `package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"log"
	"net/http"
	"os"
	"time"

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
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-Api-Key", os.Getenv("MAILPROOF_KEY"))
		return nil
	}
	client := must(mailproof.NewClientWithResponses("BASE", mailproof.WithRequestEditorFn(withKey)))
	var body mailproof.VerifyFileRequest

	// 1. Upload the list. This is free.
	body.FromUploadRequest(mailproof.UploadRequest{Action: "get_upload_url", FileName: "customers.csv"})
	upload := must(client.VerifyFileWithResponse(ctx, nil, body))
	if upload.JSON200 == nil {
		log.Fatal(string(upload.Body))
	}
	list := bytes.NewReader(must(os.ReadFile("customers.csv")))
	sent := must(http.DefaultClient.Do(must(http.NewRequest("PUT", upload.JSON200.Data.UploadUrl, list))))
	if sent.StatusCode != 200 {
		log.Fatal(sent.Status)
	}

	// 2. Start. If the response is lost, repeat it with the same key: it is charged once.
	body.FromProcessFileRequest(mailproof.ProcessFileRequest{Action: "process", FileKey: upload.JSON200.Data.FileKey})
	key := rand.Text()
	started := must(client.VerifyFileWithResponse(ctx, &mailproof.VerifyFileParams{IdempotencyKey: &key}, body))
	if started.JSON202 == nil {
		log.Fatal(string(started.Body))
	}
	id := started.JSON202.Data.JobId
	for must(client.GetJobWithResponse(ctx, id, nil)).JSON200.Data.CompletedAt == nil {
		time.Sleep(time.Second)
	}

	// 3. Download the list with its verdicts.
	results := must(client.DownloadJobWithResponse(ctx, id, nil))
	must(0, os.WriteFile("results.csv", results.Body, 0o644))
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

/** How each client is installed, and its program for the three steps of a file. */
export const clientsAt = (baseUrl: string) =>
  CLIENTS.map(({ language, install, text }) => ({
    language,
    install: install(baseUrl),
    program: text.replace("BASE", baseUrl),
  }));
