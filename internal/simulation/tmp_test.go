package simulation
import ("testing";"time")
func TestTmp(t *testing.T){
 b:=time.Now()
 for range 500 { Run(t, WorldPlan{}, func(w *World){}) }
 t.Log("empty world", time.Since(b)/500)
 b=time.Now()
 for range 200 { Run(t, WorldPlan{Data:DataPlan{Issues:200,MergeRequests:20,Tags:20,Users:20,Runners:5,Emails:5,AuditEvents:30,ResourceGroups:3,Placeholders:5,SecureFiles:[]int{100,5000},Files:20,Blobs:[]int{100000}}}, func(w *World){}) }
 t.Log("full world", time.Since(b)/200)
}
