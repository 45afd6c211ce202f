// Package credential keeps tokens and sends them. It knows neither the API nor the client.
//
// # Who sees a token
//
//   - A Credential consists of functions, and a Sent holds one: printing, encoding or reflecting on
//     a value that holds one cannot reach a secret. Only this package can read a Sent.
//   - Only Authorize and Redact use a token. Code that retries or redirects a request gets one
//     header, and requests another token with the Sent of the first.
//   - Errors hold nothing that a token endpoint sent, as its response may hold a secret.
//
// # Tokens that change
//
//   - The refresh of an OAuth token continues when the caller who began it leaves. That caller
//     returns immediately, and the exchange ends within 30 s. An interrupted refresh could lose a
//     rotated refresh token, and with it the session. WithOnRefresh exists because rotated tokens
//     must be stored by the application.
//   - A refresh token that comes with an unusable token is kept: the old one may be used up.
//   - Concurrent callers share one request for a token (Singleflight). Rejected: a lock that is
//     held during the request, which no context ends.
//   - Two credentials are the same if they send the same token. Tokens that change are not
//     compared: that would need a request.
//   - A credential redacts its latest token, and the one that a request was sent with, as another
//     call may have renewed it meanwhile.
package credential
