// Package realclients runs third-party clients against forgetest: python-gitlab as packaged by
// Debian, @gitbeaker/rest and client-go. Each calls every endpoint of the contract that it
// supports, and the test compares what it read with what the server stores. `apt-get install
// python3-gitlab nodejs npm` and `npm ci` in this folder install them. If one of them is missing,
// its test is skipped. The folder suite has tests as users of other languages write them; it needs
// `apt-get install chromium python3-pytest python3-pytest-xdist`, too.
package realclients
