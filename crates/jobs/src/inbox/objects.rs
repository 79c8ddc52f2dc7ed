//! The files of an upload step in object storage.
//!
//! An object is taken by copying it to a folder below the prefix and then removing the original, just as a file is moved. The
//! name of the copy is derived from the version of the object, so a crash between the two steps never leads to a second upload.
//! Locks in the ledger tell other workers which objects are in use.

use std::path::{Path, PathBuf};

use sheetport_files::digest;
use sheetport_ledger::{Ledger, NamedLock};
use sheetport_operations::context::Context;
use sheetport_operations::error::Error;
use sheetport_operations::files::inbox_path::FOLDER;
use sheetport_operations::files::{InputFile, numbered, private_copy};
use sheetport_storage::{Bucket, Object, ObjectAddress};
use wildmatch::WildMatch;

use super::folder::is_temporary;

/// A prefix whose objects are uploaded.
pub(crate) struct ObjectInbox {
    bucket: Bucket,
    folder: ObjectAddress,
    ledger: Ledger,
}

/// A locked object of an inbox. Other workers skip it.
pub(crate) struct TakenObject {
    object: Object,
    bucket: Bucket,
    inbox: ObjectAddress,
    _lock: NamedLock,
}

impl ObjectInbox {
    pub(super) async fn open(context: &Context, folder: ObjectAddress) -> Result<ObjectInbox, Error> {
        let bucket = Bucket::open(&folder, &context.connection)?;
        let ledger = context.ledger().await?;
        ledger.sweep_locks()?;
        Ok(ObjectInbox { bucket, folder, ledger })
    }

    /// Returns the objects with a name of the step, the oldest first.
    pub(super) async fn find(&self, files: &str) -> Result<Vec<Object>, Error> {
        let pattern = WildMatch::new_case_insensitive(files);
        let mut found = self.bucket.list(&self.folder).await?;
        found.retain(|object| {
            let name = object.address.name();
            // The marker of the folder itself, such as `in/`, is listed without its slash.
            object.address.folder() == self.folder && pattern.matches(name) && !is_temporary(name)
        });
        found.sort_by(|a, b| (a.modified, a.address.name()).cmp(&(b.modified, b.address.name())));
        Ok(found)
    }

    /// Takes an object out of the inbox. Returns `None` if another worker has taken the object, or if the object was replaced.
    pub(super) async fn take(&self, object: &Object) -> Result<Option<TakenObject>, Error> {
        let Some(_taking) = self.ledger.try_lock_name(&object.address.to_string()).await? else { return Ok(None) };
        if self.bucket.find(&object.address).await?.as_ref() != Some(object) {
            return Ok(None);
        }
        let copy = self.copy_of(object)?;
        let lock = self.ledger.try_lock_name(&copy.to_string()).await?;
        // An earlier process may have made the copy.
        self.bucket.copy(object, &copy).await?;
        self.bucket.remove(&object.address).await?;
        Ok(match lock {
            Some(lock) => self.bucket.find(&copy).await?.map(|object| self.taken(object, lock)),
            None => None,
        })
    }

    /// Returns objects left by crashed processes whose names match, oldest first.
    pub(super) async fn left_over(&self, files: &str) -> Result<Vec<TakenObject>, Error> {
        let pattern = WildMatch::new_case_insensitive(files);
        let (mut found, others): (Vec<Object>, Vec<Object>) =
            self.bucket.list_all(&self.folder.join(FOLDER)?).await?.into_iter().partition(is_copy);
        for report in others {
            let folder = report.address.folder();
            // A crashed process moved the file of this report, but did not remove the report.
            if !found.iter().any(|object| object.address.folder() == folder) {
                self.bucket.remove(&report.address).await?;
            }
        }
        found.retain(|object| pattern.matches(object.address.name()));
        found.sort_by_key(|object| object.modified);
        let mut left = Vec::new();
        for object in found {
            let Some(lock) = self.ledger.try_lock_name(&object.address.to_string()).await? else { continue };
            // The object may have been moved before the lock was taken.
            let Some(object) = self.bucket.find(&object.address).await? else { continue };
            let original = self.folder.join(object.address.name())?;
            if let Some(original) = self.bucket.find(&original).await?
                && self.copy_of(&original)? == object.address
            {
                self.bucket.remove(&original.address).await?;
            }
            left.push(self.taken(object, lock));
        }
        Ok(left)
    }

    fn taken(&self, object: Object, lock: NamedLock) -> TakenObject {
        TakenObject { object, bucket: self.bucket.clone(), inbox: self.folder.clone(), _lock: lock }
    }

    /// Returns the address of the copy of this version of an object.
    fn copy_of(&self, object: &Object) -> Result<ObjectAddress, Error> {
        let Object { address, bytes, version, modified } = object;
        let (address, name) = (address.to_string(), address.name());
        let version = version.clone().unwrap_or_default();
        let parts = [address, version, bytes.to_string(), modified.to_string()];
        let version = hash(&parts);
        Ok(self.folder.join(&format!("{FOLDER}/{version}-{}/{name}", hash(&[name])))?)
    }

    pub(super) async fn close(self) {
        self.ledger.close().await;
    }
}

fn hash(parts: &[impl AsRef<[u8]>]) -> String {
    digest::hex(&digest::of_parts(parts.iter().map(AsRef::as_ref))[..16])
}

/// Returns whether an object is a taken file, rather than a report next to a taken file.
fn is_copy(object: &Object) -> bool {
    let folder = object.address.folder();
    folder.name().split_once('-').is_some_and(|(_, of_name)| of_name == hash(&[object.address.name()]))
}

impl TakenObject {
    pub(super) fn path(&self) -> PathBuf {
        self.object.address.path()
    }

    /// Copies the object to a temporary file, shown as `name` in messages.
    pub(super) async fn input(&self, name: &Path) -> Result<InputFile, Error> {
        let copy = private_copy(&self.bucket, &self.object).await?;
        Ok(InputFile::of_object(copy, name, &self.object.address.to_string()))
    }

    /// Puts the object back into its inbox, unless there is a new object with its name. Returns its current address.
    pub(super) async fn put_back(self) -> PathBuf {
        let back = async {
            let target = self.inbox.join(self.object.address.name()).ok()?;
            self.remove_reports().await.ok()?;
            self.bucket.copy(&self.object, &target).await.ok().filter(|is_free| *is_free)?;
            self.bucket.remove(&self.object.address).await.ok().map(|()| target.path())
        };
        back.await.unwrap_or_else(|| self.path())
    }

    /// Moves the object to a prefix under its name, with a number if the name is taken. Returns the new address.
    ///
    /// # Errors
    /// If the move fails. The object then stays in place.
    pub(super) async fn move_into(self, folder: &Path) -> Result<PathBuf, (TakenObject, Error)> {
        match self.try_move(folder).await {
            Ok(target) => Ok(target),
            Err(error) => Err((self, error)),
        }
    }

    /// Removes the reports next to the copy.
    async fn remove_reports(&self) -> Result<(), Error> {
        for other in self.bucket.list(&self.object.address.folder()).await? {
            if other.address != self.object.address {
                self.bucket.remove(&other.address).await?;
            }
        }
        Ok(())
    }

    async fn try_move(&self, folder: &Path) -> Result<PathBuf, Error> {
        let folder = ObjectAddress::of(folder)?.filter(|folder| folder.is_in_bucket_of(&self.inbox));
        let folder = folder.ok_or_else(|| {
            let message = format!("{} can only be moved within its bucket", self.object.address);
            Error::invalid(message, "name a folder in that bucket")
        })?;
        self.remove_reports().await?;
        for target in numbered(Path::new(self.object.address.name())) {
            let target = folder.join(&target.to_string_lossy())?;
            if self.bucket.copy(&self.object, &target).await? {
                self.bucket.remove(&self.object.address).await?;
                return Ok(target.path());
            }
        }
        Err(Error::invalid("no name is free", "move the files away"))
    }
}
