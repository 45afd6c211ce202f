package contractmodel

import "testing"

func TestIssuesMatchModel(t *testing.T) { trackerRun(t, trackerIssues) }

func TestGroupIssuesMatchModel(t *testing.T) { trackerRun(t, trackerGroupIssues) }
