//! A filesystem mirror: archives or unpacked packages in folders `host/namespace/type`.

use std::path::{Path, PathBuf};

use super::address::Address;
use super::offer::{Content, Offer, Package, Voucher};
use super::platform::Platform;
use super::release::Release;
use super::version::Version;
use crate::fs::{self, PathError};

/// A package in the mirror.
struct Found {
    version: Version,
    platform: Platform,
    content: Content,
}

/// The versions of a provider; `None` if the mirror does not have it.
pub(super) fn versions(root: &Path, address: &Address) -> Result<Option<Vec<Offer>>, PathError> {
    let mut offers: Vec<Offer> = Vec::new();
    for Found {
        version, platform, ..
    } in packages(root, address)?
    {
        match offers.iter_mut().find(|offer| offer.version == version) {
            Some(offer) => offer.platforms.get_or_insert_default().push(platform),
            None => offers.push(Offer {
                version,
                protocols: None,
                platforms: Some(vec![platform]),
            }),
        }
    }
    Ok(Some(offers).filter(|offers| !offers.is_empty()))
}

/// The package of a version; `None` if there is none for the platform. An unpacked one is taken before an archive.
pub(super) fn package(
    root: &Path,
    release: &Release,
    platform: &Platform,
) -> Result<Option<Package>, PathError> {
    let found = packages(root, &release.address)?.into_iter();
    let fitting = found.filter(|f| f.version == release.version && f.platform == *platform);
    let best = fitting.min_by_key(|f| !matches!(f.content, Content::Folder(_)));
    Ok(best.map(|found| Package {
        content: found.content,
        hashes: Vec::new(),
        signed: Vec::new(),
        voucher: Voucher::Mirror,
    }))
}

/// Name of an archive in the packed layout.
pub(super) fn archive_name(release: &Release, platform: &Platform) -> String {
    let Release { address, version } = release;
    format!("terraform-provider-{}_{version}_{platform}.zip", address.ty)
}

/// Everything there is of a provider, in either layout.
fn packages(root: &Path, address: &Address) -> Result<Vec<Found>, PathError> {
    let Address {
        host,
        namespace,
        ty,
    } = address;
    let folder = root.join(host).join(namespace).join(ty);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let prefix = format!("terraform-provider-{ty}_");
    let mut found = Vec::new();
    for path in fs::list(&folder)? {
        let name = name(&path);
        if path.is_dir() {
            let Ok(version) = name.parse::<Version>() else {
                continue;
            };
            found.extend(unpacked(&path, &version)?);
        } else if let Some(middle) = name.strip_prefix(&prefix)
            && let Some((version, platform)) = middle.strip_suffix(".zip").and_then(parts)
        {
            found.push(Found {
                version,
                platform,
                content: Content::Archive(path),
            });
        }
    }
    Ok(found)
}

/// `<version>/<platform>/` with the package's files.
fn unpacked(folder: &Path, version: &Version) -> Result<Vec<Found>, PathError> {
    let folders = fs::list(folder)?.into_iter().filter(|path| path.is_dir());
    let found = folders.filter_map(|path: PathBuf| {
        Some(Found {
            version: version.clone(),
            platform: name(&path).parse().ok()?,
            content: Content::Folder(path),
        })
    });
    Ok(found.collect())
}

/// `<version>_<os>_<arch>`.
fn parts(text: &str) -> Option<(Version, Platform)> {
    let (version, platform) = text.split_once('_')?;
    Some((version.parse().ok()?, platform.parse().ok()?))
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(root: &Path, file: &str) {
        let path = root.join(file);
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::atomic_write(&path, b"", 0o755).unwrap();
    }

    #[test]
    fn both_layouts_are_found() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let base = "example.org/ns/x";
        touch(
            root,
            &format!("{base}/terraform-provider-x_1.0.0_linux_amd64.zip"),
        );
        touch(
            root,
            &format!("{base}/terraform-provider-x_1.1.0_linux_amd64.zip"),
        );
        touch(
            root,
            &format!("{base}/1.1.0/linux_amd64/terraform-provider-x_v1.1.0"),
        );
        touch(
            root,
            &format!("{base}/1.1.0/darwin_arm64/terraform-provider-x_v1.1.0"),
        );
        touch(
            root,
            &format!("{base}/terraform-provider-other_2.0.0_linux_amd64.zip"),
        );
        touch(root, &format!("{base}/notes/readme"));
        touch(root, &format!("{base}/1.1.0.json"));
        let address = Address::parse("ns/x", "example.org").unwrap();
        let offers = versions(root, &address).unwrap().unwrap();
        let shown: Vec<String> = offers
            .iter()
            .map(|o| format!("{} {}", o.version, o.platforms.as_ref().unwrap().len()))
            .collect();
        assert_eq!(shown, ["1.1.0 3", "1.0.0 1"]);
        let linux = "linux_amd64".parse().unwrap();
        let content = |version: &str| {
            let release = Release {
                address: address.clone(),
                version: version.parse().unwrap(),
            };
            let package = package(root, &release, &linux).unwrap();
            package.map(|package| package.content)
        };
        assert!(
            matches!(content("1.1.0"), Some(Content::Folder(p)) if p.ends_with("1.1.0/linux_amd64"))
        );
        assert!(matches!(content("1.0.0"), Some(Content::Archive(_))));
        assert!(content("2.0.0").is_none());
        let other = Address::parse("ns/y", "example.org").unwrap();
        assert!(versions(root, &other).unwrap().is_none());
    }
}
