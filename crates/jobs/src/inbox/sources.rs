//! Sources of files for an upload step: a folder, or a prefix in object storage.

use std::path::{Path, PathBuf};

use sheetport_operations::context::Context;
use sheetport_operations::error::Error;
use sheetport_storage::{Object, ObjectAddress};

use super::super::definition::UploadStep;
use super::claimed::{Claimed, refused};
use super::folder::{self, Waiting};
use super::objects::ObjectInbox;
use super::taken::{left_over, take};

/// The place of the files of a step.
pub(crate) enum Inbox {
    Folder,
    Objects(Box<ObjectInbox>),
}

/// A file to upload.
pub(crate) enum Source {
    New(PathBuf),
    NewObject(Object),
    /// Claimed by an earlier run that was aborted.
    Claimed(Claimed),
}

impl Source {
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Source::New(path) => path.clone(),
            Source::NewObject(object) => object.address.path(),
            Source::Claimed(claimed) => claimed.path(),
        }
    }
}

impl Inbox {
    pub(crate) async fn open(context: &Context, step: &UploadStep) -> Result<Inbox, Error> {
        Ok(match ObjectAddress::of(&step.folder)? {
            None => Inbox::Folder,
            Some(folder) => Inbox::Objects(Box::new(ObjectInbox::open(context, folder).await?)),
        })
    }

    /// Returns the files of a step, files left by earlier runs first, and the files that wait for the next run.
    pub(crate) async fn sources(&self, step: &UploadStep) -> Result<(Vec<Source>, Vec<Waiting>), Error> {
        let moves = step.folders.is_some();
        match self {
            Inbox::Folder => {
                let left = if moves { left_over(&step.folder, &step.files) } else { Vec::new() };
                let found = folder::find(step).await.map_err(|error| unreadable(&step.folder, &error))?;
                let left = left.into_iter().map(|taken| Source::Claimed(Claimed::File(taken)));
                Ok((left.chain(found.ready.into_iter().map(Source::New)).collect(), found.waiting))
            }
            Inbox::Objects(objects) => {
                let left = if moves { objects.left_over(&step.files).await? } else { Vec::new() };
                let found = objects.find(&step.files).await?;
                let left = left.into_iter().map(|taken| Source::Claimed(Claimed::Object(Box::new(taken))));
                Ok((left.chain(found.into_iter().map(Source::NewObject)).collect(), Vec::new()))
            }
        }
    }

    /// Takes a file out of the inbox. Returns `None` if another process was faster.
    pub(crate) async fn claim(&self, source: Source) -> Result<Option<Claimed>, Error> {
        Ok(match (self, source) {
            (_, Source::Claimed(claimed)) => Some(claimed),
            (Inbox::Objects(objects), Source::NewObject(object)) => {
                objects.take(&object).await?.map(|taken| Claimed::Object(Box::new(taken)))
            }
            (_, source) => {
                let path = source.path();
                match take(&path) {
                    Ok(taken) => match taken.open() {
                        Ok(_) => Some(Claimed::File(taken)),
                        // Somebody has exchanged the file since it was found.
                        Err(why) => {
                            taken.put_back();
                            return Err(refused(&path, &why.to_string()));
                        }
                    },
                    // Another process has taken the file, or its owner has moved it away.
                    Err(_) if path.symlink_metadata().is_err() => None,
                    Err(error) => {
                        let message = format!("{} can't be taken out of its folder: {error}", path.display());
                        let hint = "close it in other programs, and check the permissions of the folder".to_owned();
                        return Err(Error::FileInUse { message, hint });
                    }
                }
            }
        })
    }

    pub(crate) async fn close(self) {
        if let Inbox::Objects(objects) = self {
            objects.close().await;
        }
    }
}

fn unreadable(folder: &Path, error: &std::io::Error) -> Error {
    Error::Local {
        message: format!("{} can't be read: {error}", folder.display()),
        hint: "check that it exists, is connected and may be read".to_owned(),
    }
}
