# Checks example.com in the zone of each line of the input: a JSON object of names with their records by type.
import json
import logging
import sys

import checkdmarc.dmarc
import checkdmarc.spf
import checkdmarc.utils
import dns.rdata
import dns.resolver

logging.disable(logging.CRITICAL)


class NoData(dns.resolver.NoAnswer):
    # The library's own message needs a whole DNS response.
    def __init__(self):
        Exception.__init__(self)

    def __str__(self):
        return "no data"


def write(kind, value):
    if kind == "TXT":
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    is_absolute = kind in ("A", "AAAA") or value.endswith(".")
    return value if is_absolute else f"{value}."


class ZoneResolver(dns.resolver.Resolver):
    def __init__(self, zone):
        super().__init__(configure=False)
        self.zone = zone

    def resolve(self, qname, rdtype="A", *_, **__):
        name, kind = str(qname).rstrip(".").lower(), str(rdtype)
        if not any(f".{one}".endswith(f".{name}") for one in self.zone):
            raise dns.resolver.NXDOMAIN()
        values = self.zone.get(name, {}).get(kind, [])
        if not values:
            raise NoData()
        return [dns.rdata.from_text("IN", kind, write(kind, value)) for value in values]


def check(zone):
    checkdmarc.utils.DNS_CACHE.clear()
    resolver = ZoneResolver(zone)
    spf = checkdmarc.spf.check_spf("example.com", resolver=resolver)
    dmarc = checkdmarc.dmarc.check_dmarc("example.com", resolver=resolver)
    tags = dmarc.get("tags", {})
    policies = [tags[tag]["value"] for tag in ("p", "sp", "np")] if dmarc["valid"] else None
    return {
        "spf": spf["dns_lookups"] if spf["valid"] else "broken",
        "dmarc": " ".join(policies) if policies else "broken",
    }


for line in sys.stdin:
    try:
        answer = check(json.loads(line))
    except Exception as error:
        answer = {"error": repr(error)}
    print(json.dumps(answer))
