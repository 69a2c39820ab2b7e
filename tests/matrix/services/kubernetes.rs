//! A loopback server that is the part of the Kubernetes API that keeps objects.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::matrix::server::{Request, Response, Service};

/// Objects by their paths, such as `/api/v1/namespaces/shop/configmaps/settings`.
#[derive(Default)]
pub(in crate::matrix) struct Kubernetes {
    objects: BTreeMap<String, Json>,
}

impl Service for Kubernetes {
    fn answer(&mut self, _: &str, request: &Request) -> Response {
        let path = &request.path;
        match request.method.as_str() {
            "POST" => self.create(path, &request.body),
            "GET" => self.found(path),
            "PATCH" => self.change(path, &request.body),
            "DELETE" => {
                let found = self.found(path);
                // What is in a namespace goes with it.
                let below = format!("{path}/");
                self.objects
                    .retain(|other, _| other != path && !other.starts_with(&below));
                found
            }
            _ => refusal(405, "MethodNotAllowed"),
        }
    }

    fn objects(&self) -> Vec<String> {
        self.objects.keys().cloned().collect()
    }
}

impl Kubernetes {
    fn create(&mut self, collection: &str, object: &Json) -> Response {
        let Some(name) = object["metadata"]["name"].as_str() else {
            return refusal(422, "Invalid");
        };
        let path = format!("{collection}/{name}");
        if self.objects.contains_key(&path) {
            return refusal(409, "AlreadyExists");
        }
        let mut object = object.clone();
        let metadata = &mut object["metadata"];
        metadata["selfLink"] = json!(path);
        metadata["uid"] = json!(format!("uid of {path}"));
        metadata["resourceVersion"] = json!("1");
        metadata["creationTimestamp"] = json!("2000-01-01T00:00:00Z");
        self.objects.insert(path, object.clone());
        Response::new(201, object)
    }

    fn found(&self, path: &str) -> Response {
        match self.objects.get(path) {
            Some(object) => Response::new(200, object.clone()),
            None => refusal(404, "NotFound"),
        }
    }

    /// Applies a JSON Patch (RFC 6902) of additions, replacements and removals of members.
    fn change(&mut self, path: &str, operations: &Json) -> Response {
        let Some(object) = self.objects.get_mut(path) else {
            return refusal(404, "NotFound");
        };
        for operation in operations.as_array().into_iter().flatten() {
            let pointer = operation["path"].as_str().unwrap_or_default();
            let (parent, member) = pointer.rsplit_once('/').unwrap_or_default();
            let member = member.replace("~1", "/").replace("~0", "~");
            let members = object.pointer_mut(parent).and_then(Json::as_object_mut);
            let Some(members) = members else {
                return refusal(422, "Invalid");
            };
            match operation["op"].as_str() {
                Some("add" | "replace") => members.insert(member, operation["value"].clone()),
                Some("remove") => members.remove(&member),
                _ => return refusal(422, "Invalid"),
            };
        }
        let version = &mut object["metadata"]["resourceVersion"];
        let next = version.as_str().and_then(|text| text.parse::<u64>().ok());
        *version = json!((next.unwrap_or_default() + 1).to_string());
        Response::new(200, object.clone())
    }
}

/// What Kubernetes says when it does not do something.
fn refusal(status: u16, reason: &str) -> Response {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": reason, "code": status,
    });
    Response::new(status, body)
}
