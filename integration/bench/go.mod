module gslb.internal/integration/bench

go 1.26.0

require (
	github.com/miekg/dns v1.1.73
	golang.org/x/sys v0.49.0
	gslb.internal/integration v0.0.0
	gslb.internal/shared v0.0.0
)

require (
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace gslb.internal/integration => ..

replace gslb.internal/shared => ../../shared
