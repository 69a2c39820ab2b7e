//! The provider `builtin`: its types, and its answers in terms of them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tonic::Status;

use super::data::{Data, Echo};
use super::file::{ExistingFile, File};
use super::message::{decode, diagnostics, encode, path, schema};
use super::random::Random;
use super::resource::{Change, DataSource, Resource};
use super::rpc::ProviderServer;
use crate::provider::proto::tfplugin6 as v6;
use crate::schema::{Block, Schema, implied_type};
use crate::value::{Type, Value, json};

/// The provider inside nivis. It has no configuration and keeps nothing between calls.
pub struct Builtin {
    resources: BTreeMap<&'static str, Typed<dyn Resource>>,
    data_sources: BTreeMap<&'static str, Typed<dyn DataSource>>,
}

/// A type with its schema and the type of its objects.
struct Typed<T: ?Sized> {
    schema: Schema,
    ty: Type,
    behaviour: Box<T>,
}

impl<T: ?Sized> Typed<T> {
    fn new(block: Block, behaviour: Box<T>) -> Self {
        Self {
            ty: implied_type(&block),
            schema: Schema { version: 0, block },
            behaviour,
        }
    }
}

impl Default for Builtin {
    fn default() -> Self {
        let resource = |r: Box<dyn Resource>| Typed::new(r.schema(), r);
        let data_source = |d: Box<dyn DataSource>| Typed::new(d.schema(), d);
        Self {
            resources: BTreeMap::from([
                ("builtin_data", resource(Box::new(Data))),
                ("builtin_file", resource(Box::new(File))),
                ("builtin_random", resource(Box::new(Random))),
            ]),
            data_sources: BTreeMap::from([
                ("builtin_data", data_source(Box::new(Echo))),
                ("builtin_file", data_source(Box::new(ExistingFile))),
            ]),
        }
    }
}

impl Builtin {
    fn resource(&self, name: &str) -> Result<&Typed<dyn Resource>, Status> {
        let unknown = || Status::invalid_argument(format!("there is no resource type {name:?}"));
        self.resources.get(name).ok_or_else(unknown)
    }

    fn data_source(&self, name: &str) -> Result<&Typed<dyn DataSource>, Status> {
        let unknown = || Status::invalid_argument(format!("there is no data source type {name:?}"));
        self.data_sources.get(name).ok_or_else(unknown)
    }
}

#[async_trait]
impl ProviderServer for Builtin {
    async fn get_provider_schema(
        &self,
        _: v6::get_provider_schema::Request,
    ) -> Result<v6::get_provider_schema::Response, Status> {
        fn all<T: ?Sized>(
            types: &BTreeMap<&'static str, Typed<T>>,
        ) -> BTreeMap<String, v6::Schema> {
            let messages = types
                .iter()
                .map(|(name, t)| ((*name).to_owned(), schema(&t.schema)));
            messages.collect()
        }
        Ok(v6::get_provider_schema::Response {
            provider: Some(schema(&Schema::default())),
            resource_schemas: all(&self.resources),
            data_source_schemas: all(&self.data_sources),
            server_capabilities: Some(v6::ServerCapabilities {
                get_provider_schema_optional: true,
                ..Default::default()
            }),
            ..Default::default()
        })
    }

    async fn get_resource_identity_schemas(
        &self,
        _: v6::get_resource_identity_schemas::Request,
    ) -> Result<v6::get_resource_identity_schemas::Response, Status> {
        Ok(v6::get_resource_identity_schemas::Response::default())
    }

    async fn validate_provider_config(
        &self,
        _: v6::validate_provider_config::Request,
    ) -> Result<v6::validate_provider_config::Response, Status> {
        Ok(v6::validate_provider_config::Response::default())
    }

    async fn configure_provider(
        &self,
        _: v6::configure_provider::Request,
    ) -> Result<v6::configure_provider::Response, Status> {
        Ok(v6::configure_provider::Response::default())
    }

    async fn validate_resource_config(
        &self,
        request: v6::validate_resource_config::Request,
    ) -> Result<v6::validate_resource_config::Response, Status> {
        let resource = self.resource(&request.type_name)?;
        let config = decode(request.config.as_ref(), &resource.ty)?;
        Ok(v6::validate_resource_config::Response {
            diagnostics: diagnostics(resource.behaviour.validate(&config)),
        })
    }

    async fn validate_data_resource_config(
        &self,
        request: v6::validate_data_resource_config::Request,
    ) -> Result<v6::validate_data_resource_config::Response, Status> {
        let source = self.data_source(&request.type_name)?;
        decode(request.config.as_ref(), &source.ty)?;
        Ok(v6::validate_data_resource_config::Response::default())
    }

    async fn upgrade_resource_state(
        &self,
        request: v6::upgrade_resource_state::Request,
    ) -> Result<v6::upgrade_resource_state::Response, Status> {
        let resource = self.resource(&request.type_name)?;
        let raw = request.raw_state.unwrap_or_default();
        let object = json::from_json(&raw.json, &resource.ty)
            .map_err(|e| Status::invalid_argument(format!("cannot read stored state: {e}")))?;
        Ok(v6::upgrade_resource_state::Response {
            upgraded_state: Some(encode(&object, &resource.ty)?),
            ..Default::default()
        })
    }

    async fn read_resource(
        &self,
        request: v6::read_resource::Request,
    ) -> Result<v6::read_resource::Response, Status> {
        let resource = self.resource(&request.type_name)?;
        let current = decode(request.current_state.as_ref(), &resource.ty)?;
        let read = if current.is_null() {
            Ok(None)
        } else {
            resource.behaviour.read(&current)
        };
        let (new, problems) = match read {
            Ok(found) => (
                found.unwrap_or_else(|| Value::null(resource.ty.clone())),
                Vec::new(),
            ),
            Err(problems) => (current, diagnostics(problems)),
        };
        Ok(v6::read_resource::Response {
            new_state: Some(encode(&new, &resource.ty)?),
            diagnostics: problems,
            private: request.private,
            ..Default::default()
        })
    }

    async fn plan_resource_change(
        &self,
        request: v6::plan_resource_change::Request,
    ) -> Result<v6::plan_resource_change::Response, Status> {
        let resource = self.resource(&request.type_name)?;
        let prior = decode(request.prior_state.as_ref(), &resource.ty)?;
        let proposed = decode(request.proposed_new_state.as_ref(), &resource.ty)?;
        let config = decode(request.config.as_ref(), &resource.ty)?;
        let (planned, requires_replace) = if proposed.is_null() {
            (proposed, Vec::new())
        } else {
            let plan = resource.behaviour.plan(&Change {
                prior: Some(&prior).filter(|p| !p.is_null()),
                config: &config,
                proposed: &proposed,
            });
            (plan.object, plan.requires_replace)
        };
        Ok(v6::plan_resource_change::Response {
            planned_state: Some(encode(&planned, &resource.ty)?),
            requires_replace: requires_replace.iter().map(path).collect(),
            planned_private: request.prior_private,
            ..Default::default()
        })
    }

    async fn apply_resource_change(
        &self,
        request: v6::apply_resource_change::Request,
    ) -> Result<v6::apply_resource_change::Response, Status> {
        let resource = self.resource(&request.type_name)?;
        let prior = decode(request.prior_state.as_ref(), &resource.ty)?;
        let planned = decode(request.planned_state.as_ref(), &resource.ty)?;
        let applied = if planned.is_null() {
            resource.behaviour.delete(&prior).map(|()| planned)
        } else {
            let prior = Some(&prior).filter(|p| !p.is_null());
            resource.behaviour.apply(prior, &planned)
        };
        // Every change is all or nothing, so after an error the object is as it was.
        let (new, problems) = match applied {
            Ok(new) => (new, Vec::new()),
            Err(problems) => (prior, diagnostics(problems)),
        };
        Ok(v6::apply_resource_change::Response {
            new_state: Some(encode(&new, &resource.ty)?),
            private: request.planned_private,
            diagnostics: problems,
            ..Default::default()
        })
    }

    async fn import_resource_state(
        &self,
        request: v6::import_resource_state::Request,
    ) -> Result<v6::import_resource_state::Response, Status> {
        let resource = self.resource(&request.type_name)?;
        let mut response = v6::import_resource_state::Response::default();
        match resource.behaviour.import(&request.id) {
            Ok(object) => {
                response
                    .imported_resources
                    .push(v6::import_resource_state::ImportedResource {
                        type_name: request.type_name,
                        state: Some(encode(&object, &resource.ty)?),
                        ..Default::default()
                    });
            }
            Err(problems) => response.diagnostics = diagnostics(problems),
        }
        Ok(response)
    }

    async fn read_data_source(
        &self,
        request: v6::read_data_source::Request,
    ) -> Result<v6::read_data_source::Response, Status> {
        let source = self.data_source(&request.type_name)?;
        let config = decode(request.config.as_ref(), &source.ty)?;
        Ok(match source.behaviour.read(&config) {
            Ok(found) => v6::read_data_source::Response {
                state: Some(encode(&found, &source.ty)?),
                ..Default::default()
            },
            Err(problems) => v6::read_data_source::Response {
                diagnostics: diagnostics(problems),
                ..Default::default()
            },
        })
    }
}
