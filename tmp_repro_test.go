package forge_test
import ("testing";"encoding/json";"fmt"; forge "github.com/forge-sdk/forge-go")
func TestTmp(t *testing.T){
 sv := newSettingsServer(t); c := settingsClients(t, sv.URL)[0]
 for _, v := range []string{"5","0"} {
 sv.clear(nil); sv.knows["require_two_factor_authentication"]=true; sv.knows["two_factor_grace_period"]=true
 sv.values["require_two_factor_authentication"]=false;  sv.values["two_factor_grace_period"]=json.Number(v)
  a,_ := c.Settings.Get(t.Context())
  var b forge.ApplicationSettings
  json.Unmarshal([]byte(`{"require_two_factor_authentication":true}`),&b)
  d,err := forge.DiffSettings(a,&b)
  r,err2 := c.Settings.Apply(t.Context(),d)
  fmt.Println(err,err2,r, sv.state().updates)
 a.RequireTwoFactorAuthentication=new(true)
  r,err2 = c.Settings.Apply(t.Context(),a.Changes())
  fmt.Println(err2,r, sv.state().updates)
 }
}
