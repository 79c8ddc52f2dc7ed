//! Planning a run: reads the whole file into the ledger, under the lock of the upload.

use std::sync::Arc;

use super::context::now;
use super::error::Error;
use super::event::{Event, Observer};
use crate::ledger::{Ledger, LockedRun, NewRun, UploadLock};
use crate::template::Template;
use crate::upload::{Source, Tally, plan};

/// Plans the run described by `about` and returns the locked run.
pub(super) async fn plan_run(
    ledger: &Ledger,
    about: &NewRun,
    lock: UploadLock,
    source: Source,
    template: Arc<Template>,
    observer: Observer<'_>,
) -> Result<(LockedRun, Tally), Error> {
    observer(Event::Opened { source: &source, template: &template });
    let show = |rows| observer(Event::Reading { rows });
    let (run, tally) = plan::plan(ledger, about, Arc::new(source), template, now(), &show).await?;
    observer(Event::Checked(&tally));
    Ok((ledger.lock_run_with(lock, run).await?, tally))
}
