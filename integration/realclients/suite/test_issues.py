import gitlab
import pytest
import requests

BOOK = "POST /projects/:id/issues/:issue_iid/add_spent_time"


@pytest.fixture
def case(forgetest, request):
    """A project of the test's own, a client, and what sets faults for this test alone."""
    path = "pytest/" + request.node.name.replace("_", "-")
    forgetest.control("POST", "data", {"projects": [{"path": path, "issues": [{"title": "Crash"}]}]})

    def fail(*instructions):
        test = forgetest.control("POST", "retry_test", {"instructions": {BOOK: list(instructions)}})
        client = gitlab.Gitlab(forgetest.url, private_token=forgetest.token, retry_transient_errors=True)
        client.headers["X-Forgetest-Test"] = test["id"]
        return client.projects.get(path).issues.get(1), lambda: forgetest.control("GET", "retry_test/" + test["id"])

    return fail


def test_retried_error_books_once(case):
    issue, outcome = case("return-502")
    assert issue.add_spent_time("1h")["total_time_spent"] == 3600
    assert outcome()["requests"][BOOK] == 2
    assert outcome()["applied"][BOOK] == 1
    assert outcome()["completed"]


def test_lost_response_books_all_the_same(case):
    issue, outcome = case("drop-response")
    issue.manager.gitlab.retry_transient_errors = False
    with pytest.raises(requests.exceptions.ConnectionError):
        issue.add_spent_time("2h")
    assert outcome()["applied"][BOOK] == 1
    assert issue.manager.get(1).time_stats()["total_time_spent"] == 7200
