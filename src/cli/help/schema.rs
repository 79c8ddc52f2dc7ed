//! Flags of `schema`.

use clap::Args;
use clap::builder::PossibleValue;
use sheetport_operations::schema_names;

use crate::cli::choice::choice;

const NOTES: &str = "\
The schemas have a version: within it, fields may be added, and none is removed or renamed. docs/json.md describes all fields.
`sheetport template schema` prints the schema of mapping templates.

Examples:
  sheetport schema summary > summary.schema.json";

#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub struct Schema {
    /// What to describe
    #[arg(value_parser = choice(names()))]
    pub name: &'static str,
}

fn names() -> Vec<(PossibleValue, &'static str)> {
    let described = schema_names().map(|name| {
        let value = PossibleValue::new(name);
        let value = match name {
            "summary" => value.help("plan, apply, undo, upload, retry and resume with --json"),
            "check-rows" => value.help("A line of check with --json-rows"),
            "manifest" => value.help("The manifest beside an export"),
            "exports" => value.help("export of several lists with --json"),
            "error" => value.help("A command that fails, with --json"),
            "job" => value.help("job run with --json; notices have the same content"),
            "work" => value.help("A line of work with --json"),
            // The name of the command.
            _ => value,
        };
        (value, name)
    });
    described.collect()
}
