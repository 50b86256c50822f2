//! What holds a package together: `datapackage.json` names every file with its hash, and
//! `datapackage-digest.json` has the hash of that, and the signature.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::WaczJob;
use super::pages::Listed;
use super::zip::Entry;
use crate::ExportFailure;

const WACZ_VERSION: &str = "1.1.1";

pub(super) struct Resource {
    name: String,
    path: String,
    hash: String,
    bytes: u64,
}

impl Resource {
    fn of_entry(entry: &Entry) -> Resource {
        let name = entry.name.rsplit('/').next().unwrap_or(&entry.name);
        Resource {
            name: name.to_lowercase(),
            path: entry.name.clone(),
            hash: format!("sha256:{}", entry.sha256),
            bytes: entry.bytes,
        }
    }

    /// A package of several.
    pub(super) fn of_file(path: &Path, name: &str) -> Result<Resource, ExportFailure> {
        let failed = |error| ExportFailure::file(path, "read", &error);
        let mut file = File::open(path).map_err(failed)?;
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer).map_err(failed)? {
                0 => break,
                read => {
                    hash.update(&buffer[..read]);
                    bytes += read as u64;
                }
            }
        }
        let hash = format!("sha256:{}", data_encoding::HEXLOWER.encode(&hash.finalize()));
        Ok(Resource { name: name.to_lowercase(), path: name.to_owned(), hash, bytes })
    }

    fn json(&self) -> Value {
        json!({ "name": self.name, "path": self.path, "hash": self.hash, "bytes": self.bytes })
    }
}

pub(super) fn software() -> String {
    format!("rhumb {}", env!("CARGO_PKG_VERSION"))
}

pub(super) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// `datapackage.json` of one package.
pub(super) fn describe(entries: &[Entry], listed: &Listed, job: &WaczJob, name: &str) -> String {
    let resources: Vec<Value> = entries.iter().map(|e| Resource::of_entry(e).json()).collect();
    let mut package = Map::new();
    package.insert("profile".to_owned(), json!("data-package"));
    package.insert("wacz_version".to_owned(), json!(WACZ_VERSION));
    package.insert("title".to_owned(), json!(job.title.as_deref().unwrap_or(name)));
    package.insert("created".to_owned(), json!(job.created));
    package.insert("software".to_owned(), json!(software()));
    if let Some((url, date)) = &listed.main {
        package.insert("mainPageUrl".to_owned(), json!(url));
        package.insert("mainPageDate".to_owned(), json!(date));
    }
    package.insert("resources".to_owned(), json!(resources));
    pretty(&Value::Object(package))
}

/// `datapackage.json` of several packages.
pub(super) fn multi(resources: &[Resource], job: &WaczJob, name: &str) -> String {
    let resources: Vec<Value> = resources.iter().map(Resource::json).collect();
    pretty(&json!({
        "profile": "multi-wacz-package",
        "title": job.title.as_deref().unwrap_or(name),
        "created": job.created,
        "software": software(),
        "resources": resources,
    }))
}

/// `datapackage-digest.json`, signed if there is a key.
pub(super) fn digest(description: &[u8], job: &WaczJob) -> Result<String, ExportFailure> {
    let hash = format!("sha256:{}", data_encoding::HEXLOWER.encode(&Sha256::digest(description)));
    let mut digest = json!({ "path": "datapackage.json", "hash": hash });
    if let Some(signer) = &job.signer {
        let (signature, public_key) = signer.sign(hash.as_bytes())?;
        digest["signedData"] = json!({
            "hash": hash,
            "created": job.created,
            "software": software(),
            "signature": signature,
            "publicKey": public_key,
        });
    }
    Ok(pretty(&digest))
}
