//! The fake provider's answers.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use nivis::builtin::message::decode;
use nivis::builtin::object::{get, with};
use nivis::builtin::{ProviderServer, message};
use nivis::provider::proto::tfplugin6 as v6;
use nivis::schema::Schema;
use nivis::value::{Value, json};
use serde_json::Value as Json;
use tonic::{Status, async_trait};

use crate::call::{Incoming, Orders, problem};
use crate::fake::{Fake, identity_type};
use crate::faults::What;
use crate::resources::{self, THING};
use crate::transient::{self, LOGIN};

fn private(orders: &Orders, usual: Vec<u8>) -> Vec<u8> {
    if orders.what == What::ChangePrivate {
        b"changed".to_vec()
    } else {
        usual
    }
}

fn deferral(orders: &Orders) -> Option<v6::Deferred> {
    let reason = v6::deferred::Reason::AbsentPrereq.into();
    (orders.what == What::Defer).then_some(v6::Deferred { reason })
}

/// Text and maps of text, from the flat form in which Terraform stored objects before 0.12.
fn unflatten(flat: &BTreeMap<String, String>) -> Json {
    let mut object = Json::Object(serde_json::Map::new());
    for (name, value) in flat {
        match name.split_once('.') {
            None => object[name] = value.as_str().into(),
            // The number of members.
            Some((_, "%")) => {}
            Some((map, key)) => object[map][key] = value.as_str().into(),
        }
    }
    object
}

#[async_trait]
impl ProviderServer for Fake {
    async fn get_provider_schema(
        &self,
        _: v6::get_provider_schema::Request,
    ) -> Result<v6::get_provider_schema::Response, Status> {
        self.schema_fetched.store(true, Ordering::Relaxed);
        let orders = self
            .begin(Incoming::plain("GetProviderSchema", "schema"))
            .await?;
        let schema = |version, block| message::schema(&Schema { version, block });
        let thing = schema(1, resources::thing_block(self.options.protocol));
        Ok(v6::get_provider_schema::Response {
            provider: Some(schema(0, resources::provider_block())),
            resource_schemas: [(THING.to_owned(), thing)]
                .into_iter()
                .chain(resources::fillers(self.options.filler))
                .collect(),
            provider_meta: Some(schema(0, resources::meta_block())),
            data_source_schemas: [(THING.to_owned(), schema(0, resources::data_block()))].into(),
            ephemeral_resource_schemas: [(LOGIN.to_owned(), schema(0, transient::login_block()))]
                .into(),
            functions: transient::functions().collect(),
            server_capabilities: Some(v6::ServerCapabilities {
                plan_destroy: self.options.plan_destroy,
                move_resource_state: true,
                // As with providers that really are that large.
                get_provider_schema_optional: self.options.filler > 0,
                ..Default::default()
            }),
            diagnostics: orders.diagnostics,
            ..Default::default()
        })
    }

    async fn get_resource_identity_schemas(
        &self,
        _: v6::get_resource_identity_schemas::Request,
    ) -> Result<v6::get_resource_identity_schemas::Response, Status> {
        let id = v6::resource_identity_schema::IdentityAttribute {
            name: "id".to_owned(),
            r#type: br#""string""#.to_vec(),
            required_for_import: true,
            ..Default::default()
        };
        let schema = v6::ResourceIdentitySchema {
            version: self.options.identity_version,
            identity_attributes: vec![id],
        };
        Ok(v6::get_resource_identity_schemas::Response {
            identity_schemas: [(THING.to_owned(), schema)].into(),
            diagnostics: Vec::new(),
        })
    }

    async fn validate_provider_config(
        &self,
        request: v6::validate_provider_config::Request,
    ) -> Result<v6::validate_provider_config::Response, Status> {
        let config = decode(request.config.as_ref(), &self.own)?;
        let objects = [("config", &config)];
        let call = Incoming::plain("ValidateProviderConfig", "validate_provider");
        let orders = self.begin(call.with(&objects)).await?;
        Ok(v6::validate_provider_config::Response {
            diagnostics: orders.diagnostics,
        })
    }

    async fn configure_provider(
        &self,
        request: v6::configure_provider::Request,
    ) -> Result<v6::configure_provider::Response, Status> {
        let config = decode(request.config.as_ref(), &self.own)?;
        let objects = [("config", &config)];
        let call = Incoming::plain("ConfigureProvider", "configure");
        let orders = self.begin(call.with(&objects)).await?;
        if !orders.refused()
            && let Ok(mut slot) = self.config.lock()
        {
            *slot = Some(config);
        }
        Ok(v6::configure_provider::Response {
            diagnostics: orders.diagnostics,
        })
    }

    async fn validate_resource_config(
        &self,
        request: v6::validate_resource_config::Request,
    ) -> Result<v6::validate_resource_config::Response, Status> {
        let config = decode(request.config.as_ref(), &self.thing)?;
        let objects = [("config", &config)];
        let call = Incoming::plain("ValidateResourceConfig", "validate");
        let mut orders = self
            .begin(call.of(&request.type_name).with(&objects))
            .await?;
        if get(&config, "name").as_str() == Some("") {
            let detail = "name must not be empty.";
            orders.diagnostics.push(problem(true, "Empty name", detail));
        }
        Ok(v6::validate_resource_config::Response {
            diagnostics: orders.diagnostics,
        })
    }

    async fn validate_data_resource_config(
        &self,
        request: v6::validate_data_resource_config::Request,
    ) -> Result<v6::validate_data_resource_config::Response, Status> {
        let config = decode(request.config.as_ref(), &self.data)?;
        let objects = [("config", &config)];
        let call = Incoming::plain("ValidateDataResourceConfig", "validate_data");
        let orders = self
            .begin(call.of(&request.type_name).with(&objects))
            .await?;
        Ok(v6::validate_data_resource_config::Response {
            diagnostics: orders.diagnostics,
        })
    }

    /// Version 0 had `label` where version 1 has `value`.
    async fn upgrade_resource_state(
        &self,
        request: v6::upgrade_resource_state::Request,
    ) -> Result<v6::upgrade_resource_state::Response, Status> {
        let raw = request.raw_state.unwrap_or_default();
        let mut stored: Json = if raw.flatmap.is_empty() {
            serde_json::from_slice(&raw.json)
                .map_err(|e| Status::invalid_argument(e.to_string()))?
        } else {
            unflatten(&raw.flatmap)
        };
        if request.version == 0
            && let Some(label) = stored.get_mut("label").map(Json::take)
        {
            stored["value"] = label;
        }
        let object = self.read_known(&stored, &self.blank()?);
        let objects = [("stored", &object)];
        let call = Incoming::plain("UpgradeResourceState", "upgrade");
        let mut orders = self
            .begin(call.of(&request.type_name).with(&objects))
            .await?;
        Ok(v6::upgrade_resource_state::Response {
            upgraded_state: Self::pack(&mut orders, &object, &self.thing)?,
            diagnostics: orders.diagnostics,
        })
    }

    async fn upgrade_resource_identity(
        &self,
        request: v6::upgrade_resource_identity::Request,
    ) -> Result<v6::upgrade_resource_identity::Response, Status> {
        let raw = request.raw_identity.unwrap_or_default().json;
        let identity = json::from_json(&raw, &identity_type())
            .map_err(|e| Status::invalid_argument(e.to_string()))?;
        let call = Incoming::plain("UpgradeResourceIdentity", "upgrade_identity");
        let orders = self.begin(call.of(&request.type_name)).await?;
        let upgraded = Self::identity(&identity)?;
        Ok(v6::upgrade_resource_identity::Response {
            upgraded_identity: upgraded.filter(|_| orders.what != What::Absent),
            diagnostics: orders.diagnostics,
        })
    }

    async fn read_resource(
        &self,
        request: v6::read_resource::Request,
    ) -> Result<v6::read_resource::Response, Status> {
        let current = decode(request.current_state.as_ref(), &self.thing)?;
        let objects = [("current", &current)];
        let call = Incoming::plain("ReadResource", "read");
        let call = call
            .of(&request.type_name)
            .with(&objects)
            .private(&request.private)
            .meta(request.provider_meta.as_ref());
        let mut orders = self.begin(call).await?;
        let new = if orders.refused() {
            current.clone()
        } else {
            self.look(&current)
        };
        Ok(v6::read_resource::Response {
            new_state: Self::pack(&mut orders, &new, &self.thing)?,
            new_identity: Self::identity(&new)?,
            private: private(&orders, request.private),
            deferred: deferral(&orders),
            diagnostics: orders.diagnostics,
        })
    }

    async fn plan_resource_change(
        &self,
        request: v6::plan_resource_change::Request,
    ) -> Result<v6::plan_resource_change::Response, Status> {
        let prior = decode(request.prior_state.as_ref(), &self.thing)?;
        let proposed = decode(request.proposed_new_state.as_ref(), &self.thing)?;
        let config = decode(request.config.as_ref(), &self.thing)?;
        let objects = [
            ("config", &config),
            ("proposed", &proposed),
            ("prior", &prior),
        ];
        let call = Incoming::plain("PlanResourceChange", "plan").of(&request.type_name);
        let call = call
            .with(&objects)
            .private(&request.prior_private)
            .meta(request.provider_meta.as_ref());
        let mut orders = self.begin(call).await?;
        if orders.refused() {
            return Ok(v6::plan_resource_change::Response {
                diagnostics: orders.diagnostics,
                ..Default::default()
            });
        }
        let (planned, mut replace) = if proposed.is_null() {
            let kept = orders.what == What::Keep;
            (if kept { prior } else { proposed }, Vec::new())
        } else {
            let prior = Some(&prior).filter(|p| !p.is_null());
            resources::plan(prior, &proposed, self.argument("region"))
        };
        let root = nivis::value::Path::root();
        match orders.what {
            What::Replace => replace.push(root.attribute("name")),
            What::ReplaceNowhere => replace.push(root.attribute("no_such")),
            What::ReplaceUnseen => replace.push(root.attribute("secret_wo")),
            _ => {}
        }
        Ok(v6::plan_resource_change::Response {
            planned_state: Self::pack(&mut orders, &planned, &self.thing)?,
            requires_replace: replace.iter().map(message::path).collect(),
            planned_private: private(&orders, b"planned".to_vec()),
            planned_identity: request.prior_identity,
            legacy_type_system: orders.legacy,
            deferred: deferral(&orders),
            diagnostics: orders.diagnostics,
        })
    }

    async fn apply_resource_change(
        &self,
        request: v6::apply_resource_change::Request,
    ) -> Result<v6::apply_resource_change::Response, Status> {
        let prior = decode(request.prior_state.as_ref(), &self.thing)?;
        let planned = decode(request.planned_state.as_ref(), &self.thing)?;
        let config = decode(request.config.as_ref(), &self.thing)?;
        let op = match (prior.is_null(), planned.is_null()) {
            (true, _) => "create",
            (false, true) => "delete",
            (false, false) => "update",
        };
        let objects = [
            ("config", &config),
            ("planned", &planned),
            ("prior", &prior),
        ];
        let call = Incoming::plain("ApplyResourceChange", "apply").of(&request.type_name);
        let call = call
            .with(&objects)
            .private(&request.planned_private)
            .meta(request.provider_meta.as_ref());
        let mut orders = self
            .begin(Incoming {
                op: Some(op),
                ..call
            })
            .await?;
        let new = if orders.refused() || orders.what == What::Keep {
            prior
        } else if planned.is_null() {
            self.record(op, &prior)?;
            planned
        } else {
            let name = get(&planned, "name");
            let id = match op {
                "create" => self.id_for(name.as_str().unwrap_or_default()),
                _ => String::new(),
            };
            let new = resources::finish(&planned, self.argument("region"), &id);
            self.record(op, &new)?;
            new
        };
        Ok(v6::apply_resource_change::Response {
            new_state: Self::pack(&mut orders, &new, &self.thing)?,
            new_identity: Self::identity(&new)?,
            private: private(&orders, b"kept".to_vec()),
            legacy_type_system: orders.legacy,
            diagnostics: orders.diagnostics,
        })
    }

    async fn import_resource_state(
        &self,
        request: v6::import_resource_state::Request,
    ) -> Result<v6::import_resource_state::Response, Status> {
        let identity = request.identity.and_then(|i| i.identity_data);
        let identity = decode(identity.as_ref(), &identity_type())?;
        let by_identity = get(&identity, "id");
        let id = by_identity.as_str().unwrap_or(&request.id);
        let call = Incoming::plain("ImportResourceState", "import").of(&request.type_name);
        let mut orders = self
            .begin(Incoming {
                id: Some(id),
                ..call
            })
            .await?;
        let known = [("id", Value::string(id)), ("name", Value::string(id))];
        let object = self.look(&with(&self.blank()?, known));
        if object.is_null() {
            let detail = format!("There is no thing {id}.");
            orders
                .diagnostics
                .push(problem(true, "Nothing to import", &detail));
        }
        let mut imported_resources = Vec::new();
        if !orders.refused() {
            let type_name = match orders.what {
                What::OtherType => "fake_other".to_owned(),
                _ => request.type_name,
            };
            imported_resources.push(v6::import_resource_state::ImportedResource {
                type_name,
                state: Self::pack(&mut orders, &object, &self.thing)?,
                private: private(&orders, b"imported".to_vec()),
                identity: Self::identity(&object)?,
            });
        }
        if orders.what == What::Several {
            imported_resources.extend(imported_resources.clone());
        }
        Ok(v6::import_resource_state::Response {
            imported_resources,
            diagnostics: orders.diagnostics,
            deferred: None,
        })
    }

    /// From any type of any provider, whatever attributes it shares.
    async fn move_resource_state(
        &self,
        request: v6::move_resource_state::Request,
    ) -> Result<v6::move_resource_state::Response, Status> {
        let raw = request.source_state.unwrap_or_default().json;
        let source: Json =
            serde_json::from_slice(&raw).map_err(|e| Status::invalid_argument(e.to_string()))?;
        let object = self.read_known(&source, &self.blank()?);
        let objects = [("stored", &object)];
        let call = Incoming::plain("MoveResourceState", "move");
        let mut orders = self
            .begin(call.of(&request.target_type_name).with(&objects))
            .await?;
        Ok(v6::move_resource_state::Response {
            target_state: Self::pack(&mut orders, &object, &self.thing)?,
            target_private: private(&orders, b"moved".to_vec()),
            target_identity: Self::identity(&object)?,
            diagnostics: orders.diagnostics,
        })
    }

    async fn read_data_source(
        &self,
        request: v6::read_data_source::Request,
    ) -> Result<v6::read_data_source::Response, Status> {
        let config = decode(request.config.as_ref(), &self.data)?;
        let objects = [("config", &config)];
        let call = Incoming::plain("ReadDataSource", "read_data").of(&request.type_name);
        let call = call.with(&objects).meta(request.provider_meta.as_ref());
        let mut orders = self.begin(call).await?;
        if orders.refused() {
            return Ok(v6::read_data_source::Response {
                diagnostics: orders.diagnostics,
                ..Default::default()
            });
        }
        let name = get(&config, "name");
        let name = name.as_str().unwrap_or_default();
        let exists = self.world().is_some_and(|w| w.exists(THING, name));
        let found = [
            ("id", Value::string(format!("data-{name}"))),
            ("echo", resources::echo(&get(&config, "value"))),
            ("exists", Value::Bool(exists)),
        ];
        Ok(v6::read_data_source::Response {
            state: Self::pack(&mut orders, &with(&config, found), &self.data)?,
            deferred: deferral(&orders),
            diagnostics: orders.diagnostics,
        })
    }

    async fn validate_ephemeral_resource_config(
        &self,
        request: v6::validate_ephemeral_resource_config::Request,
    ) -> Result<v6::validate_ephemeral_resource_config::Response, Status> {
        let call = Incoming::plain("ValidateEphemeralResourceConfig", "validate_ephemeral");
        let orders = self.begin(call.of(&request.type_name)).await?;
        Ok(v6::validate_ephemeral_resource_config::Response {
            diagnostics: orders.diagnostics,
        })
    }

    async fn open_ephemeral_resource(
        &self,
        request: v6::open_ephemeral_resource::Request,
    ) -> Result<v6::open_ephemeral_resource::Response, Status> {
        self.open_login(request).await
    }

    async fn renew_ephemeral_resource(
        &self,
        request: v6::renew_ephemeral_resource::Request,
    ) -> Result<v6::renew_ephemeral_resource::Response, Status> {
        self.renew_login(request).await
    }

    async fn close_ephemeral_resource(
        &self,
        request: v6::close_ephemeral_resource::Request,
    ) -> Result<v6::close_ephemeral_resource::Response, Status> {
        self.close_login(request).await
    }

    async fn call_function(
        &self,
        request: v6::call_function::Request,
    ) -> Result<v6::call_function::Response, Status> {
        self.call(request).await
    }

    async fn stop_provider(
        &self,
        _: v6::stop_provider::Request,
    ) -> Result<v6::stop_provider::Response, Status> {
        self.begin(Incoming::plain("StopProvider", "stop")).await?;
        self.stop.send_replace(true);
        Ok(v6::stop_provider::Response::default())
    }
}
