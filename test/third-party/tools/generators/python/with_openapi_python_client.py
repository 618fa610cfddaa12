"""What a customer does, with the client that openapi-python-client makes."""

import importlib
import pkgutil
import sys
import time
import uuid

import mailproof_client
from mailproof_client import AuthenticatedClient, models
from mailproof_client.api.jobs import download_job, get_job
from mailproof_client.api.verification import verify_batch, verify_email
from mailproof_client.api.webhooks import create_webhook, delete_webhook

for module in pkgutil.walk_packages(mailproof_client.__path__, "mailproof_client."):
    importlib.import_module(module.name)

url, secret = sys.argv[1:3]
client = AuthenticatedClient(base_url=url, token=secret)

key = str(uuid.uuid4())
ask = models.VerifyEmailRequest(email="ann@example.com")
first = verify_email.sync(client=client, body=ask, idempotency_key=key).data
assert first.status == models.VerificationStatus.VALID, first
again = verify_email.sync(client=client, body=ask, idempotency_key=key).data
assert again.idempotent_replay is True, again

emails = ["ann@example.com", "invalid@example.com", "info@example.com", "full@example.com"]
batch = verify_batch.sync(client=client, body=models.VerifyBatchRequest(emails=emails)).data
job = get_job.sync(batch.job_id, client=client, limit=3).data
while job.status != models.JobStatus.COMPLETED:
    time.sleep(0.1)
    job = get_job.sync(batch.job_id, client=client, limit=3).data
page = get_job.sync(batch.job_id, client=client, limit=3, next_key=job.next_key).data
assert [row.email for row in job.results + page.results] == emails
csv = download_job.sync(batch.job_id, client=client)
assert csv.count("\r\n") == len(emails) + 1, csv

wanted = models.CreateWebhookRequest(
    url="https://hooks.example.com/mailproof", events=[models.EventName.JOB_COMPLETED]
)
webhook = create_webhook.sync(client=client, body=wanted).data
assert delete_webhook.sync(webhook.id, client=client).data.deleted is True

refused = verify_email.sync(client=client, body=models.VerifyEmailRequest(email=""))
assert refused.error.code == "INVALID_REQUEST", refused
print("played it through")
