package policy

// Effect is the effect of a setting of the domain on a decision. Operators see the texts.
type Effect struct {
	Setting, Value string // name and value in the configuration file
	Impact         string
}

// Effects returns the effects of settings of the domain, other than the algorithm, on a decision for a client.
func (b *DecisionInput) Effects(d *Decision, client ClientLocation) (list []Effect) {
	rules := b.rulesFor(client)
	for _, effect := range []func(*Rules, *Decision) (Effect, bool){
		geofenceEffect,
	} {
		if e, has := effect(&rules, d); has {
			list = append(list, e)
		}
	}
	return list
}
