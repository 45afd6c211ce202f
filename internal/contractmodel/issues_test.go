package contractmodel

import "testing"

func TestIssuesAsTheModelSays(t *testing.T) { trackerRun(t, trackerIssues) }

func TestGroupIssuesAsTheModelSays(t *testing.T) { trackerRun(t, trackerGroupIssues) }
