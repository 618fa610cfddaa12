"""The client: every operation, and calls that combine several of them."""

from __future__ import annotations

import pathlib
import time
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Iterator, ParamSpec, TypeVar, Unpack

from .operations import _OPERATIONS, Operations
from .transport import Operation

if TYPE_CHECKING:
    from .operations import DownloadJobInput, JobSummary, ListJobsInput, ProcessFileInput, ResultRow

Fields = ParamSpec("Fields")
Page = TypeVar("Page")

# The pause between two reads of a job: doubled each time, up to the second.
POLL_SECONDS = (0.25, 5.0)
ROWS_PER_PAGE = 1_000
OPEN = ("pending", "processing", "enqueue_unknown")


def _get_poll_delay(polls: int) -> float:
    first, most = POLL_SECONDS
    return min(first * 2**polls, most)


class Mailproof(Operations):
    """A client of one service with one key. Every paid call has its own Idempotency-Key and is paid for once."""

    def pages(
        self, read: Callable[Fields, Page], *args: Fields.args, **fields: Fields.kwargs
    ) -> Iterator[Page]:
        """Every page of a list: `for page in mailproof.pages(mailproof.list_ledger_entries)`."""
        wanted: dict[str, Any] = dict(fields)
        while True:
            page: Any = read(*args, **wanted)  # type: ignore[arg-type]
            yield page
            if page.get("next_offset") is None:
                return
            wanted["offset"] = page["next_offset"]

    def jobs(self, **fields: Unpack[ListJobsInput]) -> Iterator[JobSummary]:
        """Every job, newest first."""
        for page in self.pages(self.list_jobs, **fields):
            yield from page["jobs"]

    def results(self, *, id: str, wait: bool = True) -> Iterator[ResultRow]:
        """Every result of a job, each once. Of a running job each row when it is ready, unless `wait` is false."""
        cursor: dict[str, Any] = {}
        polls = 0
        while True:
            page: Any = self.get_job(id=id, limit=ROWS_PER_PAGE, **cursor)
            rows = page.get("results", [])
            yield from rows
            # A short page does not mean that nothing more is ready; an empty one does.
            if page.get("next_key") is None or (not wait and not rows):
                return
            cursor = {"next_key": page["next_key"]}
            if wait and len(rows) < ROWS_PER_PAGE and page["status"] in OPEN:
                time.sleep(_get_poll_delay(polls))
                polls += 1

    def wait_for_job(self, *, id: str) -> JobSummary:
        """Waits until the job ends, and returns it: look at its `status`."""
        polls = 0
        while True:
            job: Any = self.get_job(id=id, include_results=False)
            if job["status"] not in OPEN:
                return job
            time.sleep(_get_poll_delay(polls))
            polls += 1

    def upload(self, path: str | pathlib.Path, *, file_name: str | None = None) -> str:
        """Uploads a list and returns the `file_key` that `process_file` takes. It is free."""
        file = pathlib.Path(path).read_bytes()
        upload = self.create_upload(file_name=file_name or pathlib.Path(path).name, file_size=len(file))
        self._put(upload["upload_url"], file)
        return upload["file_key"]

    def download(self, **fields: Unpack[DownloadJobInput]) -> BinaryIO:
        """The results of a job as CSV or .xlsx: an open response, to be read in pieces and closed."""
        made = _OPERATIONS["downloadJob"]
        return self._open(Operation(made.route, fixed={"format": "csv"}), fields)
