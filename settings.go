package forge

import "context"

// SettingsService reads and changes the instance-wide configuration (Document 3 §4.1). It needs an
// access token of an administrator, and a self-managed or dedicated instance.
//
// The contract uses neutral words for settings that GitLab names after other products:
// [UpdateSettingsOptions].AntispamEnabled is sent as antispam_enabled. A client of a GitLab server
// needs WithVocabulary(forge.GitLab), because the server ignores unknown words. Without it, calls
// fail if a response contains GitLab's words.
type SettingsService struct{ service }

// vocabulary returns the renamer for settings.
func (s *SettingsService) vocabulary() renamer {
	return renamer{words: s.owner().config.vocabulary, kind: settingWord}
}

// Get reads the settings. Servers cache settings, by default for 60 seconds, so it may return the
// values before a change. Document 3 §4.1.
func (s *SettingsService) Get(ctx context.Context, opts ...RequestOption) (*ApplicationSettings, error) {
	r := s.newGet("/application/settings").withVocabulary(s.vocabulary())
	return do[ApplicationSettings](ctx, r, opts)
}

// Update changes the settings that o sets, and returns all settings. A server silently ignores
// parameters that it does not know or that its tier lacks; Apply reports them. Document 3 §4.1.
func (s *SettingsService) Update(ctx context.Context, o *UpdateSettingsOptions, opts ...RequestOption) (*ApplicationSettings, error) {
	r := s.newPut("/application/settings").json(o).withVocabulary(s.vocabulary())
	return do[ApplicationSettings](ctx, r, opts)
}

func (o *UpdateSettingsOptions) check() error {
	given, err := membersOf(o)
	if err != nil {
		return err
	}
	return firstError(checkDeprecated(given), checkCompanions(given), checkNeeds(given))
}

func (o *UpdateSettingsOptions) copiesDocument() {}
