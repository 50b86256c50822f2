//! Anonymous signatures of wacz-auth 0.1.0, as ArchiveWeb.page makes and wabac.js checks them:
//! ECDSA over P-384 with SHA-256 of the hash as it is written, the public key beside it.

use std::path::Path;

use data_encoding::BASE64;
use p384::ecdsa::signature::hazmat::PrehashSigner;
use p384::ecdsa::{Signature, SigningKey};
use p384::pkcs8::{DecodePrivateKey, EncodePublicKey};
use p384::{PublicKey, SecretKey};
use sha2::{Digest, Sha256};

use crate::ExportFailure;

/// A private key is a few hundred bytes.
const KEY_BYTES_MAX: u64 = 64 << 10;

pub struct WaczSigner {
    key: SigningKey,
}

impl WaczSigner {
    /// Reads a private key of P-384 in PEM: PKCS #8 (`BEGIN PRIVATE KEY`).
    pub fn read(path: &Path) -> Result<WaczSigner, ExportFailure> {
        let about = path.metadata().map_err(|error| ExportFailure::file(path, "read", &error))?;
        let usage = |what: String| ExportFailure::Usage(format!("{}: {what}", path.display()));
        if about.len() > KEY_BYTES_MAX {
            return Err(usage("no private key: it is too long".to_owned()));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|error| ExportFailure::file(path, "read", &error))?;
        let key = SecretKey::from_pkcs8_pem(&text).map_err(|_| {
            usage(
                "no private key of P-384 in PEM; make one with openssl genpkey -algorithm EC \
                 -pkeyopt ec_paramgen_curve:P-384"
                    .to_owned(),
            )
        })?;
        Ok(WaczSigner { key: SigningKey::from(key) })
    }

    /// The signature and the public key, in Base64.
    pub(super) fn sign(&self, text: &[u8]) -> Result<(String, String), ExportFailure> {
        let failed = |what: String| ExportFailure::Failed(format!("cannot sign: {what}"));
        let hash = Sha256::digest(text);
        let signature: Signature =
            self.key.sign_prehash(&hash).map_err(|error| failed(error.to_string()))?;
        let public = PublicKey::from(self.key.verifying_key()).to_public_key_der();
        let public = public.map_err(|error| failed(error.to_string()))?;
        Ok((BASE64.encode(&signature.to_bytes()), BASE64.encode(public.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p384::ecdsa::VerifyingKey;
    use p384::ecdsa::signature::hazmat::PrehashVerifier;
    use p384::pkcs8::{DecodePublicKey, EncodePrivateKey, LineEnding};

    #[test]
    fn a_signature_is_checked_with_the_public_key_beside_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("key.pem");
        let secret = SecretKey::from_slice(&[7; 48]).expect("a key");
        let pem = secret.to_pkcs8_pem(LineEnding::LF).expect("text");
        std::fs::write(&path, pem.as_bytes()).expect("written");
        let signer = WaczSigner::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let (signature, public) = signer.sign(b"sha256:00").unwrap_or_else(|e| panic!("{e}"));
        let public = BASE64.decode(public.as_bytes()).expect("Base64");
        let public = PublicKey::from_public_key_der(&public).expect("a public key");
        let signature = BASE64.decode(signature.as_bytes()).expect("Base64");
        assert_eq!(signature.len(), 96, "r and s side by side");
        let signature = Signature::from_slice(&signature).expect("a signature");
        let key = VerifyingKey::from(public);
        assert!(key.verify_prehash(&Sha256::digest(b"sha256:00"), &signature).is_ok());
        assert!(key.verify_prehash(&Sha256::digest(b"sha256:01"), &signature).is_err());
        std::fs::write(&path, "no key").expect("written");
        assert!(matches!(WaczSigner::read(&path), Err(ExportFailure::Usage(_))));
    }
}
