package contractmodel

import "testing"

func TestMergeRequestsAsTheModelSays(t *testing.T) { trackerRun(t, trackerMerges) }

func TestProjectMergeRequestsAsTheModelSays(t *testing.T) { trackerRun(t, trackerProjectMerges) }
