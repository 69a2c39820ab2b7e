//! A loopback server that is a part of Vault: mounts, policies, and secrets of the first version of the key-value store.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::matrix::server::{Request, Response, Service};

/// How long a lease is when nobody says, in seconds.
const LEASE: u64 = 2_764_800;

#[derive(Default)]
pub(in crate::matrix) struct Vault {
    /// By path, with a slash at the end.
    mounts: BTreeMap<String, Json>,
    policies: BTreeMap<String, Json>,
    /// By path, that of the mount in front.
    secrets: BTreeMap<String, Json>,
}

impl Service for Vault {
    fn answer(&mut self, _: &str, request: &Request) -> Response {
        let path = request.path.trim_start_matches("/v1/");
        let (method, body) = (request.method.as_str(), &request.body);
        match path {
            "auth/token/lookup-self" => data(&json!({})),
            "auth/token/create" => Response::new(
                200,
                json!({"auth": {"client_token": "child", "policies": ["root"]}}),
            ),
            "sys/mounts" => data(&json!(self.mounts)),
            _ => match path.strip_prefix("sys/") {
                None => keep(&mut self.secrets, method, path, body),
                Some(path) => match path.split_once('/') {
                    Some(("mounts", path)) => self.mount(method, path, body),
                    Some(("policies", path)) => keep(&mut self.policies, method, path, body),
                    _ => missing(),
                },
            },
        }
    }

    fn objects(&self) -> Vec<String> {
        let all = self.mounts.keys().chain(self.policies.keys());
        all.chain(self.secrets.keys()).cloned().collect()
    }
}

impl Vault {
    fn mount(&mut self, method: &str, path: &str, body: &Json) -> Response {
        let (path, tunes) = match path.strip_suffix("/tune") {
            Some(path) => (path, true),
            None => (path, false),
        };
        let path = format!("{}/", path.trim_end_matches('/'));
        match (method, tunes) {
            ("DELETE", _) => {
                self.mounts.remove(&path);
                self.secrets.retain(|secret, _| !secret.starts_with(&path));
            }
            (_, true) => {
                let Some(mount) = self.mounts.get_mut(&path) else {
                    return missing();
                };
                mount["config"] = config(body);
            }
            (_, false) => {
                let mount = json!({
                    "type": body["type"],
                    "description": body["description"],
                    "accessor": format!("accessor of {path}"),
                    "config": config(&body["config"]),
                    "options": null,
                });
                self.mounts.insert(path, mount);
            }
        }
        Response::new(204, Json::Null)
    }
}

/// Writes, reads or deletes something at a path.
fn keep(things: &mut BTreeMap<String, Json>, method: &str, path: &str, body: &Json) -> Response {
    match method {
        "PUT" | "POST" => {
            things.insert(path.to_owned(), body.clone());
            Response::new(204, Json::Null)
        }
        "DELETE" => {
            things.remove(path);
            Response::new(204, Json::Null)
        }
        _ => things.get(path).map_or_else(missing, data),
    }
}

/// The lease times that a mount has when it is asked for some, such as `3600s`.
fn config(asked: &Json) -> Json {
    let seconds = |name: &str| {
        let asked = asked[name]
            .as_str()
            .and_then(|text| text.trim_end_matches('s').parse().ok());
        asked.filter(|seconds| *seconds > 0).unwrap_or(LEASE)
    };
    json!({"default_lease_ttl": seconds("default_lease_ttl"), "max_lease_ttl": seconds("max_lease_ttl")})
}

fn data(data: &Json) -> Response {
    Response::new(
        200,
        json!({"request_id": "request", "lease_duration": LEASE, "data": data}),
    )
}

fn missing() -> Response {
    Response::new(404, json!({"errors": []}))
}
