// Command terraform-provider-framework is a provider on terraform-plugin-framework, served over protocol 6 with everything
// that only this protocol has: nested attributes of all modes, their defaults, a dynamic attribute. Its objects exist in the
// state alone.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/float64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	options := providerserver.ServeOpts{Address: "registry.terraform.io/nivis/framework", ProtocolVersion: 6}
	newProvider := func() provider.Provider { return &frameworkProvider{} }
	if err := providerserver.Serve(context.Background(), newProvider, options); err != nil {
		log.Fatal(err)
	}
}

type frameworkProvider struct{}

func (*frameworkProvider) Metadata(_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse) {
	response.TypeName = "framework"
}

func (*frameworkProvider) Schema(_ context.Context, _ provider.SchemaRequest, response *provider.SchemaResponse) {
	response.Schema = providerschema.Schema{}
}

func (*frameworkProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (*frameworkProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (*frameworkProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &shape{} }}
}

// shape is a resource with an attribute of every nesting mode.
type shape struct{}

type shapeModel struct {
	ID     types.String          `tfsdk:"id"`
	Name   types.String          `tfsdk:"name"`
	Size   types.Int64           `tfsdk:"size"`
	Secret types.String          `tfsdk:"secret"`
	Any    types.Dynamic         `tfsdk:"any"`
	Origin *pointModel           `tfsdk:"origin"`
	Points []pointModel          `tfsdk:"points"`
	Tags   []tagModel            `tfsdk:"tags"`
	Limits map[string]limitModel `tfsdk:"limits"`
	Rules  []ruleModel           `tfsdk:"rule"`
}

type pointModel struct {
	X     types.Float64 `tfsdk:"x"`
	Y     types.Float64 `tfsdk:"y"`
	Label types.String  `tfsdk:"label"`
}

type tagModel struct {
	Key   types.String `tfsdk:"key"`
	Value types.String `tfsdk:"value"`
}

type limitModel struct {
	Low  types.Int64 `tfsdk:"low"`
	High types.Int64 `tfsdk:"high"`
}

type ruleModel struct {
	Port types.Int64  `tfsdk:"port"`
	Note types.String `tfsdk:"note"`
}

func (*shape) Metadata(_ context.Context, _ resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = "framework_shape"
}

func (*shape) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	point := map[string]schema.Attribute{
		"x":     schema.Float64Attribute{Required: true},
		"y":     schema.Float64Attribute{Optional: true, Computed: true, Default: float64default.StaticFloat64(0)},
		"label": schema.StringAttribute{Computed: true},
	}
	tag := map[string]schema.Attribute{
		"key":   schema.StringAttribute{Required: true},
		"value": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("")},
	}
	limit := map[string]schema.Attribute{
		"low":  schema.Int64Attribute{Required: true},
		"high": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(100)},
	}
	rule := map[string]schema.Attribute{
		"port": schema.Int64Attribute{Required: true},
		"note": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("none")},
	}
	response.Schema = schema.Schema{
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{Computed: true, PlanModifiers: keep},
			"name": schema.StringAttribute{
				Required:      true,
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"size":   schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(3)},
			"secret": schema.StringAttribute{Optional: true, Sensitive: true},
			"any":    schema.DynamicAttribute{Optional: true},
			"origin": schema.SingleNestedAttribute{Optional: true, Attributes: point},
			"points": schema.ListNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: point}},
			"tags":   schema.SetNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: tag}},
			"limits": schema.MapNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: limit}},
		},
		Blocks: map[string]schema.Block{
			"rule": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: rule}},
		},
	}
}

// label fills in what the provider alone knows of a point.
func (p *pointModel) label() {
	p.Label = types.StringValue(fmt.Sprintf("%v/%v", p.X.ValueFloat64(), p.Y.ValueFloat64()))
}

func (m *shapeModel) compute() {
	m.ID = types.StringValue("shape-" + m.Name.ValueString())
	if m.Origin != nil {
		m.Origin.label()
	}
	for i := range m.Points {
		m.Points[i].label()
	}
}

func (*shape) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var model shapeModel
	response.Diagnostics.Append(request.Plan.Get(ctx, &model)...)
	if !response.Diagnostics.HasError() {
		model.compute()
		response.Diagnostics.Append(response.State.Set(ctx, &model)...)
	}
}

func (*shape) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var model shapeModel
	response.Diagnostics.Append(request.Plan.Get(ctx, &model)...)
	if !response.Diagnostics.HasError() {
		model.compute()
		response.Diagnostics.Append(response.State.Set(ctx, &model)...)
	}
}

// Read finds every object as it was left: the state already holds it.
func (*shape) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (*shape) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// ImportState takes an object over by its name, which is all that importing brings.
func (*shape) ImportState(ctx context.Context, request resource.ImportStateRequest, response *resource.ImportStateResponse) {
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("id"), "shape-"+request.ID)...)
	resource.ImportStatePassthroughID(ctx, path.Root("name"), request, response)
}
