//! Signatures of checksum files, made with `OpenPGP`.

use pgp::composed::{Deserializable as _, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Signature, SignatureType};
use pgp::types::{KeyDetails as _, KeyId};

/// Hashes that a signature may be made with.
const HASHES: [HashAlgorithm; 4] = [
    HashAlgorithm::Sha224,
    HashAlgorithm::Sha256,
    HashAlgorithm::Sha384,
    HashAlgorithm::Sha512,
];

/// Why a signature is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    /// It is no signature.
    #[error("the signature cannot be read: {0}")]
    Unreadable(String),
    /// A key that the registry names is no key.
    #[error("a signing key that the registry names cannot be read: {0}")]
    Key(String),
    /// The hash it was made with is broken.
    #[error("the signature was made with {0}, which is not safe")]
    Hash(String),
    /// None of the keys made it.
    #[error("the signature was made with the key {made_by}, but the registry names {}", .keys.join(", "))]
    UnknownKey {
        /// Id of the key that made it.
        made_by: String,
        /// Ids of the keys that the registry names.
        keys: Vec<String>,
    },
    /// The key has been revoked.
    #[error("the signing key {0} has been revoked")]
    Revoked(String),
    /// The key that it names did not sign this.
    #[error("the signature of the key {0} does not fit the file")]
    Wrong(String),
}

/// Checks that one of `keys` (ASCII armour) signed `data`; gives the id of that key.
///
/// A subkey counts if the key binds it for signing. As in OpenTofu, the age of a key does not matter: packages stay
/// signed by keys that have expired since.
pub(super) fn verify(
    data: &[u8],
    signature: &[u8],
    keys: &[String],
) -> Result<String, SignatureError> {
    let (signature, _) = DetachedSignature::from_reader_single(signature)
        .map_err(|e| SignatureError::Unreadable(e.to_string()))?;
    let signature = signature.signature;
    let hash = signature.hash_alg();
    if !hash.is_some_and(|hash| HASHES.contains(&hash)) {
        let name = hash.map_or_else(|| "an unknown hash".to_owned(), |hash| hash.to_string());
        return Err(SignatureError::Hash(name));
    }
    let mut known = Vec::new();
    let (mut accepted, mut problem) = (None, None);
    for key in keys.iter().flat_map(|armor| parsed(armor)) {
        match key {
            Ok(key) => match signer(&key, &signature) {
                // One key may be there twice, in an older and in a newer form.
                Some(signer) => match accept(&key, &signer, &signature, data) {
                    Ok(id) => accepted = Some(id),
                    Err(error @ SignatureError::Revoked(_)) => return Err(error),
                    Err(error) => problem = Some(error),
                },
                None => known.push(id_text(key.primary_key.legacy_key_id())),
            },
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    if let Some(id) = accepted {
        return Ok(id);
    }
    Err(problem.unwrap_or_else(|| SignatureError::UnknownKey {
        made_by: issuer(&signature).map_or_else(|| "of an unknown owner".to_owned(), id_text),
        keys: known,
    }))
}

/// The keys in an ASCII armour.
fn parsed(armor: &str) -> Vec<Result<SignedPublicKey, SignatureError>> {
    let unreadable = |e: pgp::errors::Error| SignatureError::Key(e.to_string());
    match SignedPublicKey::from_string_many(armor) {
        Ok((keys, _)) => keys.map(|key| key.map_err(unreadable)).collect(),
        Err(error) => vec![Err(unreadable(error))],
    }
}

/// Which part of a key a signature says it was made with.
enum Signer<'a> {
    Primary,
    Subkey(&'a SignedPublicSubKey),
}

fn signer<'a>(key: &'a SignedPublicKey, signature: &Signature) -> Option<Signer<'a>> {
    let id = issuer(signature)?;
    if key.primary_key.legacy_key_id() == id {
        return Some(Signer::Primary);
    }
    let mut subkeys = key.public_subkeys.iter();
    subkeys
        .find(|subkey| subkey.key.legacy_key_id() == id)
        .map(Signer::Subkey)
}

/// Id of the key that a signature says it was made with.
fn issuer(signature: &Signature) -> Option<KeyId> {
    let by_id = signature.issuer_key_id().first().map(|id| **id);
    by_id.or_else(|| {
        let fingerprint = *signature.issuer_fingerprint().first()?;
        let tail = fingerprint.as_bytes().last_chunk::<8>()?;
        Some(KeyId::from(*tail))
    })
}

fn accept(
    key: &SignedPublicKey,
    signer: &Signer<'_>,
    signature: &Signature,
    data: &[u8],
) -> Result<String, SignatureError> {
    let primary = id_text(key.primary_key.legacy_key_id());
    let mut revocations = key.details.revocation_signatures.iter();
    if revocations.any(|r| r.verify_key(&key.primary_key).is_ok()) {
        return Err(SignatureError::Revoked(primary));
    }
    let verified = match signer {
        Signer::Primary => signature.verify(&key.primary_key, data),
        Signer::Subkey(subkey) => {
            let of = |kind| {
                let signatures = subkey.signatures.iter();
                signatures.filter(move |s| s.typ() == Some(kind))
            };
            let bound = |s: &Signature| {
                s.verify_subkey_binding(&key.primary_key, &subkey.key)
                    .is_ok()
            };
            if of(SignatureType::SubkeyRevocation).any(bound) {
                return Err(SignatureError::Revoked(primary));
            }
            let back = |s: &Signature| {
                s.embedded_signature().is_some_and(|back| {
                    let checked = back.verify_primary_key_binding(&subkey.key, &key.primary_key);
                    checked.is_ok()
                })
            };
            let mut bindings = of(SignatureType::SubkeyBinding);
            if !bindings.any(|s| s.key_flags().sign() && bound(s) && back(s)) {
                return Err(SignatureError::Wrong(primary));
            }
            signature.verify(&subkey.key, data)
        }
    };
    match verified {
        Ok(()) => Ok(primary),
        Err(_) => Err(SignatureError::Wrong(primary)),
    }
}

/// Sixteen digits, as people know them.
fn id_text(id: KeyId) -> String {
    id.to_string().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys and signatures of `tests/fixtures/signatures`, which `GnuPG` made.
    fn fixture(name: &str) -> Vec<u8> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/signatures");
        crate::fs::read(&std::path::Path::new(folder).join(name)).unwrap()
    }

    fn check(sums: &[u8], signature: &str, keys: &[&str]) -> Result<String, SignatureError> {
        let keys = keys
            .iter()
            .map(|key| String::from_utf8(fixture(key)).unwrap());
        verify(sums, &fixture(signature), &keys.collect::<Vec<_>>())
    }

    #[test]
    fn good_signatures_are_accepted() {
        let sums = fixture("sums");
        let rows: &[(&str, &[&str], &str)] = &[
            ("rsa.sig", &["rsa.asc"], "B060C8CDDB982737"),
            ("ed25519.sig", &["ed25519.asc"], "C16911D21CF89823"),
            ("subkey.sig", &["subkey.asc"], "EADD7AFAD28B7565"),
            ("ed25519.sig", &["sums", "ed25519.asc"], "C16911D21CF89823"),
            ("rsa.sig", &["rsa.asc", "rsa.asc"], "B060C8CDDB982737"),
            (
                "ed25519.sig",
                &["rsa.asc", "ed25519.asc"],
                "C16911D21CF89823",
            ),
        ];
        for (signature, keys, id) in rows {
            assert_eq!(check(&sums, signature, keys).unwrap(), *id, "{signature}");
        }
    }

    #[test]
    fn other_signatures_are_refused() {
        let sums = fixture("sums");
        let rows: &[(&[u8], &str, &[&str], &str)] = &[
            (
                b"other",
                "rsa.sig",
                &["rsa.asc"],
                "B060C8CDDB982737 does not fit",
            ),
            (b"other", "ed25519.sig", &["ed25519.asc"], "does not fit"),
            (b"other", "subkey.sig", &["subkey.asc"], "does not fit"),
            (
                &sums,
                "rsa.sig",
                &["subkey.asc", "ed25519.asc"],
                "made with the key B060C8CDDB982737, but the registry names EADD7AFAD28B7565, C16911D21CF89823",
            ),
            (
                &sums,
                "rsa.sig",
                &["rsa.asc", "revoked.asc"],
                "B060C8CDDB982737 has been revoked",
            ),
            (
                &sums,
                "sha1.sig",
                &["rsa.asc"],
                "made with SHA1, which is not safe",
            ),
            (&sums, "sums", &["rsa.asc"], "cannot be read"),
            (
                &sums,
                "rsa.sig",
                &["sums"],
                "signing key that the registry names cannot be read",
            ),
        ];
        for (sums, signature, keys, message) in rows {
            let error = check(sums, signature, keys).unwrap_err().to_string();
            assert!(
                error.contains(message),
                "{signature} with {keys:?}: {error}"
            );
        }
    }
}
