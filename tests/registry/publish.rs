//! Providers as their authors publish them: archives, checksums, signatures, and a registry that lists them.

use std::io::{Cursor, Write as _};

use pgp::composed::{
    ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedSecretKey,
};
use pgp::crypto::hash::HashAlgorithm;
use pgp::ser::Serialize as _;
use pgp::types::Password;
use rand::thread_rng;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::server::{Reply, Server};
use crate::support::fake_provider;

/// A key to sign with.
pub(super) fn key() -> SignedSecretKey {
    let params = SecretKeyParamsBuilder::default()
        .key_type(KeyType::Ed25519Legacy)
        .can_sign(true)
        .primary_user_id("Publisher <publisher@example.org>".to_owned())
        .build()
        .unwrap();
    params.generate(thread_rng()).unwrap()
}

fn armor(key: &SignedSecretKey) -> String {
    let public = key.to_public_key();
    public.to_armored_string(ArmorOptions::default()).unwrap()
}

fn sign(key: &SignedSecretKey, data: &[u8]) -> Vec<u8> {
    let signature = DetachedSignature::sign_binary_data(
        thread_rng(),
        &key.primary_key,
        &Password::empty(),
        HashAlgorithm::Sha256,
        data,
    );
    signature.unwrap().to_bytes().unwrap()
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

/// An archive of these files.
pub(super) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = SimpleFileOptions::default().unix_permissions(0o755);
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A program that is the fake provider, short enough to be packed many times.
pub(super) fn program(version: &str) -> Vec<u8> {
    let fake = fake_provider().display();
    format!("#!/bin/sh\n# {version}\nexec '{fake}' \"$@\"\n").into_bytes()
}

/// The package of a version of `fake`.
pub(super) fn package(version: &str) -> Vec<u8> {
    let name = format!("terraform-provider-fake_v{version}");
    archive(&[(&name, &program(version)), ("LICENSE", b"free\n")])
}

/// This machine, as registries call it.
pub(super) fn platform() -> (String, String) {
    let here = nivis::registry::Platform::current();
    (here.os, here.arch)
}

/// A published version.
pub(super) struct Release<'a> {
    pub(super) version: &'a str,
    pub(super) protocol: &'a str,
    pub(super) platforms: Vec<(String, String)>,
}

impl<'a> Release<'a> {
    pub(super) fn new(version: &'a str) -> Self {
        Self {
            version,
            protocol: "6.0",
            platforms: vec![platform()],
        }
    }
}

pub(super) const ARCHIVES: &str = "/files/";

/// Path of the answer that describes a package for this machine.
pub(super) fn download(version: &str) -> String {
    let (os, arch) = platform();
    format!("/v1/providers/ns/fake/{version}/download/{os}/{arch}")
}

pub(super) fn archive_name(version: &str, (os, arch): &(String, String)) -> String {
    format!("terraform-provider-fake_{version}_{os}_{arch}.zip")
}

pub(super) fn archive_path(version: &str) -> String {
    format!("{ARCHIVES}{}", archive_name(version, &platform()))
}

pub(super) fn sums_path(version: &str) -> String {
    format!("{ARCHIVES}fake_{version}_SHA256SUMS")
}

/// Makes a server a registry that has `ns/fake` in these versions.
pub(super) fn publish(server: &Server, releases: &[Release<'_>], key: &SignedSecretKey) {
    let discovery = json!({ "providers.v1": "/v1/providers/" });
    server.serve(
        "/.well-known/terraform.json",
        Reply::ok(discovery.to_string()),
    );
    let versions: Vec<Json> = releases
        .iter()
        .map(|release| {
            let platforms: Vec<Json> = release
                .platforms
                .iter()
                .map(|(os, arch)| json!({ "os": os, "arch": arch }))
                .collect();
            json!({ "version": release.version, "protocols": [release.protocol], "platforms": platforms })
        })
        .collect();
    let list = json!({ "versions": versions, "warnings": null });
    server.serve(
        "/v1/providers/ns/fake/versions",
        Reply::ok(list.to_string()),
    );
    for release in releases {
        let zip = package(release.version);
        let packages: Vec<(&(String, String), Vec<u8>)> =
            release.platforms.iter().map(|p| (p, zip.clone())).collect();
        publish_packages(server, release.version, &packages, key);
    }
}

/// Serves the packages of one version, with checksums and signature.
pub(super) fn publish_packages(
    server: &Server,
    version: &str,
    packages: &[(&(String, String), Vec<u8>)],
    key: &SignedSecretKey,
) {
    let lines = packages
        .iter()
        .map(|(platform, zip)| format!("{}  {}\n", sha256(zip), archive_name(version, platform)));
    let sums: String = lines.collect();
    let sums_path = sums_path(version);
    for (platform, zip) in packages {
        let name = archive_name(version, platform);
        let (os, arch) = platform;
        let answer = json!({
            "protocols": ["6.0"],
            "os": os,
            "arch": arch,
            "filename": name,
            "download_url": format!("{ARCHIVES}{name}"),
            "shasum": sha256(zip),
            "shasums_url": sums_path,
            "shasums_signature_url": format!("{sums_path}.sig"),
            "signing_keys": { "gpg_public_keys": [{ "key_id": "", "ascii_armor": armor(key) }] },
        });
        let path = format!("/v1/providers/ns/fake/{version}/download/{os}/{arch}");
        server.serve(&path, Reply::ok(answer.to_string()));
        server.serve(&format!("{ARCHIVES}{name}"), Reply::ok(zip.clone()));
    }
    server.serve(
        &format!("{sums_path}.sig"),
        Reply::ok(sign(key, sums.as_bytes())),
    );
    server.serve(&sums_path, Reply::ok(sums));
}
