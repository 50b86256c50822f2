//! TLS as the crawler wants it: HTTP/1.1 only, the web's roots, certificates verified.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use super::ConfigError;

/// h2 frames are no payload an archive can keep, so only this is offered.
const ALPN: &[u8] = b"http/1.1";

/// Whom to trust besides the roots compiled in.
#[derive(Clone, Debug, Default)]
pub struct TlsConfig {
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl TlsConfig {
    /// The roots in the PEM file that SSL_CERT_FILE names, if it names one.
    pub fn from_environment() -> Result<TlsConfig, ConfigError> {
        match std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty()) {
            Some(path) => TlsConfig::from_pem_file(Path::new(&path)),
            None => Ok(TlsConfig::default()),
        }
    }

    pub fn from_pem_file(path: &Path) -> Result<TlsConfig, ConfigError> {
        let unusable = |error| ConfigError(format!("{}: {error}", path.display()));
        let extra_roots = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unusable(error.to_string()))?;
        if extra_roots.is_empty() {
            return Err(unusable("no certificate in it".to_string()));
        }
        Ok(TlsConfig { extra_roots })
    }

    pub(super) fn connector(&self) -> Result<TlsConnector, ConfigError> {
        let refused = |error: rustls::Error| ConfigError(error.to_string());
        let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        // System bundles hold certificates that are odd in some way; one of them is no reason to
        // crawl nothing.
        roots.add_parsable_certificates(self.extra_roots.iter().cloned());
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(refused)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(TlsConnector::from(Arc::new(config)))
    }
}
