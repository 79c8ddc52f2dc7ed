//! One export from its first request to its last file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::ahead::ListPages;
use super::before::records_before;
use super::changes::{Compared, Prints};
use super::conclude::{Ending, Verdict, conclude};
use super::gather::{Asking, Fetched, Records};
use super::history::{History, State};
use super::layout::InForce;
use super::look::{Look, Looked};
use super::making::{Given, Making};
use super::rows::{Maker, Recipe, Target};
use super::spool::{Kind, Spool};
use super::{Error, Exported, Job, Output, Since, What, names};
use crate::client::pages::{self, Completeness, Identity, Page, Walk};
use crate::client::{Client, Pace};
use crate::sheet::write::{Existing, WholeFile, Written, sweep};

/// A record may have changed while the last export read it, and clocks differ: what changed so long before its beginning
/// is exported again.
const OVERLAP: jiff::SignedDuration = jiff::SignedDuration::from_mins(10);

/// Told the records so far and their total, if it is known.
pub type Progress<'a> = dyn Fn(u64, Option<u64>) + Sync + 'a;

/// Reads all that the job says and writes it to its file.
pub async fn export(
    client: Arc<Client>,
    pace: Arc<Pace>,
    job: &Job,
    progress: &Progress<'_>,
) -> Result<Exported, Error> {
    let path = path_of(job)?;
    let identity = identity(job)?;
    let history = History::take(&job.home, &identity)?;
    history.sweep(&job.home, (job.clock.now)());
    sweep(&history.prints(), (job.clock.now)());
    let before = history.state();
    let since = since(job, before.as_ref());
    let records_before = records_before(job, path.as_deref(), before.as_ref());
    let target = target(job, path.as_deref());
    let mut gathering = Gathering::begin(job, &identity, &history, recipe(job, target, &history, since))?;
    let asking = Asking { client, pace, concurrency: job.concurrency.max(1) };
    let completeness = gathering.gather(job, asking, progress).await?;
    let Gathering { walk, spool, making, skips, missing, was_resumed, began, .. } = gathering;
    let maker = making.end().await?;
    let verdict = Verdict::of(job, &completeness, &walk, records_before);
    let place = path.as_deref().map(|path| verdict.place(path));
    let name = place.clone().unwrap_or_default();
    let prints = history.prints();
    let finishing = tokio::task::spawn_blocking(move || finish(maker, name, spool, &skips, &prints));
    let Finished { maker, written, compared, spool } = finishing.await.unwrap_or(Err(Error::Stuck))?;
    let ending = Ending {
        job,
        history: &history,
        verdict,
        walk,
        maker,
        written,
        compared,
        place,
        since,
        missing,
        was_resumed,
        began,
    };
    conclude(ending, spool)
}

/// The way from the service into the spool and to the maker of rows.
struct Gathering {
    walk: Walk,
    spool: Spool,
    making: Making,
    /// For each page with entries that had come before, by its number among all frames: which were new.
    skips: HashMap<u64, Vec<bool>>,
    /// How pages are looked at where they are fetched.
    look: Look,
    frames: u64,
    missing: u64,
    was_resumed: bool,
    began: jiff::Timestamp,
}

impl Gathering {
    fn begin(job: &Job, identity: &str, history: &History, recipe: Recipe) -> Result<Gathering, Error> {
        // What frames are may change from one version to the next.
        let begin = format!("2 {identity}");
        let left = match job.fresh {
            true => None,
            false => Spool::left_in(history.folder(), &begin, (job.clock.now)())?,
        };
        let was_resumed = left.is_some();
        // What is carried on with began when its first page was read.
        let began = left.as_ref().and_then(|(_, began)| began.parse().ok()).unwrap_or(job.clock.started);
        let spool = match left {
            Some((spool, _)) => spool,
            None => {
                let begin = format!("{begin}\n{began}");
                let mut spool = Spool::create(history.folder())?;
                spool.add(Kind::Begin, begin.as_bytes())?;
                spool.flush()?;
                spool
            }
        };
        let prints = if recipe.compares() { Prints::default() } else { Prints::off() };
        let in_force = InForce::default();
        let making = Making::begin(Maker::new(recipe, prints, in_force.clone()));
        let (walk, skips) = (Walk::default(), HashMap::new());
        let look = Look { identifier: walk.identifier(), in_force: Some(in_force) };
        Ok(Gathering { walk, spool, making, skips, look, frames: 0, missing: 0, was_resumed, began })
    }

    async fn gather(&mut self, job: &Job, asking: Asking, progress: &Progress<'_>) -> Result<Completeness, Error> {
        if self.was_resumed {
            self.replay(progress).await?;
        }
        match &job.what {
            What::List(list) => {
                let mut pages = ListPages::new(asking.clone(), list, self.frames + 1, self.look.clone());
                while !self.walk.is_over() {
                    match pages.take(&self.walk) {
                        Some(looked) => {
                            if let Some((page, ids)) = self.take(looked?).await? {
                                pages.take_back(page, ids);
                            }
                        }
                        None => {
                            progress(self.walk.entries, self.walk.total);
                            self.spool.flush_if_due()?;
                            pages.wait().await;
                        }
                    }
                }
                drop(pages);
                progress(self.walk.entries, self.walk.total);
                if !job.verify {
                    return Ok(self.walk.completeness());
                }
                // Nothing more is added, and the second reading may take as long as the first.
                self.spool.flush()?;
                let mut second = self.walk.again();
                let look = Look { in_force: None, ..self.look.clone() };
                let mut pages = ListPages::new(asking, list, 1, look);
                while !second.is_over() {
                    match pages.take(&second) {
                        Some(looked) => {
                            let Looked { fetched, ids, .. } = looked?;
                            second.take_identified(fetched.into_page().total, &ids);
                        }
                        None => {
                            progress(second.entries, second.total);
                            pages.wait().await;
                        }
                    }
                }
                Ok(self.walk.confirmed_by(&second))
            }
            What::Ids { single, file, by_external_id } => {
                let mut records = Records::new(asking, single, *by_external_id, file, self.frames)?;
                while let Some(fetched) = records.next().await? {
                    self.take(self.look.at(fetched)).await?;
                    self.spool.flush()?;
                    progress(self.frames, None);
                }
                Ok(Completeness::EachAsked)
            }
        }
    }

    /// Takes in what an earlier export left.
    async fn replay(&mut self, progress: &Progress<'_>) -> Result<(), Error> {
        let mut frames = self.spool.frames()?;
        let mut good = 0;
        while let Some(frame) = frames.next()? {
            match frame.kind {
                Kind::Begin => {}
                Kind::Missing => self.count_missing(),
                Kind::NoPage => drop(self.page(self.look.at(Fetched::NoPage)).await?),
                // What can't be read is asked for again, with all that came after it.
                Kind::Page => match pages::read(frame.text) {
                    Ok(page) => drop(self.page(self.look.at(Fetched::Page(page))).await?),
                    Err(_) => break,
                },
            }
            good = frames.good();
            progress(self.walk.entries, self.walk.total);
        }
        self.spool.carry_on(good)
    }

    /// Gives back what is not needed any more.
    async fn take(&mut self, looked: Looked) -> Result<Option<(Page, Vec<Identity>)>, Error> {
        let (kind, text) = looked.fetched.in_spool();
        self.spool.add(kind, &text)?;
        match looked.fetched {
            Fetched::Missing(_) => {
                self.count_missing();
                Ok(None)
            }
            _ => self.page(looked).await,
        }
    }

    async fn page(&mut self, looked: Looked) -> Result<Option<(Page, Vec<Identity>)>, Error> {
        let Looked { fetched, ids, made } = looked;
        let page = fetched.into_page();
        let new = self.walk.take_identified(page.total, &ids);
        let are_all_new = !new.contains(&false);
        if !are_all_new {
            self.skips.insert(self.frames, new.clone());
        }
        self.frames += 1;
        match made.filter(|_| are_all_new) {
            Some(made) => {
                self.making.give(Given::Made(made)).await?;
                Ok(Some((page, ids)))
            }
            None => {
                self.making.give(Given::Page(page, new)).await?;
                Ok(None)
            }
        }
    }

    fn count_missing(&mut self) {
        self.frames += 1;
        self.missing += 1;
    }
}

/// What is left when the file is in place.
struct Finished {
    maker: Maker,
    written: Option<Written>,
    compared: Compared,
    spool: Spool,
}

/// Writes the file under the name `place`, from the spool where it could not be written yet. While the disk takes it, the
/// records are held against those of before, which are known at `prints`.
fn finish(
    mut maker: Maker,
    place: PathBuf,
    mut spool: Spool,
    skips: &HashMap<u64, Vec<bool>>,
    prints: &Path,
) -> Result<Finished, Error> {
    let mut now = std::mem::take(&mut maker.prints);
    let (written, compared) = std::thread::scope(|scope| {
        let comparing = scope.spawn(|| now.compare(prints));
        let written = write(&mut maker, place, &mut spool, skips);
        (written, comparing.join().unwrap_or(Err(Error::Stuck)))
    });
    Ok(Finished { maker, written: written?, compared: compared?, spool })
}

fn write(
    maker: &mut Maker,
    place: PathBuf,
    spool: &mut Spool,
    skips: &HashMap<u64, Vec<bool>>,
) -> Result<Option<Written>, Error> {
    maker.finish(place, &mut |take| {
        let mut frames = spool.frames()?;
        let mut number = 0;
        while let Some(frame) = frames.next()? {
            if frame.kind == Kind::Page {
                let page = pages::read(frame.text).map_err(|reason| Error::Page { page: number, reason })?;
                match skips.get(&number) {
                    Some(new) => take(&page, new)?,
                    None => take(&page, &vec![true; page.len()])?,
                }
            }
            number += u64::from(frame.kind != Kind::Begin);
        }
        Ok(())
    })
}

/// The file's name today. That it can be written is looked at before anybody is asked for anything.
fn path_of(job: &Job) -> Result<Option<PathBuf>, Error> {
    let Output::File { pattern, .. } = &job.output else { return Ok(None) };
    let path = names::resolve(pattern, job.clock.today, &job.workspace).map_err(Error::Name)?;
    drop(WholeFile::create(&path, Existing::Replace)?);
    sweep(&path, (job.clock.now)());
    Ok(Some(path))
}

/// What tells an export from others, so that its earlier pages and its history are known for its own.
fn identity(job: &Job) -> Result<String, Error> {
    let what = match &job.what {
        What::List(list) => json!({"list": list.path}),
        What::Ids { single, file, by_external_id } => {
            let unreadable = |source| crate::sheet::Error::Open { path: file.path.clone(), source };
            let mut digest = Sha256::new();
            let mut ids = std::fs::File::open(&file.path).map_err(unreadable)?;
            std::io::copy(&mut ids, &mut Hashing(&mut digest)).map_err(unreadable)?;
            let hash: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            json!({"single": single.path, "ids": hash, "column": file.column, "external": by_external_id})
        }
    };
    let name = match &job.output {
        Output::File { pattern, .. } => std::path::absolute(pattern).unwrap_or_else(|_| PathBuf::from(pattern)),
        Output::Stdout { .. } => PathBuf::from("-"),
    };
    let (base_url, workspace, language) = (&job.base_url, &job.workspace, &job.language);
    let identity =
        json!({"base_url": base_url, "workspace": workspace, "what": what, "name": name, "language": language});
    Ok(identity.to_string())
}

struct Hashing<'a>(&'a mut Sha256);

impl std::io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// From when on a change counts.
fn since(job: &Job, before: Option<&State>) -> Option<jiff::Timestamp> {
    match job.since {
        Since::Ever => None,
        Since::Moment(moment) => Some(moment),
        Since::Last => {
            let until: jiff::Timestamp = before?.changed_until.parse().ok()?;
            Some(until.saturating_sub(OVERLAP).unwrap_or(jiff::Timestamp::MIN))
        }
    }
}

fn target(job: &Job, path: Option<&Path>) -> Target {
    match (&job.output, path) {
        (Output::File { shape, .. }, Some(path)) => Target::File { path: path.to_owned(), shape: *shape },
        (Output::File { pattern, shape }, None) => Target::File { path: PathBuf::from(pattern), shape: *shape },
        (Output::Stdout { kind, packing }, _) => Target::Stdout { kind: *kind, packing: *packing },
    }
}

fn recipe(job: &Job, target: Target, history: &History, since: Option<jiff::Timestamp>) -> Recipe {
    let (fields, sheet) = match &job.what {
        What::List(list) => (list.fields, list.name),
        What::Ids { single, .. } => (single.fields, single.name),
    };
    let style = job.template.as_ref().map_or(job.style, |template| job.style.or(template.style));
    Recipe {
        fields,
        sheet,
        target,
        style,
        template: job.template.clone(),
        explode: job.explode.clone(),
        since,
        minds_changes: job.since != Since::Ever,
        scratch: history.folder().to_owned(),
    }
}
