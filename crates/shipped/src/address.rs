//! Which object store an address names: `s3://`, `gs://`, `az://` or `file://`.

use crate::error::of_store;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use rhumb_engine::error::{Error, ErrorKind};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::crypto::ring;
use url::Url;

/// The client tries so often by itself. SlateDB tries again beyond that, without end; what we ask
/// for ourselves is tried again by whoever asked.
const TRIES_MAX: usize = 2;
const TRIES_TIME_MAX: Duration = Duration::from_secs(10);
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// For the largest request: a part of a WARC file.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(60);

/// Who names a server other than Amazon's.
const ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];

/// A store, and what all of a crawl's objects begin with before the crawl's name.
pub struct StoreAddress {
    pub store: Arc<dyn ObjectStore>,
    pub prefix: Path,
    /// An object can be replaced if it is still the same, which files do not know.
    pub has_updates: bool,
}

/// Opens what an address like `s3://bucket/prefix` names. Nothing is asked of the store yet.
pub fn open(address: &str) -> Result<StoreAddress, Error> {
    let url = Url::parse(address).map_err(|e| unreadable(address, &e.to_string()))?;
    let of_url =
        |path: &str| Path::from_url_path(path).map_err(|e| unreadable(address, &e.to_string()));
    let bucket = || match url.host_str() {
        Some(bucket) if !bucket.is_empty() => Ok(bucket.to_owned()),
        _ => Err(unreadable(address, "it names no bucket")),
    };
    let built = |e| of_store(address, e);
    let store: Arc<dyn ObjectStore> = match url.scheme() {
        "file" => return file(address, &url),
        "s3" => Arc::new(amazon(&bucket()?).build().map_err(built)?),
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket()?);
            let builder = builder.with_retry(retry()).with_client_options(client());
            Arc::new(builder.build().map_err(built)?)
        }
        "az" => {
            let builder = MicrosoftAzureBuilder::from_env().with_container_name(bucket()?);
            let builder = builder.with_retry(retry()).with_client_options(client());
            Arc::new(builder.build().map_err(built)?)
        }
        _ => return Err(unreadable(address, "the scheme is unknown")),
    };
    Ok(StoreAddress { store, prefix: of_url(url.path())?, has_updates: true })
}

fn amazon(bucket: &str) -> AmazonS3Builder {
    let is_plain = |name: &&str| std::env::var(name).is_ok_and(|url| url.starts_with("http://"));
    // An endpoint without TLS was written down on purpose.
    let allow_http = ENDPOINTS.iter().any(is_plain);
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry());
    builder.with_client_options(client().with_allow_http(allow_http))
}

fn client() -> ClientOptions {
    // Whoever was first has chosen: it is ring everywhere.
    let _ = ring::default_provider().install_default();
    ClientOptions::new().with_connect_timeout(CONNECT_TIME_MAX).with_timeout(REQUEST_TIME_MAX)
}

fn retry() -> RetryConfig {
    RetryConfig { max_retries: TRIES_MAX, retry_timeout: TRIES_TIME_MAX, ..RetryConfig::default() }
}

fn file(address: &str, url: &Url) -> Result<StoreAddress, Error> {
    let dir = url.to_file_path().map_err(|()| unreadable(address, "it names no directory here"))?;
    let made = std::fs::create_dir_all(&dir);
    made.map_err(|e| Error::new(ErrorKind::Retry, format!("{}: {e}", dir.display())))?;
    let store = LocalFileSystem::new_with_prefix(&dir).map_err(|e| of_store(address, e))?;
    let store = store.with_fsync(true);
    Ok(StoreAddress { store: Arc::new(store), prefix: Path::default(), has_updates: false })
}

fn unreadable(address: &str, why: &str) -> Error {
    let what = format!(
        "cannot use {address:?} as a store: {why}; write s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, \
         az://CONTAINER/PREFIX or file:///DIRECTORY"
    );
    Error::new(ErrorKind::Invalid, what)
}
