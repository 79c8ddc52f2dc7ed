//! Exports to object storage. A local folder represents the bucket while the export runs, and its files are uploaded at the end.
//!
//! Before the export, the folder is filled with the files that an export reads: manifests, and a stand-in of the same length for
//! each object (or the whole object for `--append`). Objects are stored as a whole, the manifest last, so a reader that waits for
//! the manifest never finds a partial export. If a process dies before storing its files, the next export to the folder stores
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sheetport_export::{Exported, Manifest};
use sheetport_files::absolute_path::absolute;
use sheetport_files::digest;
use sheetport_sheet::write::{Existing, WholeFile};
use sheetport_storage::{Bucket, ObjectAddress};

use super::super::context::Context;
use super::super::error::Error;

/// The folder of all buckets, below the home folder.
const FOLDER: &str = "objects";
/// End of the names of manifests.
const MANIFEST: &str = ".manifest.json";
/// Name of the file that lists the stand-ins of a folder.
const STAND_INS: &str = ".stand-ins.json";

/// The local folder of a bucket.
pub(super) struct Staging {
    bucket: Bucket,
    /// The address of the bucket, with an empty key.
    address: ObjectAddress,
    root: PathBuf,
}

/// The length and the time of change of a file, in nanoseconds since 1970.
type Mark = (u64, u128);

impl Staging {
    /// Returns the staging folder for the bucket of `output`, or `None` for a local path.
    pub(super) fn of(context: &Context, output: Option<&Path>) -> Result<Option<Staging>, Error> {
        let Some(address) = output.map(ObjectAddress::of).transpose()?.flatten() else { return Ok(None) };
        let bucket = Bucket::open(&address, &context.connection)?;
        let mut root = address.folder();
        while !root.name().is_empty() {
            root = root.folder();
        }
        let hash = digest::of_parts([root.to_string().as_bytes()]);
        let folder = context.home.join(FOLDER).join(&digest::hex(&hash)[..16]);
        // Relative paths would depend on the current folder.
        let folder = absolute(folder);
        Ok(Some(Staging { bucket, address: root, root: folder }))
    }

    /// Returns the local path for an address in this bucket. Local paths are returned unchanged.
    ///
    /// # Errors
    /// If the address is in another bucket.
    pub(super) fn local(&self, path: &Path) -> Result<PathBuf, Error> {
        let Some(address) = ObjectAddress::of(path)? else { return Ok(path.to_owned()) };
        let shown = address.to_string();
        let key = shown.strip_prefix(&self.address.to_string()).ok_or_else(|| {
            let message = format!("{shown} is in another bucket than the records");
            Error::invalid(message, format!("name a file in {}", self.address))
        })?;
        Ok(self.root.join(key))
    }

    /// Returns the address for a local path below the folder. Other paths are returned unchanged.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        self.address_of(path).map_or_else(|| path.to_owned(), |address| address.path())
    }

    /// Whether a local path stands for an object.
    pub(super) fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }

    /// Returns a text with addresses in place of local paths.
    pub(super) fn shown_in(&self, text: &str) -> String {
        let root = format!("{}{}", self.root.display(), std::path::MAIN_SEPARATOR);
        text.replace(&root, &self.address.to_string())
    }

    /// Returns the address for a local path below the folder.
    fn address_of(&self, path: &Path) -> Option<ObjectAddress> {
        let key = path.strip_prefix(&self.root).ok()?;
        if key.as_os_str().is_empty() {
            return Some(self.address.clone());
        }
        let key: Vec<_> = key.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
        self.address.join(&key.join("/")).ok()
    }

    /// Prepares the folders for the files of an export, after storing files left by an earlier export. The files in `extended`
    /// are appended to, and so downloaded completely.
    pub(super) async fn prepare(&self, files: &[PathBuf], extended: &[PathBuf]) -> Result<(), Error> {
        let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
        for folder in folders {
            // Changes can be listed in a file of this machine.
            if self.holds(folder) {
                self.prepare_folder(folder, extended).await?;
            }
        }
        Ok(())
    }

    async fn prepare_folder(&self, folder: &Path, extended: &[PathBuf]) -> Result<(), Error> {
        let Some(address) = self.address_of(folder) else { return Ok(()) };
        std::fs::create_dir_all(folder).map_err(|error| self.unusable(&error))?;
        self.store_new(folder).await?;
        // If the process dies before the new list is written, the next export ignores the files in this folder.
        match std::fs::remove_file(folder.join(STAND_INS)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.unusable(&error)),
            _ => {}
        }
        for path in files(folder).map_err(|error| self.unusable(&error))? {
            std::fs::remove_file(path).map_err(|error| self.unusable(&error))?;
        }
        let mut stand_ins = BTreeMap::new();
        for object in self.bucket.list(&address).await? {
            let name = object.address.name().to_owned();
            let path = folder.join(&name);
            let made = File::create(&path).map_err(|error| self.unusable(&error));
            if name.ends_with(MANIFEST) || extended.contains(&path) {
                self.bucket.read(&object, &mut made?).await?;
            } else {
                made?.set_len(object.bytes).map_err(|error| self.unusable(&error))?;
            }
            stand_ins.insert(name, mark(&path).map_err(|error| self.unusable(&error))?);
        }
        let text = serde_json::to_vec(&stand_ins).map_err(|error| self.unusable(&error.into()))?;
        let mut list = WholeFile::create(&folder.join(STAND_INS), Existing::Replace)?;
        list.write_all(&text).map_err(|error| self.unusable(&error))?;
        list.finish()?;
        Ok(())
    }

    /// Stores the files of an export, and deletes objects whose files the export has deleted. Replaces local paths by addresses.
    pub(super) async fn publish(&self, exported: &mut [Exported]) -> Result<(), Error> {
        let folders = exported.iter().filter_map(|exported| Some(exported.path.as_deref()?.parent()?.to_owned()));
        let mut folders: Vec<PathBuf> = folders.collect();
        folders.dedup();
        for folder in folders {
            self.store_new(&folder).await?;
        }
        for exported in exported {
            for removed in &exported.removed {
                let Some(address) = self.address_of(removed) else { continue };
                self.bucket.remove(&address).await?;
                for companion in [Manifest::path_of(removed), Manifest::not_found_of(removed)] {
                    if let Some(address) = self.address_of(&companion) {
                        self.bucket.remove(&address).await?;
                    }
                }
            }
            let shown = |path: &mut PathBuf| *path = self.shown(path);
            exported.path.iter_mut().chain(&mut exported.changes_file).chain(&mut exported.not_found).for_each(shown);
            exported.removed.iter_mut().for_each(shown);
            for remark in &mut exported.remarks {
                *remark = self.shown_in(remark);
            }
        }
        Ok(())
    }

    /// Stores files with a manifest newer than the stand-in, each manifest after its files. Without the list of stand-ins, files
    /// and stand-ins are indistinguishable, so nothing is stored.
    async fn store_new(&self, folder: &Path) -> Result<(), Error> {
        let list = std::fs::read(folder.join(STAND_INS)).ok();
        let stand_ins: Option<BTreeMap<String, Mark>> = list.and_then(|text| serde_json::from_slice(&text).ok());
        let Some(stand_ins) = stand_ins else { return Ok(()) };
        let is_new = |path: &Path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            mark(path).is_ok_and(|mark| stand_ins.get(&name) != Some(&mark))
        };
        for path in files(folder).map_err(|error| self.unusable(&error))? {
            let Some(file) = path.to_str().and_then(|path| path.strip_suffix(MANIFEST)).map(PathBuf::from) else {
                continue;
            };
            let Some(manifest) = Manifest::beside(&file).filter(|_| is_new(&path)) else { continue };
            let lists = manifest.lists_beside(&file);
            let all = [file.clone(), Manifest::not_found_of(&file)].into_iter().chain(lists);
            for new in all.chain([path]).filter(|path| is_new(path)) {
                if let Some(address) = self.address_of(&new) {
                    self.bucket.store(&new, &address, true).await?;
                    std::fs::remove_file(&new).map_err(|error| self.unusable(&error))?;
                }
            }
        }
        Ok(())
    }

    fn unusable(&self, error: &io::Error) -> Error {
        Error::Local {
            message: format!("the local copies of {} in {} can't be used: {error}", self.address, self.root.display()),
            hint: "check that the disk is not full, or set SHEETPORT_HOME to another folder".to_owned(),
        }
    }
}

/// Returns the files of a folder except hidden files, ordered by name.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !is_hidden && entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

fn mark(path: &Path) -> io::Result<Mark> {
    let found = path.metadata()?;
    let modified = found.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok((found.len(), modified.as_nanos()))
}
