"""What a customer does, with the client that openapi-generator makes for Python."""

import sys
import time
import uuid

import openapi_client as made

url, secret = sys.argv[1:3]
with made.ApiClient(made.Configuration(host=url, api_key={"ApiKey": secret})) as api:
    verification, jobs, webhooks = made.VerificationApi(api), made.JobsApi(api), made.WebhooksApi(api)

    key = str(uuid.uuid4())
    ask = made.VerifyEmailRequest(email="ann@example.com")
    first = verification.verify_email(ask, idempotency_key=key).data.actual_instance
    assert first.status == made.VerificationStatus.VALID, first
    again = verification.verify_email(ask, idempotency_key=key).data.actual_instance
    assert again.idempotent_replay is True, again

    emails = ["ann@example.com", "invalid@example.com", "info@example.com", "full@example.com"]
    batch = verification.verify_batch(made.VerifyBatchRequest(emails=emails)).data
    job = jobs.get_job(batch.job_id, limit=3).data
    while job.status != made.JobStatus.COMPLETED:
        time.sleep(0.1)
        job = jobs.get_job(batch.job_id, limit=3).data
    page = jobs.get_job(batch.job_id, limit=3, next_key=job.next_key).data
    assert [row.email for row in job.results + page.results] == emails
    csv = jobs.download_job(batch.job_id)
    assert csv.count("\n") == len(emails) + 1, csv

    wanted = made.CreateWebhookRequest(
        url="https://hooks.example.com/mailproof", events=[made.EventName.JOB_DOT_COMPLETED]
    )
    webhook = webhooks.create_webhook(wanted).data
    assert webhooks.delete_webhook(webhook.id).data.deleted is True

    try:
        verification.verify_email(made.VerifyEmailRequest(email=""))
    except made.ApiException as refused:
        assert refused.data.error.code == "INVALID_REQUEST", refused
    else:
        raise AssertionError("no error")
print("played it through")
