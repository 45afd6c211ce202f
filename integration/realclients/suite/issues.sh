#!/usr/bin/env bash
# A test with curl alone: a lost response books all the same.
set -euo pipefail
ready=$(mktemp -d)/ready.json
forgetest -addr 127.0.0.1:0 -token my-token -control-token control -ready-file "$ready" >/dev/null &
trap 'kill %1' EXIT
until [[ -e $ready ]]; do sleep 0.01; done
url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$ready")
book='POST /projects/:id/issues/:issue_iid/add_spent_time'
control() { curl --silent --show-error --fail-with-body --header "Authorization: Bearer control" --request "$1" "$url/_forgetest/$2" --data "${3-}"; }

control POST data '{"projects": [{"path": "curl/app", "issues": [{"title": "Crash"}]}]}' >/dev/null
id=$(control POST retry_test "{\"instructions\": {\"$book\": [\"drop-response\"]}}" | sed -n 's/.*"id": "\(.*\)".*/\1/p')
if curl --silent --header "PRIVATE-TOKEN: my-token" --header "X-Forgetest-Test: $id" \
  --data duration=1h "$url/api/v4/projects/curl%2Fapp/issues/1/add_spent_time"; then
  echo "the response was not lost"; exit 1
fi
control GET "retry_test/$id" | grep -q "\"$book\": 1"
control POST requests/count "{\"test\": \"$id\"}"
