//! The disposition of a record to be sent, after the sheet was read.

use serde::de::IgnoredAny;
use sheetport_findings::Code;
use sheetport_ledger::{Disposition, Problem};

/// Returns the disposition of a record to be sent, after checking the body for valid JSON.
pub(crate) fn to_send(body: String) -> Disposition {
    match serde_json::from_str::<IgnoredAny>(&body) {
        Ok(_) => Disposition::Send(body.into_boxed_str()),
        Err(error) => Disposition::Rejected(vec![Problem {
            remedy: "this is a bug in sheetport; please report it".to_owned(),
            ..Problem::of_record(Code::Unsendable, format!("can't be written as JSON: {error}"))
        }]),
    }
}
