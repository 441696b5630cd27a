package main
import (_ "github.com/goreleaser/nfpm/v2"; _ "github.com/goreleaser/nfpm/v2/deb"; _ "github.com/goreleaser/nfpm/v2/rpm"; _ "github.com/CycloneDX/cyclonedx-go")
func main(){}
