//! A loopback server that has pages to read.

use serde_json::json;

use crate::matrix::server::{Request, Response, Service};

/// Pages: every path tells its name.
pub(in crate::matrix) struct Pages;

impl Service for Pages {
    fn answer(&mut self, _: &str, request: &Request) -> Response {
        Response::new(200, json!({"page": request.path}))
    }

    fn objects(&self) -> Vec<String> {
        Vec::new()
    }
}
