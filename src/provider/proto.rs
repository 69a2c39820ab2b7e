//! The messages of the plugin protocol, generated from `proto/`.

/// Protocol 5.
#[expect(missing_docs, clippy::pedantic, reason = "generated")]
pub mod tfplugin5 {
    tonic::include_proto!("tfplugin5");
}

/// Protocol 6.
#[expect(missing_docs, clippy::pedantic, reason = "generated")]
pub mod tfplugin6 {
    tonic::include_proto!("tfplugin6");
}

/// What every plugin offers besides its provider.
#[expect(missing_docs, clippy::pedantic, reason = "generated")]
pub mod plugin {
    tonic::include_proto!("plugin");
}

/// The standard health check.
#[expect(missing_docs, clippy::pedantic, reason = "generated")]
pub mod health {
    tonic::include_proto!("grpc.health.v1");
}
