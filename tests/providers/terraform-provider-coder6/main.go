// Command terraform-provider-coder6 is Coder's provider served over protocol 6, by the translation with which providers that
// mix the old SDK and the framework serve theirs.
package main

import (
	"context"
	"log"

	"github.com/coder/terraform-provider-coder/v2/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-mux/tf5to6server"
)

func main() {
	upgraded, err := tf5to6server.UpgradeServer(context.Background(), provider.New().GRPCProvider)
	if err != nil {
		log.Fatal(err)
	}
	newServer := func() tfprotov6.ProviderServer { return upgraded }
	if err := tf6server.Serve("registry.terraform.io/nivis/coder6", newServer); err != nil {
		log.Fatal(err)
	}
}
