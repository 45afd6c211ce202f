package contractmodel

import "testing"

func TestMergeRequestsMatchModel(t *testing.T) { trackerRun(t, trackerMerges) }

func TestProjectMergeRequestsMatchModel(t *testing.T) { trackerRun(t, trackerProjectMerges) }
