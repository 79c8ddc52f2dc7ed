//! Reading and writing the objects of a bucket.

use std::fs::File;
use std::io::{Read as _, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3CopyIfNotExists};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{
    GetOptions, GetRange, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions,
    PutPayload, RetryConfig,
};
use sheetport_client::ConnectOptions;

use super::address::ObjectAddress;
use super::connector::Connector;
use super::failure::{failure, reason};
use crate::error::Error;
use crate::object::Object;
use crate::scheme::Scheme;

/// Size of the parts read or written by one request, in bytes.
const PART: u64 = 8 << 20;
/// Most parts of an object.
const MAX_PARTS: u64 = 9_000;
/// How long, and how often, a request is repeated.
const PATIENCE: Duration = Duration::from_secs(60);
const MAX_RETRIES: usize = 6;

/// The objects of a bucket or container.
#[derive(Clone, Debug)]
pub struct Bucket(Arc<dyn ObjectStore>);

impl Bucket {
    /// Prepares access to the bucket of an address, with the credentials of the environment. Nothing is requested.
    ///
    /// # Errors
    /// If the settings of the environment can't be used.
    pub fn open(address: &ObjectAddress, options: &ConnectOptions) -> Result<Bucket, Error> {
        let unusable = |reason: String| Error::Settings { address: address.clone(), reason };
        // The client certificate is only for the service of the records.
        let options = ConnectOptions { client_cert: None, ..options.clone() };
        let connector = Connector::new(&options).map_err(|error| unusable(error.to_string()))?;
        let retry = RetryConfig { max_retries: MAX_RETRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
        let url = format!("{}{}", address.scheme().prefix(), address.bucket);
        let store: object_store::Result<Arc<dyn ObjectStore>> = match address.scheme() {
            Scheme::S3 => {
                let mut builder =
                    super::s3_profile::complete(AmazonS3Builder::from_env(), |name| std::env::var(name).ok());
                // Other services than Amazon's may need a header instead: AWS_COPY_IF_NOT_EXISTS.
                if builder.get_config_value(&AmazonS3ConfigKey::CopyIfNotExists).is_none() {
                    builder = builder.with_copy_if_not_exists(S3CopyIfNotExists::Multipart);
                }
                let builder = builder.with_url(url).with_retry(retry).with_http_connector(connector);
                builder.build().map(|store| Arc::new(store) as _)
            }
            Scheme::Google => GoogleCloudStorageBuilder::from_env()
                .with_url(url)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Arc::new(store) as _),
            Scheme::Azure => MicrosoftAzureBuilder::from_env()
                .with_url(url)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Arc::new(store) as _),
        };
        store.map(Bucket).map_err(|error| unusable(reason(&error)))
    }

    /// Returns the object with this address, if it exists.
    pub async fn find(&self, address: &ObjectAddress) -> Result<Option<Object>, Error> {
        match self.get(address).await {
            Ok(found) => Ok(Some(found)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the object with this address.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such object.
    pub async fn get(&self, address: &ObjectAddress) -> Result<Object, Error> {
        let meta = self.0.head(&address.key).await.map_err(|error| failure(address, "read", &error))?;
        Ok(object(address, meta))
    }

    /// Returns the objects directly below a prefix, by name.
    pub async fn list(&self, folder: &ObjectAddress) -> Result<Vec<Object>, Error> {
        let found = self.0.list_with_delimiter(Some(&folder.key)).await;
        let found = found.map_err(|error| failure(folder, "listed", &error))?;
        Ok(sorted(folder, found.objects))
    }

    /// Returns all objects below a prefix, by key.
    pub async fn list_all(&self, folder: &ObjectAddress) -> Result<Vec<Object>, Error> {
        let found: object_store::Result<Vec<ObjectMeta>> = self.0.list(Some(&folder.key)).try_collect().await;
        Ok(sorted(folder, found.map_err(|error| failure(folder, "listed", &error))?))
    }

    /// Copies an object to `copy`.
    ///
    /// # Errors
    /// [`Error::Changed`] if the object was replaced meanwhile.
    pub async fn read(&self, object: &Object, copy: &mut impl Write) -> Result<(), Error> {
        let Object { address, bytes, version, .. } = object;
        let mut begin = 0;
        while begin < *bytes {
            let range = begin..(begin + PART).min(*bytes);
            let (options, wanted) = (GetOptions::default(), range.end - range.start);
            let options =
                GetOptions { range: Some(GetRange::Bounded(range.clone())), if_match: version.clone(), ..options };
            let part = match self.0.get_opts(&address.key, options).await {
                Ok(found) if found.meta.size == *bytes => found.bytes().await,
                // A storage without versions.
                Ok(_) => return Err(Error::Changed { address: address.clone() }),
                // The object existed before.
                Err(object_store::Error::NotFound { .. }) => return Err(Error::Changed { address: address.clone() }),
                Err(error) => Err(error),
            };
            let part = part.map_err(|error| failure(address, "read", &error))?;
            if part.len() as u64 != wanted {
                return Err(Error::Changed { address: address.clone() });
            }
            copy.write_all(&part).map_err(|source| Error::Local {
                address: address.clone(),
                action: "written",
                source,
            })?;
            begin = range.end;
        }
        copy.flush().map_err(|source| Error::Local { address: address.clone(), action: "written", source })
    }

    /// Stores a file as an object, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Exists`] if an object exists and must not be replaced.
    pub async fn store(&self, file: &Path, address: &ObjectAddress, replaces: bool) -> Result<(), Error> {
        let local = |source| Error::Local { address: address.clone(), action: "read", source };
        let mut file = File::open(file).map_err(local)?;
        let bytes = file.metadata().map_err(local)?.len();
        let failed = |error: object_store::Error| failure(address, "written", &error);
        if bytes <= PART {
            let mut content = Vec::new();
            file.read_to_end(&mut content).map_err(local)?;
            let mode = if replaces { PutMode::Overwrite } else { PutMode::Create };
            let options = PutOptions { mode, ..PutOptions::default() };
            return self.0.put_opts(&address.key, content.into(), options).await.map(drop).map_err(failed);
        }
        if replaces {
            return self.store_in_parts(file, bytes, address).await;
        }
        if self.find(address).await?.is_some() {
            return Err(Error::Exists { address: address.clone() });
        }
        // Only a copy can be conditional on a free name, so the parts go to a temporary object first.
        let partial = address.folder().join(&format!(".{}.{}.partial", address.name(), uuid::Uuid::now_v7()))?;
        self.store_in_parts(file, bytes, &partial).await?;
        let copied = match self.get(&partial).await {
            Ok(stored) => self.copy(&stored, address).await,
            Err(error) => Err(error),
        };
        self.remove(&partial).await?;
        match copied? {
            true => Ok(()),
            false => Err(Error::Exists { address: address.clone() }),
        }
    }

    async fn store_in_parts(&self, file: File, bytes: u64, address: &ObjectAddress) -> Result<(), Error> {
        let failed = |error: object_store::Error| failure(address, "written", &error);
        let mut upload = self.0.put_multipart(&address.key).await.map_err(failed)?;
        match send_parts(file, bytes, address, upload.as_mut()).await {
            Ok(()) => upload.complete().await.map(drop).map_err(failed),
            Err(error) => {
                // Otherwise the parts are kept, and paid for.
                let _ = upload.abort().await;
                Err(error)
            }
        }
    }

    /// Copies an object within the bucket. Returns false and changes nothing if the target exists.
    pub async fn copy(&self, object: &Object, to: &ObjectAddress) -> Result<bool, Error> {
        let from = &object.address;
        let copied = match object.bytes {
            // There is no part to copy.
            0 => {
                let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
                self.0.put_opts(&to.key, PutPayload::default(), options).await.map(drop)
            }
            _ => self.0.copy_if_not_exists(&from.key, &to.key).await,
        };
        match copied {
            Ok(()) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => Ok(false),
            Err(error @ object_store::Error::NotFound { .. }) => Err(failure(from, "moved", &error)),
            Err(error) => Err(failure(to, "written", &error)),
        }
    }

    /// Removes an object, if it exists.
    pub async fn remove(&self, address: &ObjectAddress) -> Result<(), Error> {
        match self.0.delete(&address.key).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failure(address, "removed", &error)),
        }
    }
}

/// Returns an object in the bucket of an address.
fn object(of: &ObjectAddress, meta: ObjectMeta) -> Object {
    Object {
        address: ObjectAddress { key: meta.location, ..of.clone() },
        bytes: meta.size,
        version: meta.e_tag,
        modified: meta.last_modified.timestamp_millis(),
    }
}

fn sorted(folder: &ObjectAddress, found: Vec<ObjectMeta>) -> Vec<Object> {
    let mut objects: Vec<Object> = found.into_iter().map(|meta| object(folder, meta)).collect();
    objects.sort_by(|a, b| a.address.key.cmp(&b.address.key));
    objects
}

async fn send_parts(
    mut file: File,
    bytes: u64,
    address: &ObjectAddress,
    upload: &mut dyn MultipartUpload,
) -> Result<(), Error> {
    let local = |source| Error::Local { address: address.clone(), action: "read", source };
    let size = PART.max(bytes / MAX_PARTS + 1);
    loop {
        let reading = tokio::task::spawn_blocking(move || {
            let mut part = Vec::new();
            let read = (&mut file).take(size).read_to_end(&mut part);
            read.map(|_| (file, part))
        });
        let part;
        (file, part) =
            reading.await.unwrap_or_else(|_| Err(std::io::Error::other("reading panicked"))).map_err(local)?;
        if part.is_empty() {
            return Ok(());
        }
        let sent = upload.put_part(PutPayload::from(part)).await;
        sent.map_err(|error| failure(address, "written", &error))?;
    }
}
