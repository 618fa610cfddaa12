"""Plays the calls of test/journey/served/play.ts in Python."""

import json
import os

from mailproof_client import Mailproof, MailproofError

mailproof = Mailproof(os.environ["MAILPROOF_API"], os.environ["MAILPROOF_KEY"])
address, *emails = os.environ["ADDRESSES"].split()

first = mailproof.verify_email(email=address, idempotency_key="python-1")
again = mailproof.verify_email(email=address, idempotency_key="python-1")

job_id = mailproof.verify_batch(emails=emails)["job_id"]
rows = [(row["email"], row["status"]) for row in mailproof.results(id=job_id)]
mailproof.verify_batch(emails=[address])
pages = [len(page["jobs"]) for page in mailproof.pages(mailproof.list_jobs, limit=1)]
with mailproof.download(id=job_id, filter="valid") as file:
    csv = file.read().decode()

try:
    mailproof.get_account()
    refusal = None
except MailproofError as error:
    refusal = {"code": error.code, "money": error.money, "seconds": error.retry_after}

print(
    json.dumps(
        {
            "status": first["status"],
            "replay": again.get("idempotent_replay"),
            "rows": rows,
            "pages": pages,
            "csvLines": len(csv.splitlines()),
            "refusal": refusal,
        }
    )
)
