//! `demo`: the whole path on one machine, with nothing set up: a service, an upload, its report, an export.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::own_service::OwnService;
use super::{export, reporting, sending, upload};
use crate::cli;
use crate::error::{Exit, Failure};
use crate::report::{self, Format, Request, RowFilter};
use crate::settings::Settings;
use crate::sheet::write::{Existing, WholeFile};
use crate::ui;

const WORKSPACE: &str = "demo";
const PRICE_LIST: (&str, &[u8]) = ("price-list.csv", include_bytes!("../../samples/price-list.csv"));
const TEMPLATE: (&str, &[u8]) = ("price-list.toml", include_bytes!("../../samples/price-list.toml"));

pub async fn run(args: &cli::Demo, settings: Settings) -> Result<Exit, Failure> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).map_err(|error| no_folder(folder, &error))?;
    let price_list = put(folder, PRICE_LIST)?;
    let template = put(folder, TEMPLATE)?;

    let service = OwnService::start(folder, WORKSPACE, &settings, no_port).await?;
    let settings = &service.settings;
    let talks = settings.output.talks();
    if talks {
        step(1, "A shop's price list goes up, through a mapping template, to a service on this machine");
    }
    let args = upload_args(&price_list, &template, folder);
    // An upload writes no report over another file; this one is the demo's own, of an earlier time.
    args.report.as_deref().map_or(Ok(()), remove).map_err(|error| no_folder(folder, &error))?;
    let (_, mut summary) = upload::upload(&args, settings).await?;
    // The demo's service ends with the demo, so there is nothing that a person could send next.
    summary.next = None;
    if !settings.output.json {
        summary.print(settings.output);
    }
    let ledger = sending::ledger(settings).await?;
    let newest = ledger.run_or_newest(None).await?;
    for (name, format) in [
        ("price-list.errors.csv", Format::Csv),
        ("price-list.errors.xlsx", Format::Xlsx),
        ("price-list.errors.html", Format::Html),
    ] {
        let path = folder.join(name);
        let request = Request {
            path: &path,
            format,
            existing: Existing::Replace,
            rows: RowFilter::Problems,
            next: None,
            is_kept: true,
            choices: &reporting::choices(&newest, format, talks),
            has_bom: false,
        };
        report::write(&ledger, &newest, &request).await?;
    }
    ledger.close().await;
    if talks {
        step(2, "What the service has now comes back as CSV and as a workbook");
    }
    let mut exports = Vec::new();
    for name in ["items.csv", "items.xlsx"] {
        let exported = export::export(&export_args(folder.join(name)), settings).await?;
        if !settings.output.json {
            export::print(&exported);
        }
        exports.push(export::as_json(&exported));
    }
    let output = settings.output;
    service.end().await.map_err(|error| {
        Failure::new(Exit::Fault, format!("the service ended badly: {error}"), "please report this")
    })??;
    if talks {
        what_to_open(folder);
    }
    if output.json {
        ui::json(&json!({"command": "demo", "folder": folder, "upload": summary, "exports": exports}));
    }
    Ok(Exit::Done)
}

fn upload_args(price_list: &Path, template: &Path, folder: &Path) -> cli::Upload {
    let input = cli::Input {
        file: price_list.to_owned(),
        template: template.display().to_string(),
        sheet: None,
        reading: cli::Reading::default(),
    };
    cli::Upload { report: Some(folder.join("price-list.report.xlsx")), ..cli::Upload::new(input, pacing()) }
}

fn export_args(output: PathBuf) -> cli::Export {
    cli::Export::all(cli::Exportable::Items, output, pacing())
}

fn pacing() -> cli::Pacing {
    cli::Pacing { rate: None, concurrency: 8 }
}

fn put(folder: &Path, (name, content): (&str, &[u8])) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    let mut file = WholeFile::create(&path, Existing::Replace)?;
    std::io::Write::write_all(&mut file, content).map_err(|error| no_folder(&path, &error))?;
    Ok(file.finish()?)
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn step(number: u8, what: &str) {
    let strong = ui::style::STRONG;
    let gap = if number > 1 { "\n" } else { "" };
    ui::line(format_args!("{gap}{strong}{number}. {what}{strong:#}"));
}

fn what_to_open(folder: &Path) {
    let faint = ui::style::FAINT;
    let folder = folder.display();
    step(3, "Open these");
    for (name, what) in [
        ("price-list.csv", "what the shop had"),
        ("price-list.report.xlsx", "the same, each row's outcome beside it, the cells at fault coloured"),
        ("price-list.errors.xlsx", "only the rows to mend (.csv is the same as CSV)"),
        ("price-list.errors.html", "the same as a page: what is wrong by cause, to search, open and print"),
        ("items.xlsx", "what the service has now (.csv is the same as CSV)"),
        ("price-list.toml", "the template: which column became which field"),
    ] {
        ui::line(format_args!("   {:<42} {faint}{what}{faint:#}", format!("{folder}/{name}")));
    }
    ui::line("\nYour own: sheetport check FILE -t items says what is wrong with a file, and sends nothing.");
}

fn no_folder(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Fault,
        format!("{} can't be written: {error}", folder.display()),
        "choose another folder with --folder",
    )
}

fn no_port(error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Fault,
        format!("the demo's service can't listen on this machine: {error}"),
        "check whether something forbids listening on 127.0.0.1",
    )
}
