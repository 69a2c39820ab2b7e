//! Mutual TLS between host and plugin: both sides make a certificate for this one process and check for exactly the other's.
//!
//! Hosts and plugins written in Go present a P-521 certificate that is marked as a certificate authority, which the usual
//! verification refuses as an end entity. Its exact bytes are known, from the handshake or the environment, so they are
//! compared instead; the signature that proves possession of its key is verified as usual.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};

/// The name both certificates carry.
pub(super) const SERVER_NAME: &str = "localhost";

/// Why TLS with a plugin cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Our own certificate cannot be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The parts do not fit together.
    #[error("cannot set up TLS: {0}")]
    Setup(#[from] Error),
    /// What the host gave is not a certificate.
    #[error("the host's certificate cannot be read: {0}")]
    Host(#[from] pem::Error),
    /// The plugin ignored our certificate and would speak plain text.
    #[error("it did not answer with a certificate")]
    NoCertificate,
}

/// Our side's certificate and key for one plugin process; the key never leaves memory.
pub(crate) struct TlsIdentity {
    /// The certificate for the other side to trust, in PEM.
    pub(crate) pem: String,
    /// The same in DER.
    pub(crate) certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl TlsIdentity {
    /// A fresh key (P-256) and its self-signed certificate.
    pub(crate) fn generate() -> Result<Self, TlsError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = CertificateParams::new(vec![SERVER_NAME.to_owned()])?;
        params
            .distinguished_name
            .push(DnType::CommonName, SERVER_NAME);
        params
            .distinguished_name
            .push(DnType::OrganizationName, "nivis");
        // The other side uses the certificate as its own trust anchor, so it has to be an authority too.
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
            KeyUsagePurpose::KeyAgreement,
            KeyUsagePurpose::KeyCertSign,
        ];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ClientAuth,
            ExtendedKeyUsagePurpose::ServerAuth,
        ];
        let certificate = params.self_signed(&key)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        })
    }

    /// How to talk to the plugin whose handshake carried the certificate `server` (DER).
    pub(super) fn client_config(self, server: Vec<u8>) -> Result<ClientConfig, TlsError> {
        let verifier = Pinned::new(server.into());
        let mut config = ClientConfig::builder_with_provider(verifier.provider.clone())
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_auth_cert(vec![self.certificate], self.key)?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }

    /// How to talk to the host whose certificate is `client` (PEM), being the plugin.
    pub(crate) fn server_config(self, client: &str) -> Result<ServerConfig, TlsError> {
        let verifier = Pinned::new(CertificateDer::from_pem_slice(client.as_bytes())?);
        let mut config = ServerConfig::builder_with_provider(verifier.provider.clone())
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_single_cert(vec![self.certificate], self.key)?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }
}

/// Accepts one certificate only.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn new(certificate: CertificateDer<'static>) -> Self {
        Self {
            certificate,
            provider: Arc::new(aws_lc_rs::default_provider()),
        }
    }

    fn check(&self, presented: &CertificateDer<'_>) -> Result<(), Error> {
        if *presented == self.certificate {
            Ok(())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }
}

/// The signature checks, alike in both roles.
macro_rules! signatures_as_usual {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let algorithms = &self.provider.signature_verification_algorithms;
            verify_tls12_signature(message, certificate, signature, algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let algorithms = &self.provider.signature_verification_algorithms;
            verify_tls13_signature(message, certificate, signature, algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            let algorithms = &self.provider.signature_verification_algorithms;
            algorithms.supported_schemes()
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity)?;
        Ok(ServerCertVerified::assertion())
    }

    signatures_as_usual!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity)?;
        Ok(ClientCertVerified::assertion())
    }

    signatures_as_usual!();
}
