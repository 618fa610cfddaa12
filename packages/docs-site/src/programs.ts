// Sample programs, as text. A test runs each of them unchanged.

const RETRY_TYPESCRIPT = `const TRIES = 5;

// One key for an address, for all attempts.
const verify = async (email: string, key: string = crypto.randomUUID()) => {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(\`\${BASE}/v1/verify\`, {
      method: "POST",
      headers: {
        "X-Api-Key": process.env.MAILPROOF_KEY ?? "",
        "Content-Type": "application/json",
        "Idempotency-Key": key,
      },
      body: JSON.stringify({ email }),
    }).catch(() => undefined);
    // Undefined when the response was lost, or is not the service's.
    const body: any = await answer?.json().catch(() => undefined);
    if (answer?.ok && body) return body.data;
    const inDoubt = body?.error?.money === "retry_same_key" && answer!.status >= 500;
    const again = !body?.error || body.error.retryable || inDoubt;
    if (!again || tries === TRIES) throw new Error(body?.error?.message ?? \`No answer: \${key}\`);
    const seconds = Number(answer?.headers.get("Retry-After") ?? tries);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
};`;

const RETRY_PYTHON = `import http.client, json, os, time, urllib.error, urllib.request, uuid

TRIES = 5

def verify(email, key=None):
    key = key or str(uuid.uuid4())          # one for an address, however often it is tried
    for tries in range(1, TRIES + 1):
        request = urllib.request.Request(
            BASE + "/v1/verify",
            data=json.dumps({"email": email}).encode(),
            headers={
                "X-Api-Key": os.environ["MAILPROOF_KEY"],
                "Content-Type": "application/json",
                "Idempotency-Key": key,
            },
        )
        seconds = tries
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refusal:
            error = json.load(refusal)["error"]
            in_doubt = error["money"] == "retry_same_key" and refusal.code >= 500
            if not error.get("retryable") and not in_doubt:
                raise RuntimeError(error["message"])
            seconds = int(refusal.headers.get("Retry-After", tries))
        except (OSError, ValueError, http.client.HTTPException):
            pass                            # it was lost: the same key asks for it again
        time.sleep(seconds)
    raise RuntimeError("No answer: " + key)`;

export const retrying = (baseUrl: string) => [
  { language: "TypeScript", text: `const BASE = "${baseUrl}";\n${RETRY_TYPESCRIPT}` },
  { language: "Python", text: `BASE = "${baseUrl}"\n${RETRY_PYTHON}` },
];

const VERIFY_TYPESCRIPT = `import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

/** True when Mailproof sent it. \`body\`: the bytes as they arrived, before any parsing. */
export const isFromMailproof = (
  headers: Record<string, string | string[] | undefined>,
  body: string,
  secret: string,
): boolean => {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signed } = headers;
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(at));
  if (!(ageSeconds <= TOLERANCE_SECONDS)) return false;
  // The bytes of a callback secret that you chose are the key.
  const isOurs = secret.startsWith("whsec_");
  const key = isOurs ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
  const expected = createHmac("sha256", key).update(\`\${id}.\${at}.\${body}\`).digest();
  return String(signed).split(" ").some((one) => {
    const sent = Buffer.from(one.replace(/^v1,/, ""), "base64");
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
};`;

const VERIFY_PYTHON = `import base64, hashlib, hmac, time

TOLERANCE_SECONDS = 300

def is_from_mailproof(headers, body, secret):
    """True when Mailproof sent it. body: the bytes as they arrived, before any parsing."""
    at = headers.get("webhook-timestamp", "")
    if not at.isdecimal() or abs(time.time() - int(at)) > TOLERANCE_SECONDS:
        return False
    # The bytes of a callback secret that you chose are the key.
    ours = secret.startswith("whsec_")
    key = base64.b64decode(secret[6:]) if ours else secret.encode()
    signed = (headers.get("webhook-id", "") + "." + at + ".").encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any(
        hmac.compare_digest(one.removeprefix("v1,").encode(), expected)
        for one in headers.get("webhook-signature", "").split(" ")
    )`;

const VERIFY_LIBRARY = `import { Webhook } from "standardwebhooks";

// Throws when Mailproof did not send it. Libraries accept secrets that start with whsec_.
const event = new Webhook(secret).verify(body, headers);`;

export const VERIFYING = [
  { language: "TypeScript", text: VERIFY_TYPESCRIPT },
  { language: "Python", text: VERIFY_PYTHON },
  { language: "Library", text: VERIFY_LIBRARY },
] as const;
