package simulation
import ("testing";"time")
func TestTmp(t *testing.T){
 defer WatchBuffers()()
 for _, p := range protocols { for _, auth := range []AuthKind{PersonalToken, OAuth} {
 plan := smallPlan(p); plan.Auth=auth
 b:=time.Now()
 for range 200 { for _, v := range Run(t, plan, func(w *World){ for _,op:= range operations { op(w) } }) { t.Error(v) } }
 t.Log(p, auth, time.Since(b)/200)
 }}
}
