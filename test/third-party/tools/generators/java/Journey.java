import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.JobsApi;
import org.openapitools.client.api.VerificationApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.*;

/** What a customer does, with the client that openapi-generator makes for Java. */
public class Journey {
  private static void expect(Object is, Object should, String what) {
    if (!Objects.equals(is, should)) throw new IllegalStateException(what + " is " + is + ", not " + should);
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient().setBasePath(args[0]);
    client.setApiKey(args[1]);
    VerificationApi verification = new VerificationApi(client);
    JobsApi jobs = new JobsApi(client);
    WebhooksApi webhooks = new WebhooksApi(client);

    String key = UUID.randomUUID().toString();
    VerifyEmailRequest ask = new VerifyEmailRequest().email("ann@example.com");
    VerifiedEmail first = verification.verifyEmail(ask, key).getData().getVerifiedEmail();
    expect(first.getStatus(), VerificationStatus.VALID, "the status");
    VerifiedEmail again = verification.verifyEmail(ask, key).getData().getVerifiedEmail();
    expect(again.getIdempotentReplay(), true, "the replay");

    List<String> emails =
        List.of("ann@example.com", "invalid@example.com", "info@example.com", "full@example.com");
    String id =
        verification.verifyBatch(new VerifyBatchRequest().emails(emails), null).getData().getJobId();
    GetJobResult job = getPage(jobs, id, null);
    while (job.getStatus() != JobStatus.COMPLETED) {
      Thread.sleep(100);
      job = getPage(jobs, id, null);
    }
    int rows = job.getResults().size() + getPage(jobs, id, job.getNextKey()).getResults().size();
    expect(rows, emails.size(), "the number of rows");
    String csv = jobs.downloadJob(id, null, null, null, null, null, null);
    expect(csv.lines().count(), (long) emails.size() + 1, "the number of lines");

    CreateWebhookRequest wanted =
        new CreateWebhookRequest()
            .url(URI.create("https://hooks.example.com/mailproof"))
            .addEventsItem(EventName.JOB_COMPLETED);
    CreateWebhookResult webhook = webhooks.createWebhook(wanted).getData();
    expect(webhooks.deleteWebhook(webhook.getId()).getData().getDeleted(), true, "the removal");

    try {
      verification.verifyEmail(new VerifyEmailRequest().email(""), null);
      throw new IllegalStateException("no error");
    } catch (ApiException error) {
      expect(error.getCode(), 400, "the error");
    }
    System.out.println("played it through");
  }

  private static GetJobResult getPage(JobsApi jobs, String id, String nextKey) throws ApiException {
    return jobs.getJob(id, null, 3, null, null, null, null, null, null, nextKey).getData();
  }
}
