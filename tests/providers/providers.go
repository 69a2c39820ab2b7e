//go:build tools

// Package providers pins, in go.mod and go.sum, the real provider plugins that the tests drive.
package providers

import (
	_ "github.com/coder/terraform-provider-coder/v2"
	_ "github.com/hashicorp/terraform-provider-time"
	_ "github.com/hashicorp/terraform-provider-tls"
	_ "github.com/terraform-providers/terraform-provider-http"
	_ "github.com/terraform-providers/terraform-provider-local"
	_ "github.com/terraform-providers/terraform-provider-random"
)
