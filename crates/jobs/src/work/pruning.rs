//! Removes old runs while a worker works.

use std::time::Duration;

use sheetport_operations::context::Context;
use sheetport_operations::prune;

use super::event::{WorkEvent, WorkObserver};
use super::stop::Stop;

/// Time between two removals. Runs are kept for days, so an hour more does no harm.
const INTERVAL: Duration = Duration::from_secs(3_600);

/// Removes runs that began longer than `age` ago, at the beginning and each hour until the worker is stopped; once for a worker that ends when it
/// is idle. Runs with pending or unknown records stay. What fails is told, and tried again.
pub(super) async fn run(context: &Context, age: Duration, once: bool, stop: &Stop, observer: WorkObserver<'_>) {
    while !stop.is_set() {
        match prune(context, age, false, false).await {
            Ok(pruned) if pruned.removed.is_empty() => {}
            Ok(pruned) => observer(WorkEvent::Removed { runs: &pruned.removed }),
            Err(error) => {
                let why = format!("old runs can't be removed: {error}");
                observer(WorkEvent::Warned { why: &why, hint: error.hint().as_deref() });
            }
        }
        if once {
            return;
        }
        // Other workers remove runs, too, and not at the same moment.
        stop.sleep(INTERVAL.mul_f64(0.75 + fastrand::f64() / 2.0)).await;
    }
}
