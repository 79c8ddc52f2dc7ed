//! Flags of `schema`.

use clap::Args;
use clap::builder::PossibleValue;
use sheetport_operations::SCHEMA_NAMES;

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

fn names() -> [(PossibleValue, &'static str); 7] {
    SCHEMA_NAMES.map(|name| {
        let help = match name {
            "summary" => "upload, retry and resume with --json",
            "check" => "check with --json",
            "check-rows" => "A line of check with --json-rows",
            "manifest" => "The manifest beside an export",
            "error" => "A command that fails, with --json",
            "runs" => "runs with --json",
            _ => "job run with --json; notices have the same content",
        };
        (PossibleValue::new(name).help(help), name)
    })
}
