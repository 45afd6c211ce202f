import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { Gitlab } from "@gitbeaker/rest";

const book = "POST /projects/:id/issues/:issue_iid/add_spent_time";
let server, forgetest;

async function control(method, path, body) {
  const response = await fetch(`${forgetest.url}/_forgetest/${path}`, {
    method, body: body && JSON.stringify(body), headers: { Authorization: `Bearer ${forgetest.control_token}` },
  });
  assert.ok(response.ok, await response.clone().text());
  return response.json();
}

before(async () => {
  const ready = join(mkdtempSync(join(tmpdir(), "forgetest-")), "ready.json");
  server = spawn("forgetest", ["-addr", "127.0.0.1:0", "-ready-file", ready]);
  while (!existsSync(ready)) {
    assert.equal(server.exitCode, null, "forgetest has ended");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  forgetest = JSON.parse(readFileSync(ready, "utf8"));
});

after(() => server.kill("SIGTERM"));

// A project of the test's own, a client, and faults for this test alone.
async function start(path, ...instructions) {
  await control("POST", "data", { projects: [{ path, issues: [{ title: "Crash" }] }] });
  const { id } = await control("POST", "retry_test", { instructions: { [book]: instructions } });
  const client = new Gitlab({ host: forgetest.url, token: forgetest.token });
  client.Issues.headers["X-Forgetest-Test"] = id;
  return { issues: client.Issues, outcome: () => control("GET", `retry_test/${id}`) };
}

describe("booking time", { concurrency: true }, () => {
  test("a rate limit is waited for, and the time is booked once", async () => {
    const { issues, outcome } = await start("node/limited", "too-many-requests-0");
    assert.equal((await issues.addSpentTime("node/limited", 1, "1h")).total_time_spent, 3600);
    const { requests, applied, completed } = await outcome();
    assert.deepEqual([requests[book], applied[book], completed], [2, 1, true]);
  });

  test("a lost response books all the same", async () => {
    const { issues, outcome } = await start("node/lost", "drop-response");
    await assert.rejects(issues.addSpentTime("node/lost", 1, "2h"));
    assert.equal((await outcome()).applied[book], 1);
  });
});
