//! Build script: protocol definitions to Rust, without a protobuf compiler.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files =
        ["tfplugin5", "tfplugin6", "goplugin", "health"].map(|f| format!("proto/{f}.proto"));
    tonic_prost_build::configure()
        .btree_map(".")
        // Both sides go by the paths of the calls, so that one set of messages serves both protocols.
        .build_client(false)
        .build_server(false)
        .compile_fds(protox::compile(files, ["proto"])?)?;
    Ok(())
}
