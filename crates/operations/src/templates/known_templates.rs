//! The templates of a user: templates in the folder of a file, and templates of earlier runs.

use std::path::{Path, PathBuf};

use sheetport_ledger::Run;
use sheetport_mapping::{Template, builtin};

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::load_template::{TemplateChanges, load_template, template_of_run};

/// Maximum number of templates considered in a folder.
const MAX_TEMPLATES: usize = 100;
/// Maximum total size of the lookup tables of the templates in a folder, in bytes, because all tables are in memory.
const MAX_TABLES: usize = 64 << 20;
/// Maximum number of earlier runs considered.
const MAX_RUNS: u32 = 50;

/// Returns the templates in a folder by name, ignoring other TOML files. Warns about templates skipped because of their number or
/// the size of their lookup tables.
pub(crate) fn templates_in(
    folder: &Path,
    changes: TemplateChanges<'_>,
    observer: Observer<'_>,
) -> Vec<(PathBuf, Template)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    // A pipe or device of this name might never end.
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml") && path.is_file();
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_toml).collect();
    paths.sort();
    let load = |path: PathBuf| {
        // Named as a person would write it: t.toml, not ./t.toml.
        let path = path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
        let template = load_template(path.to_str()?, changes).ok()?;
        Some((path, template))
    };
    let (mut templates, mut tables) = (Vec::new(), 0);
    let count = paths.len();
    for (path, template) in paths.into_iter().take(MAX_TEMPLATES).filter_map(load) {
        tables += template.size_of_tables();
        if tables > MAX_TABLES {
            observer(Event::Warning(
                "the lookup tables of the templates beside the file are large, so not all of these templates are \
                 considered; name one with -t",
            ));
            return templates;
        }
        templates.push((path, template));
    }
    if count > MAX_TEMPLATES {
        observer(Event::Warning(
            "only the first 100 TOML files beside the file are considered; name a template with -t",
        ));
    }
    templates
}

/// Returns the distinct templates of earlier runs, newest first, without built-in templates.
pub(crate) async fn templates_of_runs(context: &Context, observer: Observer<'_>) -> Vec<(Run, Template)> {
    let runs = match context.existing_ledger().await {
        Ok(None) => return Vec::new(),
        Ok(Some(ledger)) => {
            let runs = ledger.runs(MAX_RUNS).await;
            ledger.close().await;
            runs.map_err(Error::from)
        }
        Err(error) => Err(error),
    };
    let Ok(runs) = runs else {
        observer(Event::Warning("the ledger can't be read, so the templates of earlier uploads are not considered"));
        return Vec::new();
    };
    let mut known: Vec<(Run, Template)> = Vec::new();
    for run in runs {
        let is_known = known.iter().any(|(other, _)| other.about.template_toml == run.about.template_toml);
        if !is_known
            && builtin::find(&run.about.template).is_none()
            && let Ok(template) = template_of_run(&run.about)
        {
            known.push((run, template));
        }
    }
    known
}
