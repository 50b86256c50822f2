//! TLS as the crawler wants it: the web's roots and the system's, certificates verified, and
//! HTTP/1.1 unless a server speaks nothing but HTTP/2.

use std::path::Path;
use std::sync::Arc;

use rhumb_page::url::{NamedHost, Url};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use super::ConfigError;

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// What an archive can keep as it came.
    Http1,
    Http2,
}

impl Protocol {
    /// As TLS names it.
    pub fn word(self) -> &'static [u8] {
        match self {
            Protocol::Http1 => b"http/1.1",
            Protocol::Http2 => b"h2",
        }
    }
}

/// Whom to trust besides the roots compiled in, and whom without asking.
#[derive(Clone, Debug, Default)]
pub struct TlsConfig {
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Hosts whose certificates are not verified.
    pub insecure: Vec<NamedHost>,
}

impl TlsConfig {
    /// The roots in the PEM file that SSL_CERT_FILE names, or else the system's.
    pub fn from_environment() -> Result<TlsConfig, ConfigError> {
        if let Some(path) = std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty()) {
            return TlsConfig::from_pem_file(Path::new(&path));
        }
        let system = rustls_native_certs::load_native_certs();
        for error in &system.errors {
            // The roots compiled in do for the web: a system without any is none to fail for.
            tracing::info!(%error, "some of the system's certificates cannot be read");
        }
        Ok(TlsConfig { extra_roots: system.certs, insecure: Vec::new() })
    }

    pub fn from_pem_file(path: &Path) -> Result<TlsConfig, ConfigError> {
        let mut config = TlsConfig::default();
        config.add_pem_file(path)?;
        Ok(config)
    }

    /// Trusts the certificates of a file, too.
    pub fn add_pem_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let unusable = |error| ConfigError(format!("{}: {error}", path.display()));
        let roots = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unusable(error.to_string()))?;
        if roots.is_empty() {
            return Err(unusable("no certificate in it (PEM is expected)".to_string()));
        }
        let (usable, _) = RootCertStore::empty().add_parsable_certificates(roots.iter().cloned());
        if usable == 0 {
            return Err(unusable("none of its certificates can be read".to_string()));
        }
        self.extra_roots.extend(roots);
        Ok(())
    }

    pub(super) fn client(&self) -> Result<Tls, ConfigError> {
        let provider = Arc::new(ring::default_provider());
        let builder = || {
            ClientConfig::builder_with_provider(Arc::clone(&provider))
                .with_safe_default_protocol_versions()
                .map_err(|error: rustls::Error| ConfigError(error.to_string()))
        };
        let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        // System bundles hold certificates that are odd in some way; one of them is no reason to
        // crawl nothing.
        roots.add_parsable_certificates(self.extra_roots.iter().cloned());
        let verifying = builder()?.with_root_certificates(roots).with_no_client_auth();
        let believing = builder()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Believer(Arc::clone(&provider))))
            .with_no_client_auth();
        Ok(Tls {
            verifying: PROTOCOLS.map(|protocol| with_protocol(&verifying, protocol)),
            believing: PROTOCOLS.map(|protocol| with_protocol(&believing, protocol)),
            insecure: self.insecure.clone(),
        })
    }
}

const PROTOCOLS: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

fn with_protocol(config: &ClientConfig, protocol: Protocol) -> TlsConnector {
    let mut config = config.clone();
    config.alpn_protocols = vec![protocol.word().to_vec()];
    TlsConnector::from(Arc::new(config))
}

pub(super) struct Tls {
    /// One for each of [`PROTOCOLS`].
    verifying: [TlsConnector; 2],
    believing: [TlsConnector; 2],
    insecure: Vec<NamedHost>,
}

impl Tls {
    /// Whether this URL's host must show who it is.
    pub fn verifies(&self, url: &Url) -> bool {
        !self.insecure.iter().any(|host| host.has(url))
    }

    pub fn connector(&self, url: &Url, protocol: Protocol) -> &TlsConnector {
        let connectors = if self.verifies(url) { &self.verifying } else { &self.believing };
        &connectors[protocol as usize]
    }
}

/// Believes every certificate; the handshake itself is checked all the same.
#[derive(Debug)]
struct Believer(Arc<CryptoProvider>);

impl ServerCertVerifier for Believer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
