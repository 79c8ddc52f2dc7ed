//! Changes of the template.

use std::sync::Arc;

use axum::extract::{Path, State};
use serde::Deserialize;
use sheetport_findings::Code;
use sheetport_operations::review::TemplateEdit;
use sheetport_records::RecordKind;

use super::super::app::App;
use super::super::http::{Failure, Posted};
use super::{Answer, change};

#[derive(Deserialize)]
pub(crate) struct NewText {
    text: String,
}

pub(crate) async fn set_template(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(NewText { text }): Posted<NewText>,
) -> Answer {
    change(app, id, move |_, session| {
        session.set_template(text)?;
        session.keep_draft();
        Ok(())
    })
    .await
}

/// A change of the template by a click.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum TemplateChange {
    Column {
        field: String,
        column: usize,
        /// Leaves the column to the other fields that read it, too.
        #[serde(default)]
        is_shared: bool,
    },
    Constant {
        field: String,
        value: String,
    },
    Remove {
        field: String,
    },
    Confirm {
        field: String,
    },
    ConfirmAll,
    Locale {
        locale: String,
    },
    TimeZone {
        zone: String,
    },
    DateFormat {
        field: String,
        format: String,
    },
    Accept {
        code: Code,
    },
}

pub(crate) async fn change_template(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(wanted): Posted<TemplateChange>,
) -> Answer {
    change(app, id, move |_, session| {
        let edit = match wanted {
            TemplateChange::Column { field, column, is_shared } => {
                let columns = session.columns();
                let columns = &columns.mapping;
                for old in columns.columns.get(column).into_iter().flat_map(|column| &column.fields) {
                    let old = &columns.fields[*old];
                    if !is_shared && old.path != field && old.columns.len() == 1 {
                        session.change_template(&TemplateEdit::Remove { field: old.path.clone() })?;
                    }
                }
                let column = columns.column_key(column);
                TemplateEdit::Column { field, column }
            }
            TemplateChange::Constant { field, value } => TemplateEdit::Constant { field, value },
            TemplateChange::Remove { field } => TemplateEdit::Remove { field },
            TemplateChange::Confirm { field } => TemplateEdit::Confirm { field },
            TemplateChange::ConfirmAll => TemplateEdit::ConfirmAll,
            TemplateChange::Locale { locale } => TemplateEdit::Locale(locale),
            TemplateChange::TimeZone { zone } => TemplateEdit::TimeZone(zone),
            TemplateChange::DateFormat { field, format } => TemplateEdit::DateFormat { field, format },
            TemplateChange::Accept { code } => TemplateEdit::Accept(code),
        };
        session.change_template(&edit)?;
        session.keep_draft();
        Ok(())
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct NewKind {
    record: String,
}

pub(crate) async fn change_kind(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(NewKind { record }): Posted<NewKind>,
) -> Answer {
    let record = RecordKind::from_name(&record).ok_or_else(|| Failure::bad_request("there are no such records"))?;
    change(app, id, move |app, session| {
        session.change_kind(&app.context(), record)?;
        session.keep_draft();
        Ok(())
    })
    .await
}
