package simulation

func drawWorld(r source, p *Plan) WorldPlan {
	w := WorldPlan{}
	_ = r
	return w
}
