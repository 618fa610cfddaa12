import { SCRIPT_INTEGRITY, SCRIPT_PATH } from "@mailproof/guard/built";

// A page with a form, and its back ends, as text. Tests run each of them, with nothing changed but the key.

export const snippet = (baseUrl: string): string => `<script src="${baseUrl}${SCRIPT_PATH}"
  integrity="${SCRIPT_INTEGRITY}"
  crossorigin="anonymous" data-key="mp_pub_…" defer></script>`;

/** The policy that sends typed addresses only to the service's host, whatever markup the page gets. */
export const connectPolicy = (baseUrl: string): string => `connect-src 'self' ${baseUrl}`;

export const page = (baseUrl: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${connectPolicy(baseUrl)}">
<title>Sign up</title>
<style>
  .mailproof-hint { margin: 0.3rem 0; }
  .mailproof-hint button { border: 0; padding: 0; background: none; color: blue; font: inherit; }
</style>
<h1>Sign up</h1>
<form action="/signup" method="post">
  <label for="email">Email</label>
  <input id="email" name="email" type="email" autocomplete="email" required>
  <button>Sign up</button>
</form>
${snippet(baseUrl)}
</html>
`;

const NODE = `// npm install jose
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";

const API = "API_URL";
const ORIGIN = process.env.ORIGIN ?? "http://localhost:3000";
const ACCOUNT = process.env.MAILPROOF_ACCOUNT;
const MODE = process.env.MODE ?? "live";
const keys = createRemoteJWKSet(new URL(API + "/.well-known/jwks.json"));

/** What the receipt says, if it is of our account, recent, and about this address on this page. */
const readReceipt = async (receipt, email) => {
  try {
    const { payload } = await jwtVerify(receipt, keys, {
      algorithms: ["EdDSA"],
      typ: "mailproof-receipt+jwt",
      maxTokenAge: "1h",
      clockTolerance: "1m",
    });
    const hash = createHash("sha256").update(email.trim().toLowerCase()).digest("hex");
    // Other customers have receipts of the same keys, and test keys prove anything.
    const isOurs = payload.aud === ACCOUNT && payload.mode === MODE && payload.origin === ORIGIN;
    return isOurs && payload.email_sha256 === hash ? payload : null;
  } catch {
    return null;
  }
};

/** Without a receipt, as from a browser without scripts or from a robot, the back end asks for the class by itself. */
const mayHave = async (email, receipt) => {
  const claims = await readReceipt(receipt, email);
  if (claims) return claims.class !== "no";
  // Not what the mail server says: visitors would learn from your answer who has a mailbox.
  const answer = await fetch(API + "/v1/verify/form", {
    method: "POST",
    headers: { "X-Api-Key": process.env.MAILPROOF_KEY, "Content-Type": "application/json" },
    body: JSON.stringify({ email }),
  }).catch(() => undefined);
  const { data } = (await answer?.json().catch(() => undefined)) ?? {};
  return data?.class !== "no";
};

const answer = async (request, response) => {
  if (request.method !== "POST") {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(await readFile("signup.html"));
    return;
  }
  let body = "";
  for await (const piece of request) {
    body += piece;
    if (body.length > 100_000) throw new Error("too long");
  }
  const form = new URLSearchParams(body);
  const isTaken = await mayHave(form.get("email") ?? "", form.get("mailproof_receipt") ?? "");
  response.statusCode = isTaken ? 200 : 422;
  response.end(isTaken ? "Thanks. Please look for our mail." : "Please enter another address.");
};

// A visitor who hangs up while sending must not end the process.
createServer((request, response) => answer(request, response).catch(() => response.destroy())).listen(process.env.PORT ?? 3000);
`;

const PYTHON = `# pip install joserfc
import hashlib
import json
import os
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

API = "API_URL"
ORIGIN = os.environ.get("ORIGIN", "http://localhost:3000")
ACCOUNT = os.environ["MAILPROOF_ACCOUNT"]
MODE = os.environ.get("MODE", "live")


def ask(path, body=None):
    headers = {"Content-Type": "application/json"}
    if body is not None:
        headers["X-Api-Key"] = os.environ["MAILPROOF_KEY"]
        body = json.dumps(body).encode()
    request = urllib.request.Request(API + path, data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


# Next year's key is in it already, so a process can keep the set for months.
KEYS = KeySet.import_key_set(ask("/.well-known/jwks.json"))


def read_receipt(receipt, email):
    """What the receipt says, if it is of our account, recent, and about this address on this page."""
    try:
        token = jwt.decode(receipt, KEYS, algorithms=["EdDSA"])
    except (JoseError, ValueError):
        return None
    claims = token.claims
    sha256 = hashlib.sha256(email.strip().lower().encode()).hexdigest()
    # Other customers have receipts of the same keys, and test keys prove anything.
    named = [claims.get(name) for name in ("aud", "mode", "origin", "email_sha256")]
    ours = token.header.get("typ") == "mailproof-receipt+jwt" and named == [ACCOUNT, MODE, ORIGIN, sha256]
    recent = time.time() - claims.get("iat", 0) < 3600
    return claims if ours and recent else None


def may_have(email, receipt):
    """Without a receipt, as from a browser without scripts or from a robot, the back end asks for the class by itself."""
    claims = read_receipt(receipt, email)
    if claims:
        return claims["class"] != "no"
    try:
        # Not what the mail server says: visitors would learn from your answer who has a mailbox.
        return ask("/v1/verify/form", {"email": email})["data"]["class"] != "no"
    except (OSError, ValueError):
        return True


class Site(BaseHTTPRequestHandler):
    def answer(self, status, kind, text):
        self.send_response(status)
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        with open("signup.html", "rb") as page:
            self.answer(200, "text/html", page.read())

    def do_POST(self):
        length = min(int(self.headers["Content-Length"]), 100_000)
        body = self.rfile.read(max(0, length)).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        if may_have(form.get("email", ""), form.get("mailproof_receipt", "")):
            self.answer(200, "text/plain", b"Thanks. Please look for our mail.")
        else:
            self.answer(422, "text/plain", b"Please enter another address.")


ThreadingHTTPServer(("", int(os.environ.get("PORT", "3000"))), Site).serve_forever()
`;

export const backEnds = (baseUrl: string) => [
  { language: "Node", text: NODE.replace("API_URL", baseUrl) },
  { language: "Python", text: PYTHON.replace("API_URL", baseUrl) },
];
