//! Certificates with flaws, made when the servers start.

use std::io;
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

use super::kind::CertificateFlaw;

pub fn acceptor(name: &str, flaw: CertificateFlaw) -> io::Result<TlsAcceptor> {
    let named = match flaw {
        CertificateFlaw::OtherName => "somebody-else.test",
        _ => name,
    };
    let mut params = CertificateParams::new(vec![named.to_owned()]).map_err(io::Error::other)?;
    match flaw {
        CertificateFlaw::Expired => params.not_after = rcgen::date_time_ymd(2001, 1, 1),
        CertificateFlaw::NotYetValid => {
            params.not_before = rcgen::date_time_ymd(2999, 1, 1);
            params.not_after = rcgen::date_time_ymd(3000, 1, 1);
        }
        CertificateFlaw::OtherName | CertificateFlaw::SelfSigned => {}
    }
    let signing_key = KeyPair::generate().map_err(io::Error::other)?;
    let certificate = params.self_signed(&signing_key).map_err(io::Error::other)?;
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            let certificates = vec![certificate.der().clone()];
            builder.with_no_client_auth().with_single_cert(certificates, key.into())
        })
        .map_err(io::Error::other)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
