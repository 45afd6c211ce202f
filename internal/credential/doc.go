// Package credential keeps tokens and sends them. It knows neither the API nor the client.
//
// # Who sees a token
//
//   - A Credential consists of functions, and a Sent holds one: printing, encoding or reflecting on
//     a value that holds one cannot reach a secret. Only this package can read a Sent.
//   - Only Authorize and Redact use a token. Code that retries or redirects a request gets the
//     header of one request, and requests another token with the Sent of that request.
//   - Errors contain no text from a token endpoint, since its response may contain a secret.
//
// # Tokens that change
//
//   - The refresh of an OAuth token continues when the context of the caller that began it ends.
//     That caller returns immediately, and the exchange ends within 30 s. An interrupted refresh
//     could lose a rotated refresh token, and with it the session. WithOnRefresh exists because
//     rotated tokens must be stored by the application.
//   - A refresh token that comes with an unusable token is stored, since the old refresh token may
//     no longer be valid.
//   - Concurrent callers share one request for a token (Singleflight). Rejected: a lock that is
//     held during the request, which no context ends.
//   - Two credentials are the same if they send the same token. Tokens that change are not
//     compared: that would need a request.
//   - A credential redacts its latest token and the token that a request was sent with, since
//     another call may have renewed the token in the meantime.
package credential
