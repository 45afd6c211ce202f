// Package registry tests the registry-native calls against the distribution registry, which runs in
// the test process with deletion enabled and accepts ES256 tokens of a token endpoint on another
// origin.
package registry
