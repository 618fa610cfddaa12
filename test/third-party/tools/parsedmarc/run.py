# Reads the DMARC report in base64 in each line of the input, and adds up its records for each source.
import base64
import json
import logging
import sys
from collections import defaultdict

import parsedmarc

logging.disable(logging.CRITICAL)


def read(content):
    # Offline: it would ask DNS for the names of sources.
    parsed = parsedmarc.parse_report_file(content, offline=True)
    report = parsed.get("report", parsed)
    sums = defaultdict(lambda: [0, 0, 0, 0])
    for record in report["records"]:
        alignment = record["alignment"]
        counted = [True, alignment["spf"], alignment["dkim"], alignment["spf"] or alignment["dkim"]]
        of_source = sums[record["source"]["ip_address"]]
        for at, holds in enumerate(counted):
            of_source[at] += record["count"] if holds else 0
    return {
        "domain": report["policy_published"]["domain"],
        "policy": report["policy_published"]["p"],
        "sums": sums,
    }


for line in sys.stdin:
    try:
        answer = read(base64.b64decode(line))
    except Exception as error:
        answer = {"error": repr(error)}
    print(json.dumps(answer))
