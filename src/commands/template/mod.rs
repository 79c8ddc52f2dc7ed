//! `template`: lists, prints and checks templates.

mod infer;

use std::path::PathBuf;

use serde_json::json;
use sheetport_language::say;
use sheetport_mapping::schema::schema;
use sheetport_mapping::skeleton::skeleton;
use sheetport_mapping::{Template, builtin, examples, load};
use sheetport_operations::{TemplateChanges, format_template, load_template, trust_template, unknown_template};

use super::input::about_template::AboutTemplate;
use crate::cli;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) async fn run(command: &cli::Template, settings: &Settings) -> Result<Exit, Failure> {
    match command {
        cli::Template::List => list(settings),
        cli::Template::Show { name } => show(name, settings),
        cli::Template::Check { template, set, allow_lookup } => {
            let changes =
                TemplateChanges { parameters: set, lookup_folders: allow_lookup, ..TemplateChanges::default() };
            check(template, changes, settings)
        }
        cli::Template::Trust { templates } => trust(templates, settings),
        cli::Template::Fmt { templates, check } => fmt(templates, *check, settings),
        cli::Template::New { record } => {
            ui::text(&skeleton(record));
            Ok(Exit::Done)
        }
        cli::Template::Schema => {
            ui::json(&schema());
            Ok(Exit::Done)
        }
        cli::Template::Infer(args) => infer::run(args, settings).await,
    }
}

fn list(settings: &Settings) -> Result<Exit, Failure> {
    let load = |(name, source): &(&str, &str)| load::load(name, source, &load::no_tables);
    let templates = builtin::BUILT_IN.iter().map(load).collect::<Result<Vec<Template>, _>>()?;
    if settings.output.json {
        let listed = templates.iter().map(
            |template| json!({"name": template.name, "record": template.input().name, "description": template.description}),
        );
        ui::json(&json!({"templates": listed.collect::<Vec<_>>()}));
        return Ok(Exit::Done);
    }
    let widest = |text: fn(&Template) -> &str| templates.iter().map(|template| text(template).len()).max();
    let name = widest(|template| &template.name).unwrap_or_default();
    let kind = widest(|template| template.input().name).unwrap_or_default();
    ui::line(say!("{:<name$}  {:<kind$}  {}", "template", "for each", "what it reads"));
    for template in &templates {
        ui::line(say!("{:<name$}  {:<kind$}  {}", template.name, template.input().name, template.description));
    }
    Ok(Exit::Done)
}

fn show(name: &str, settings: &Settings) -> Result<Exit, Failure> {
    let source = builtin::find(name).ok_or_else(|| unknown_template(name))?;
    if settings.output.json {
        let keys: toml::Table = toml::from_str(source).expect("built-in templates are valid, and tests load them");
        ui::json(&json!({"template": name, "keys": keys, "toml": source}));
        return Ok(Exit::Done);
    }
    ui::text(source);
    Ok(Exit::Done)
}

fn check(wanted: &str, changes: TemplateChanges<'_>, settings: &Settings) -> Result<Exit, Failure> {
    let template = load_template(wanted, changes)?;
    let mismatches = examples::run(&template);
    if settings.output.json {
        let failed = mismatches.iter().map(|m| json!({"example": m.number, "expected": m.expected, "got": m.got}));
        ui::json(
            &json!({"template": template.name, "examples": template.examples.len(), "failed": failed.collect::<Vec<_>>()}),
        );
    } else {
        for mismatch in &mismatches {
            ui::line(say!("example {} does not match", mismatch.number));
            ui::line(say!("  expected  {}", mismatch.expected));
            ui::line(say!("  got       {}", mismatch.got));
        }
        if mismatches.is_empty() {
            ui::line(say!(
                "{}: valid; {} passed",
                template.name,
                ui::counted(template.examples.len() as u64, "example")
            ));
        }
    }
    Ok(if mismatches.is_empty() { Exit::Done } else { Exit::Usage })
}

fn trust(templates: &[String], settings: &Settings) -> Result<Exit, Failure> {
    let mut trusted = Vec::new();
    for path in templates {
        let one = trust_template(&settings.context, path)?;
        let about = AboutTemplate::of(&one.template);
        if settings.output.json {
            let AboutTemplate { fields, constants, lookups, steps, rules } = about;
            trusted.push(json!({
                "template": one.template.name, "record": one.template.input().name, "sha256": one.digest,
                "fields": fields, "constants": constants, "lookups": lookups, "steps": steps, "rules": rules,
            }));
        } else {
            let (name, plural) = (&one.template.name, one.template.input().plural);
            ui::line(say!("{name}: trusted as it is now, for {plural}"));
            if settings.output.talks() {
                about.print();
            }
        }
    }
    if settings.output.json {
        ui::json(&json!({"templates": trusted}));
    }
    Ok(Exit::Done)
}

fn fmt(templates: &[PathBuf], only_checks: bool, settings: &Settings) -> Result<Exit, Failure> {
    let mut changed = Vec::new();
    for path in templates {
        if format_template(path, only_checks)? {
            changed.push(path.display().to_string());
        }
    }
    if settings.output.json {
        ui::json(&json!({"templates": templates.len(), "changed": changed}));
    } else {
        let did = if only_checks { "not formatted" } else { "formatted" };
        changed.iter().for_each(|path| ui::line(say!("{path}: {did}")));
    }
    Ok(if only_checks && !changed.is_empty() { Exit::RowsFailed } else { Exit::Done })
}
