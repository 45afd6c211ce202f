// Package safetext makes text from outside safe to store and to print: without credentials, control
// characters and excess length.
//
// Decisions:
//
//   - Text is first made printable, then redacted, then truncated. Removing control bytes may join
//     the parts of a token, so it comes before redaction. Truncation may leave a part of a token,
//     so it comes after.
//   - Redaction follows both readings of a byte that may begin an escape, and visits each pair of
//     positions in text and token once. Without the visited pairs, a token with many backslashes
//     takes exponential time.
package safetext
