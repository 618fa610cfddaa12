// Programs for other people's machines, as text. A test runs each of them as it stands.

const RETRY_TYPESCRIPT = `const key = crypto.randomUUID();              // once per address, not per try

const verify = async (email: string, tries = 5): Promise<unknown> => {
  const answer = await fetch(\`\${BASE}/v1/verify\`, {
    method: "POST",
    headers: {
      "X-Api-Key": process.env.MAILPROOF_KEY ?? "",
      "Content-Type": "application/json",
      "Idempotency-Key": key,
    },
    body: JSON.stringify({ email }),
  });
  const body = await answer.json();
  if (answer.ok) return body.data;
  if (!body.error.retryable || tries === 1) throw new Error(body.error.message);
  const seconds = Number(answer.headers.get("Retry-After") ?? 1);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return verify(email, tries - 1);
};`;

const RETRY_PYTHON = `import json, os, time, urllib.error, urllib.request, uuid

key = str(uuid.uuid4())                       # once per address, not per try

def verify(email, tries=5):
    request = urllib.request.Request(
        BASE + "/v1/verify",
        data=json.dumps({"email": email}).encode(),
        headers={
            "X-Api-Key": os.environ["MAILPROOF_KEY"],
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        },
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as refusal:
        error = json.load(refusal)["error"]
        if not error.get("retryable") or tries == 1:
            raise RuntimeError(error["message"])
        time.sleep(int(refusal.headers.get("Retry-After", 1)))
    return verify(email, tries - 1)`;

/** A client that may lose an answer and still pays once. */
export const retrying = (baseUrl: string) => [
  { language: "TypeScript", text: `const BASE = "${baseUrl}";\n${RETRY_TYPESCRIPT}` },
  { language: "Python", text: `BASE = "${baseUrl}"\n${RETRY_PYTHON}` },
];

const VERIFY_TYPESCRIPT = `import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

/** True when Mailproof sent it. \`body\`: the bytes as they came, before any parsing. */
export const isFromMailproof = (
  headers: Record<string, string | undefined>,
  body: string,
  secret: string,
): boolean => {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signed = "" } = headers;
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(at));
  if (!(ageSeconds <= TOLERANCE_SECONDS)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(\`\${id}.\${at}.\${body}\`).digest();
  return signed.split(" ").some((one) => {
    const sent = Buffer.from(one.replace(/^v1,/, ""), "base64");
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
};`;

const VERIFY_PYTHON = `import base64, hashlib, hmac, time

TOLERANCE_SECONDS = 300

def is_from_mailproof(headers, body, secret):
    """True when Mailproof sent it. body: the bytes as they came, before any parsing."""
    at = headers["webhook-timestamp"]
    if abs(time.time() - int(at)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = (headers["webhook-id"] + "." + at + ".").encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(
        hmac.compare_digest(one.removeprefix("v1,"), expected)
        for one in headers["webhook-signature"].split(" ")
    )`;

const VERIFY_LIBRARY = `import { Webhook } from "standardwebhooks";

// Throws when it is not ours.
const event = new Webhook(secret).verify(body, headers);`;

export const VERIFYING = [
  { language: "TypeScript", text: VERIFY_TYPESCRIPT },
  { language: "Python", text: VERIFY_PYTHON },
  { language: "Library", text: VERIFY_LIBRARY },
] as const;

const CLIENT = `import { createClient } from "@mailproof/client";

const mailproof = createClient({ baseUrl: "BASE", key: process.env.MAILPROOF_KEY });

const { status } = await mailproof.verify({ email: "ada.lovelace@example.com" });

const done = await mailproof.verifyFile("customers.csv");
for await (const row of done.results()) console.log(row.email, row.status);`;

/** With the library that we publish. */
export const withClient = (baseUrl: string): string => CLIENT.replace("BASE", baseUrl);
