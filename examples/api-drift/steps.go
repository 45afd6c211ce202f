package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	forge "github.com/forge-sdk/forge-go"
)

// objects are what earlier reads have found for later ones.
type objects struct {
	group, project forge.Ref // from the flags, or the first ones found
	user           *forge.User
	namespace      *forge.Namespace
	issue          *forge.Issue
	request        *forge.MergeRequest
	version        *forge.DiffVersion
	repository     *forge.RegistryRepository
	tag            *forge.RegistryTag
	resources      *forge.ResourceGroup
	file           *forge.TreeEntry
	commit         *forge.Commit
	event          *forge.AuditEvent
	groupEvent     *forge.AuditEvent
	projectEvent   *forge.AuditEvent
	secure         *forge.SecureFile
	runner         *forge.Runner
	email          *forge.Email
	integration    *forge.IntegrationSummary
}

// need is something that a read needs from earlier reads, or from the flags.
type need string

const (
	aUser          need = "user"
	aNamespace     need = "namespace"
	aGroup         need = "group"
	aProject       need = "project"
	anIssue        need = "issue"
	aRequest       need = "merge request"
	aVersion       need = "version of a merge request"
	aRepository    need = "registry repository"
	aTag           need = "registry tag"
	aResourceGroup need = "resource group"
	aFile          need = "file in the repository"
	anEvent        need = "audit event"
	aGroupEvent    need = "audit event of the group"
	aProjectEvent  need = "audit event of the project"
	aSecureFile    need = "secure file"
	aRunner        need = "runner"
	anEmail        need = "e-mail address"
	anIntegration  need = "integration"
	theRegistry    need = "registry"
	theContent     need = "content"
)

// lacks returns why a read with these needs cannot be called; "" if it can.
func (w *walk) lacks(needs []need) string {
	have := map[need]bool{
		aUser: w.user != nil, aNamespace: w.namespace != nil, aGroup: w.group != nil, aProject: w.project != nil,
		anIssue: w.issue != nil, aRequest: w.request != nil, aVersion: w.version != nil, aRepository: w.repository != nil,
		aTag: w.tag != nil, aResourceGroup: w.resources != nil, aFile: w.file != nil, anEvent: w.event != nil,
		aGroupEvent: w.groupEvent != nil, aProjectEvent: w.projectEvent != nil, aSecureFile: w.secure != nil,
		aRunner: w.runner != nil, anEmail: w.email != nil, anIntegration: w.integration != nil,
		theRegistry: w.hasRegistry, theContent: w.downloads,
	}
	for _, n := range needs {
		switch {
		case have[n]:
		case n == theRegistry:
			return "the registry's address is not known: see -registry"
		case n == theContent:
			return "-downloads=false"
		default:
			return "no " + string(n) + " was found"
		}
	}
	return ""
}

// chooseProject takes the project of an object that was found, unless a flag names one.
func (w *walk) chooseProject() {
	switch {
	case w.project != nil:
	case w.request != nil:
		w.project = forge.ID(w.request.ProjectID)
	case w.issue != nil:
		w.project = forge.ID(w.issue.ProjectID)
	case w.repository != nil:
		w.project = forge.ID(w.repository.ProjectID)
	}
}

// step is the read of one endpoint.
type step struct {
	route string
	needs []need
	read  func(ctx context.Context, w *walk) error
}

// steps returns the reads of all endpoints. A read that finds an object comes before those that
// need it. If several find the same kind of object, the last one is used.
func steps() []step {
	return slices.Concat(instanceSteps(), groupSteps(), projectSteps(), repositorySteps(), mergeRequestSteps(), runnerSteps(), registrySteps())
}

// keep reads a page and keeps one item: the first that is preferred, or else the first.
func keep[T any](kept **T, items iter.Seq2[*T, error], preferred ...func(*T) bool) error {
	page, err := forge.Collect(items)
	if len(page) > 0 {
		*kept = page[0]
	}
	for _, prefer := range preferred {
		if i := slices.IndexFunc(page, prefer); i >= 0 {
			*kept = page[i]
		}
	}
	return err
}

// drain reads a page and discards it.
func drain[T any](items iter.Seq2[*T, error]) error {
	_, err := forge.Collect(items)
	return err
}

// only returns the error of a read and discards the value.
func only[T any](_ *T, err error) error { return err }

// glance reads the first bytes of a download.
func glance(file *forge.Download, err error) error {
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = io.CopyN(io.Discard, file, 512); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
