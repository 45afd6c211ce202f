package sample

// Words of tests are not checked: answers. References are: missing_test.go, and sample.go exists.
