# Makes tokens with PyEVP's issuer and browser, each wrong in one way or in none, and says what PyEVP's verifier finds:
# a line of JSON for each. The first argument is how many of each way.
import base64
import hashlib
import hmac
import json
import sys
import urllib.error
from datetime import timedelta

from pyevp import EVPError, Verifier
from pyevp.adapters._fetch import FetchError, check_global_addresses
from pyevp.testing import FakeBrowser, FakeIssuer, FixedClock
from pyevp.token import compute_sd_hash, sign_jwt

AUDIENCE = "https://shop.example"
DNS_NAME = "_email-verification.example.com"


def encode(value):
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Case:
    """A visitor, a page and an issuer. A way to be wrong changes one of its parts."""

    def __init__(self, at):
        self.clock = FixedClock()
        maker = [FakeIssuer, FakeIssuer, FakeIssuer.gmail_like][at % 3]
        options = {"host": f"issuer{at % 7}.example", "email_domains": ("example.com",)}
        if maker is FakeIssuer:
            options["alg"] = ["Ed25519", "ES256", "EdDSA"][at % 5 % 3]
            options["iss_format"] = ["origin", "host"][at % 2]
        self.issuer = maker(clock=self.clock, **options)
        self.browser = FakeBrowser(alg=["ES256", "Ed25519", "EdDSA"][at % 4 % 3], clock=self.clock)
        self.email = f"visitor{at}@example.com"
        self.asked_email = self.email
        self.nonce = self.asked_nonce = f"nonce-{at}"
        self.audience = AUDIENCE
        self.dns = dict(self.issuer.dns_records())
        self.documents = dict(self.issuer.http_documents())
        # Of hosts that are not on the open internet; and documents that redirect.
        self.addresses = {}
        self.redirects = []
        self.header, self.claims = {}, {}
        self.kb_header, self.kb_claims = {}, {}
        self.edit = lambda evt: evt
        self.finish = lambda token: token

    def present(self):
        evt = self.edit(
            self.issuer.issue(
                self.email, self.browser.public_jwk, claims=self.claims, header=self.header
            )
        )
        prefix = f"{evt}~"
        claims = {
            "aud": self.audience,
            "nonce": self.nonce,
            "iat": int(self.clock().timestamp()),
            "sd_hash": compute_sd_hash(prefix),
        } | self.kb_claims
        header = {"alg": self.browser.alg, "typ": "kb+jwt"} | self.kb_header
        kept = {name: value for name, value in claims.items() if value is not None}
        kb = sign_jwt({n: v for n, v in header.items() if v is not None}, kept, self.browser.key)
        return self.finish(prefix + kb)

    def seconds(self, ahead):
        return int((self.clock() + timedelta(seconds=ahead)).timestamp())

    # The ports of PyEVP's verifier.
    def resolve_txt(self, name):
        return list(self.dns.get(name, []))

    def fetch_json(self, url):
        host = url.split("/")[2]
        if host in self.addresses:
            check_global_addresses(url, host, self.addresses[host])
        if url in self.redirects:
            # As its adapters: no redirect is followed.
            raise urllib.error.HTTPError(url, 302, "Found", {}, None)
        if url not in self.documents:
            raise FetchError(f"GET {url}: 404")
        return self.documents[url]

    def verify(self, token):
        verifier = Verifier(
            audience=AUDIENCE, resolver=self, fetcher=self, clock=self.clock
        )
        try:
            verifier.verify(token, nonce=self.asked_nonce, email=self.asked_email)
            return "controlled"
        except EVPError as error:
            return str(error.code)


WAYS = {}


def way(name):
    def add(function):
        WAYS[name] = function
        return function

    return add


def resign_with(algorithm, key):
    """Another algorithm in the header, and a signature that fits it."""

    def edit(jwt):
        header, claims, _ = jwt.split(".")
        fields = json.loads(base64.urlsafe_b64decode(header + "=="))
        start = encode({**fields, "alg": algorithm}) + "." + claims
        if algorithm.lower() == "none":
            # Three parts, of which the last one is not empty: else it is no token at all.
            return start + "." + encode(b"none")
        return start + "." + encode(hmac.new(key, start.encode(), hashlib.sha256).digest())

    return edit


def edit_kb(edit):
    def finish(token):
        evt, kb = token.split("~")
        return f"{evt}~{edit(kb)}"

    return finish


def flip_signature(jwt):
    start, _, signature = jwt.rpartition(".")
    raw = bytearray(base64.urlsafe_b64decode(signature + "=="))
    raw[5] ^= 1
    return start + "." + encode(bytes(raw))


def change_claims(jwt):
    header, claims, signature = jwt.split(".")
    fields = json.loads(base64.urlsafe_b64decode(claims + "=="))
    return ".".join([header, encode({**fields, "extra": 1}), signature])


way("nothing")(lambda c, at: None)
way("nothing, and the address is in capitals")(
    lambda c, at: setattr(c, "asked_email", c.email.replace("visitor", "VISITOR"))
)
way("nothing, and the record has an origin")(
    lambda c, at: c.dns.update({DNS_NAME: [f"iss={c.issuer.issuer}"]})
)
way("nothing, and the issuer names no algorithms")(
    lambda c, at: c.documents.update(
        {
            c.issuer.metadata_url: {
                n: v for n, v in c.issuer.metadata.items() if n != "signing_alg_values_supported"
            }
        }
    )
)

way("typ")(lambda c, at: c.header.update(typ=["jwt", "JWT", "kb+jwt", None, "dc+sd-jwt"][at % 5]))
way("typ of the browser's part")(
    lambda c, at: c.kb_header.update(typ=["jwt", "evt+jwt", None, "KB+JWT"][at % 4])
)


@way("alg none")
def _(c, at):
    c.edit = resign_with(["none", "None", "NONE"][at % 3], b"")


@way("alg none, and no signature")
def _(c, at):
    c.edit = lambda jwt: resign_with("none", b"")(jwt).rpartition(".")[0] + "."


@way("alg none of the browser's part")
def _(c, at):
    c.finish = edit_kb(resign_with("none", b""))


@way("HMAC by the public key")
def _(c, at):
    c.edit = resign_with(["HS256", "HS384"][at % 2], json.dumps(c.issuer.jwks["keys"][0]).encode())


@way("HMAC of the browser's part")
def _(c, at):
    c.finish = edit_kb(resign_with("HS256", json.dumps(c.browser.public_jwk).encode()))


@way("another alg in the header")
def _(c, at):
    def edit(jwt):
        header, claims, signature = jwt.split(".")
        fields = json.loads(base64.urlsafe_b64decode(header + "=="))
        other = {"ES256": "Ed25519", "Ed25519": "ES256", "EdDSA": "ES256"}[fields["alg"]]
        return ".".join([encode({**fields, "alg": other}), claims, signature])

    c.edit = edit


@way("kid absent")
def _(c, at):
    c.issuer.kid = "the-key"
    c.documents = dict(c.issuer.http_documents())
    c.header.update(kid=[None, ""][at % 2])


way("kid of another key")(lambda c, at: c.header.update(kid="another"))


@way("kid that is no text")
def _(c, at):
    def edit(jwt):
        header, claims, signature = jwt.split(".")
        fields = json.loads(base64.urlsafe_b64decode(header + "=="))
        kid = [7, ["a"], {"a": 1}][at % 3]
        return ".".join([encode({**fields, "kid": kid}), claims, signature])

    c.edit = edit


way("iat long ago")(lambda c, at: c.claims.update(iat=c.seconds([-360, -4000, -10**8][at % 3])))
way("iat ahead")(lambda c, at: c.claims.update(iat=c.seconds([61, 4000, 10**8][at % 3])))
way("iat within the limits")(lambda c, at: c.claims.update(iat=c.seconds([-359, 60, 0][at % 3])))
way("iat absent or a text")(lambda c, at: c.claims.update(iat=[None, "now", True][at % 3]))
way("iat of the browser long ago")(lambda c, at: c.kb_claims.update(iat=c.seconds(-360 - at)))
way("iat of the browser ahead")(lambda c, at: c.kb_claims.update(iat=c.seconds(61 + at)))
way("iat of the browser absent or a text")(
    lambda c, at: c.kb_claims.update(iat=[None, "now"][at % 2])
)
way("exp passed")(lambda c, at: c.claims.update(exp=c.seconds(-61 - at)))
way("aud")(
    lambda c, at: setattr(
        c,
        "audience",
        ["https://evil.example", "http://shop.example", AUDIENCE + "/", AUDIENCE + ":8443"][at % 4],
    )
)
way("aud as a list")(lambda c, at: c.kb_claims.update(aud=[AUDIENCE]))
way("nonce")(lambda c, at: setattr(c, "asked_nonce", "another"))
way("nonce absent or empty")(lambda c, at: c.kb_claims.update(nonce=[None, ""][at % 2]))
way("cnf absent")(lambda c, at: c.claims.update(cnf=[None, {}, {"jwk": {}}, "x"][at % 4]))
way("cnf of another browser")(
    lambda c, at: c.claims.update(
        cnf={"jwk": FakeBrowser(alg=c.browser.alg, clock=c.clock).public_jwk}
    )
)
way("cnf with its private part")(
    lambda c, at: c.claims.update(cnf={"jwk": dict(c.browser.key.as_dict(private=True))})
)
way("cnf of another kind of key")(
    lambda c, at: c.claims.update(
        cnf={
            "jwk": FakeBrowser(
                alg="Ed25519" if c.browser.alg == "ES256" else "ES256", clock=c.clock
            ).public_jwk
        }
    )
)
way("sd_hash of another token")(
    lambda c, at: c.kb_claims.update(sd_hash=[compute_sd_hash("a~"), "", None][at % 3])
)
way("email of another")(lambda c, at: setattr(c, "asked_email", f"other{at}@example.com"))
way("email at another domain")(lambda c, at: setattr(c, "asked_email", f"visitor{at}@example.org"))
way("email absent")(lambda c, at: c.claims.update(email=[None, 7, "visitor"][at % 3]))
way("email not verified")(lambda c, at: c.claims.update(email_verified=[False, None, "true"][at % 3]))
way("iss absent or no host")(
    lambda c, at: c.claims.update(iss=[None, 7, "http://issuer.example", "https://a/b"][at % 4])
)
way("iss of another issuer")(lambda c, at: c.claims.update(iss="https://evil.example"))
way("changed claims")(lambda c, at: setattr(c, "edit", change_claims))
way("signature")(lambda c, at: setattr(c, "edit", flip_signature))
way("signature of the browser")(lambda c, at: setattr(c, "finish", edit_kb(flip_signature)))


@way("signature by another issuer's key")
def _(c, at):
    c.documents = dict(c.issuer.http_documents())
    c.issuer.rotate_key()


@way("a disclosure")
def _(c, at):
    c.finish = lambda token: token.replace("~", "~" + encode(["salt", "a", 1]) + "~")


way("only the issuer's part")(
    lambda c, at: setattr(c, "finish", lambda token: token.split("~")[0] + ["", "~"][at % 2])
)
way("no delegation")(lambda c, at: c.dns.clear())
way("a record of another form")(
    lambda c, at: c.dns.update(
        {DNS_NAME: [["iss=", "iss=127.0.0.1", "iss=localhost", "v=spf1 -all", "iss=a b"][at % 5]]}
    )
)
way("two records")(
    lambda c, at: c.dns.update({DNS_NAME: [f"iss={c.issuer.host}", "iss=other.example"]})
)
way("a record beside another text")(
    lambda c, at: c.dns.update({DNS_NAME: [f"iss={c.issuer.host}", "v=spf1 -all"]})
)
way("delegated to another issuer")(lambda c, at: c.dns.update({DNS_NAME: ["iss=other.example"]}))


def metadata(change):
    def apply(c, at):
        fields = {**c.issuer.metadata, **change(c, at)}
        c.documents[c.issuer.metadata_url] = {n: v for n, v in fields.items() if v is not None}

    return apply


def outside_keys(c, at):
    url = ["https://evil.example/keys", f"https://not{c.issuer.host}/keys"][at % 2]
    c.documents[url] = c.issuer.jwks
    return {"jwks_uri": url}


def keys_below(c, at):
    url = f"https://keys.{c.issuer.host}/keys"
    c.documents[url] = c.issuer.jwks
    return {"jwks_uri": url}


way("nothing, and its keys are at a host below")(metadata(keys_below))
way("keys outside of the issuer")(metadata(outside_keys))
way("issuance outside of the issuer")(
    metadata(lambda c, at: {"issuance_endpoint": "https://evil.example/issue"})
)
way("keys over http")(metadata(lambda c, at: {"jwks_uri": f"http://{c.issuer.host}/keys"}))
way("keys at an address")(
    metadata(lambda c, at: {"jwks_uri": ["https://127.0.0.1/k", "https://[::1]/k"][at % 2]})
)
way("no keys or issuance named")(
    metadata(lambda c, at: {["jwks_uri", "issuance_endpoint"][at % 2]: None})
)
way("document of another issuer")(metadata(lambda c, at: {"issuer": "https://other.example"}))
way("document without its issuer")(metadata(lambda c, at: {"issuer": None}))
way("algorithms without the token's")(
    metadata(
        lambda c, at: {
            "signing_alg_values_supported": ["RS256"]
            if c.issuer.alg == "ES256"
            else ["ES256"]
        }
    )
)
way("no document")(lambda c, at: c.documents.pop(c.issuer.metadata_url))
way("no keys")(lambda c, at: c.documents.pop(c.issuer.jwks_uri))
way("a document that is a list")(lambda c, at: c.documents.update({c.issuer.metadata_url: []}))
way("keys that are none")(
    lambda c, at: c.documents.update(
        {c.issuer.jwks_uri: [{"keys": []}, {}, {"keys": [{"kty": "oct", "k": "AA"}]}][at % 3]}
    )
)
way("an issuer at a private address")(
    lambda c, at: c.addresses.update(
        {
            c.issuer.host: [
                ["127.0.0.1"],
                ["10.0.0.1"],
                ["169.254.169.254"],
                ["::1"],
                ["fd00::1"],
                ["8.8.8.8", "192.168.0.1"],
            ][at % 6]
        }
    )
)
way("a document that redirects")(lambda c, at: c.redirects.append(c.issuer.metadata_url))
way("keys that redirect")(lambda c, at: c.redirects.append(c.issuer.jwks_uri))


@way("a local part that only folding makes the same")
def _(c, at):
    c.email = f"stra\u00dfe{at}@example.com"
    c.asked_email = f"STRASSE{at}@example.com"


@way("white space around the token")
def _(c, at):
    c.finish = lambda token: [f" {token}", f"{token}\n"][at % 2]


for name, change in WAYS.items():
    for at in range(int(sys.argv[1])):
        case = Case(at)
        change(case, at)
        token = case.present()
        print(
            json.dumps(
                {
                    "way": name,
                    "token": token,
                    "nonce": case.asked_nonce,
                    "origin": AUDIENCE,
                    "email": case.asked_email,
                    "at": case.clock().isoformat(),
                    "dns": case.dns,
                    "documents": case.documents,
                    "addresses": case.addresses,
                    "redirects": case.redirects,
                    "found": case.verify(token),
                }
            )
        )
