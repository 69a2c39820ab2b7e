//! A loopback server that is a part of `OpenStack`.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::matrix::server::{Request, Response, Service};

/// The part of `OpenStack`'s identity service that keeps things: `/v3/<things>` and `/v3/<things>/<id>`.
#[derive(Default)]
pub(in crate::matrix) struct OpenStack {
    things: BTreeMap<String, Json>,
    made: usize,
}

impl Service for OpenStack {
    fn answer(&mut self, own: &str, request: &Request) -> Response {
        let segments: Vec<_> = request.path.trim_matches('/').split('/').collect();
        match (request.method.as_str(), &segments[..]) {
            ("POST", ["v3", "auth", "tokens"]) => token(own),
            ("POST", ["v3", things]) => {
                self.made += 1;
                let thing = things.trim_end_matches('s');
                let id = format!("{thing}-{}", self.made);
                let mut object = request.body[thing].clone();
                object["id"] = json!(id);
                self.things.insert(id, object.clone());
                Response::new(201, json!({thing: object}))
            }
            (method, ["v3", things, id]) => self.one(method, (things, id), &request.body),
            _ => Response::new(404, Json::Null),
        }
    }

    fn objects(&self) -> Vec<String> {
        self.things.keys().cloned().collect()
    }
}

impl OpenStack {
    fn one(&mut self, method: &str, (things, id): (&str, &str), body: &Json) -> Response {
        let thing = things.trim_end_matches('s');
        let Some(object) = self.things.get_mut(id) else {
            return Response::new(404, json!({"error": {"code": 404}}));
        };
        match method {
            "DELETE" => {
                self.things.remove(id);
                Response::new(204, Json::Null)
            }
            "PATCH" => {
                for (name, value) in body[thing].as_object().into_iter().flatten() {
                    object[name] = value.clone();
                }
                Response::new(200, json!({thing: object}))
            }
            _ => Response::new(200, json!({thing: object})),
        }
    }
}

/// A token, with a catalogue that leads back to this server.
fn token(own: &str) -> Response {
    let endpoint = json!({
        "id": "endpoint", "interface": "public", "region": "here", "region_id": "here", "url": format!("{own}/v3/"),
    });
    let service =
        json!({"id": "service", "type": "identity", "name": "keystone", "endpoints": [endpoint]});
    let token = json!({
        "catalog": [service],
        "expires_at": "2999-12-31T23:59:59.000000Z",
        "issued_at": "2000-01-01T00:00:00.000000Z",
        "methods": ["password"],
        "user": {"id": "user", "name": "tester", "domain": {"id": "default", "name": "Default"}},
        "project": {"id": "project", "name": "tests", "domain": {"id": "default", "name": "Default"}},
    });
    let mut response = Response::new(201, json!({"token": token}));
    response
        .headers
        .push(("X-Subject-Token", "token".to_owned()));
    response
}
