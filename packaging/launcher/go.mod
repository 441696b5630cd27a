module gslb.internal/launcher

go 1.26.0

require (
	gslb.internal/agent v0.0.0
	gslb.internal/overwatch v0.0.0
	gslb.internal/shared v0.0.0
)

replace gslb.internal/shared => ../../shared

replace gslb.internal/overwatch => ../../overwatch

replace gslb.internal/agent => ../../agent
