//! Runs the real executable: its output, its files and its exit codes.

mod answers;
mod apply;
mod axe;
mod bad_input;
mod bad_service;
mod bad_template;
mod browser;
mod chaos;
mod check_rows;
mod choices;
#[cfg(target_os = "linux")]
mod clocks;
mod command_line;
mod commands;
mod conditions;
mod connect;
mod containers;
mod copied_rows;
mod crash;
mod cut_connections;
mod damage;
mod defaults;
mod demo;
mod described;
mod desk;
mod dialects;
mod disclosure;
mod doctor;
mod doubt;
mod doubtful_columns;
mod entrusted;
mod explain;
mod export;
mod export_appended;
mod export_by_id;
mod export_changes;
mod export_columns;
mod export_formats;
mod export_lines;
mod export_memory;
mod export_nightly;
mod export_refused;
mod export_replaced;
mod export_requests;
mod export_resume;
mod export_roundtrip;
mod export_several;
mod export_typed;
mod export_way_back;
mod export_workbook;
mod extended_templates;
#[cfg(unix)]
mod failover;
#[cfg(unix)]
mod fairness;
mod far_ledger;
mod features;
mod fill_blank;
mod first_hour;
mod first_lists;
mod german;
mod german_reports;
mod go_on;
mod held_ledger;
mod help;
mod hostile;
mod infer;
mod init;
mod jobs;
mod json_docs;
mod judged;
#[cfg(feature = "keyring")]
mod keyring;
mod keys;
mod kills;
mod lists;
mod literal;
mod login;
mod lookups;
mod marked_values;
mod missing;
mod narrow;
mod next;
mod no_records;
mod number_formats;
mod number_styles;
mod numbered_lines;
#[cfg(feature = "storage")]
mod object_storage;
mod office;
mod online;
mod only;
mod order_identity;
mod order_lines;
mod orders;
mod other_programs;
mod page;
mod plan;
mod plan_markdown;
mod pooler;
pub mod process;
mod profile;
mod propose;
mod proxy;
mod questions;
mod recognize;
mod rehearse;
mod report;
mod report_csv;
mod report_only;
mod report_workbook;
mod resolve;
mod retry_report;
mod review;
#[cfg(unix)]
mod second_user;
mod sent_before;
mod serve_process;
mod serve_roundtrip;
mod serve_show;
mod server_ledger;
mod server_trouble;
pub mod service;
mod service_replicas;
mod setup;
mod sheets;
mod shop_exports;
mod stdin;
mod steps;
mod stock_count;
mod superseded;
mod supplier;
mod suspects;
mod telemetry;
mod templates;
mod terminal;
mod tmux;
mod trust;
mod truthful;
mod undo;
mod unpivot;
mod unsent;
mod upload;
mod waiting;
mod warnings;
mod workbooks;
mod workers;
mod workers_credentials;
#[cfg(unix)]
mod workers_operated;
mod workers_proof;
mod workers_readiness;
#[cfg(unix)]
mod workspace_roles;

use std::fs;
use std::path::{Path, PathBuf};

use process::Ended;
use serde_json::Value;

const SUMMARY: [&str; 24] = [
    "run",
    "command",
    "record",
    "template",
    "file",
    "rows",
    "total",
    "sent",
    "unchanged",
    "skipped",
    "rejected",
    "failed",
    "unknown",
    "pending",
    "warned",
    "requests",
    "retries",
    "other_requests",
    "seconds",
    "rate",
    "report",
    "next",
    "queued",
    "stopped",
];
const STATES: [&str; 7] = ["sent", "unchanged", "skipped", "rejected", "failed", "unknown", "pending"];

/// The summary that `--json` printed, with every field that it promises and an accounting that adds up.
#[track_caller]
fn summary(ended: &Ended) -> Value {
    let summary = ended.json();
    let fields = summary.as_object().unwrap().keys().map(String::as_str);
    // Only present if records were left out, or in a rehearsal.
    let fields: Vec<&str> = fields
        .filter(|field| {
            !matches!(
                *field,
                "sent_before"
                    | "superseded"
                    | "not_approved"
                    | "moved_on"
                    | "kept"
                    | "cannot_undo"
                    | "rehearsal"
                    | "questions"
            )
        })
        .collect();
    // A dry run has a profile, but no list of problems.
    let (problems, profile): (&[&str], &[&str]) = match (summary["command"] == "check", fields.contains(&"profile")) {
        (true, _) => (&["problems"], &["profile"]),
        (false, true) => (&[], &["profile"]),
        (false, false) => (&[], &[]),
    };
    let expected = SUMMARY.iter().chain(problems).chain(&["warnings"]).chain(profile);
    assert_eq!(fields, expected.copied().collect::<Vec<_>>());
    let sum: u64 = STATES.iter().map(|state| count(&summary, state)).sum();
    assert_eq!(count(&summary, "total"), sum, "{summary}");
    summary
}

/// The accounting as `total: state number, …`, states without records left out.
#[track_caller]
fn accounting(summary: &Value) -> String {
    let states = STATES.iter().filter(|state| count(summary, state) > 0);
    let states: Vec<String> = states.map(|state| format!("{state} {}", count(summary, state))).collect();
    format!("{}: {}", count(summary, "total"), states.join(", "))
}

#[track_caller]
fn count(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("{name} is no number in {value}"))
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(name)
}

/// Makes a CSV of `count` items, numbered from 00001 on.
fn items(count: usize) -> String {
    let rows = (1..=count).map(|number| format!("{number:05},Item {number},{number}.50,EUR\n"));
    std::iter::once("SKU,Name,Price,Currency\n".to_owned()).chain(rows).collect()
}

/// A CSV file's rows, the header first. The fields of a report are separated by semicolons if those of its file were.
#[track_caller]
pub fn table(path: &Path) -> Vec<Vec<String>> {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let delimiter = if header.contains(&b',') { b',' } else { b';' };
    let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(bytes);
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The titles of the columns that a report does not add.
fn own_titles(table: &[Vec<String>]) -> Vec<&str> {
    table[0].iter().map(String::as_str).filter(|title| !title.starts_with("sheetport_")).collect()
}

/// The cells below one header of a table.
#[track_caller]
pub fn column<'a>(table: &'a [Vec<String>], header: &str) -> Vec<&'a str> {
    let place = table[0].iter().position(|name| name == header);
    let place = place.unwrap_or_else(|| panic!("no {header} in {:?}", table[0]));
    table[1..].iter().map(|row| row[place].as_str()).collect()
}
