//! `demo`: an upload, a report and an export, with a service on this machine and without any setup.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::json;
use sheetport_client::auth::TokenFile;
use sheetport_language::{self as language, message, say};
use sheetport_operations::{self as operations, InputFile, ReportRequest};
use sheetport_report::{CsvForm, RowFilter};
use sheetport_sheet::ReportWords;
use sheetport_sheet::write::Existing;
use sheetport_trial::LocalService;

use super::console::Console;
use super::review::{self, Page};
use super::{export, upload};
use crate::cli;
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::Settings;
use crate::ui;

const WORKSPACE: &str = "demo";
const PRICE_LIST: (&str, &[u8]) = ("price-list.csv", include_bytes!("../../samples/price-list.csv"));
const REPORT: &str = "price-list.report.xlsx";
const TEMPLATE: (&str, &[u8]) = ("price-list.toml", include_bytes!("../../samples/price-list.toml"));
/// Makes the demo's home that of all commands in a terminal, from the folder of the demo.
const HOME_OF_DEMO: &str =
    if cfg!(windows) { "$env:SHEETPORT_HOME = \"$PWD\\home\"" } else { "export SHEETPORT_HOME=\"$PWD/home\"" };
/// Spreadsheets for the tasks of the documentation.
const SAMPLES: [(&str, &[u8]); 3] = [
    ("tool-prices.csv", include_bytes!("../../samples/tool-prices.csv")),
    ("orders.csv", include_bytes!("../../samples/orders.csv")),
    ("stock-count.xlsx", include_bytes!("../../samples/stock-count.xlsx")),
];

pub(super) async fn run(demo: &cli::Demo, settings: &Settings) -> Result<Exit, Failure> {
    let (folder, output) = (&demo.folder, settings.output);
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let price_list = write(folder, PRICE_LIST)?;
    let template = write(folder, TEMPLATE)?;
    for sample in SAMPLES {
        // What somebody has tried with a sample stays.
        if !folder.join(sample.0).exists() {
            write(folder, sample)?;
        }
    }

    let mut service = LocalService::start_named(folder, WORKSPACE, &settings.context).await?;
    // The price list is German, but its reports are for the person who tries the demo.
    service.context.report_words = Some(ReportWords::of(Some(language::chosen().tag())));
    if output.talks() {
        heading(1, "Upload a price list through a mapping template to a service on this machine");
    }
    // An absolute path, so that the suggested retry works in any folder.
    let report = std::path::absolute(folder).map_err(|error| unwritable(folder, &error))?.join(REPORT);
    let args = upload_args(&price_list, &template, report);
    // Uploads never replace a file, but this report is from an earlier demo.
    args.report.as_deref().map_or(Ok(()), remove).map_err(|error| unwritable(folder, &error))?;
    let (_, summary) =
        upload::upload(&args, &Settings { context: service.context.clone(), ..settings.clone() }).await?;
    if !output.json {
        summary.print(output);
    }
    let console = Console::new(output);
    for name in ["price-list.errors.csv", "price-list.errors.xlsx", "price-list.errors.html"] {
        let request = ReportRequest {
            run: None,
            path: &folder.join(name),
            rows: Some(RowFilter::Problems),
            existing: Existing::Replace,
            csv: CsvForm::default(),
            has_next: true,
            for_supplier: Some(false),
        };
        operations::report(&service.context, &request, &|event| console.show(event)).await?;
    }
    if output.talks() {
        heading(2, "Export the items to CSV and to a workbook");
    }
    let mut exports = Vec::new();
    for name in ["items.csv", "items.xlsx"] {
        let args = cli::Export { records: vec!["items"], output: folder.join(name), ..cli::Export::default() };
        for exported in export::export(&export::request(&args), &service.context, output).await? {
            if !output.json {
                export::print(&exported);
            }
            exports.push(export::as_json(&exported));
        }
    }
    if demo.review {
        let file = Some(InputFile::at(&price_list));
        let page = Page { listen: SocketAddr::from(([127, 0, 0, 1], 0)), no_open: demo.no_open };
        let context = service.context.clone();
        let token_file = TokenFile::of(&context.home, &context.profile);
        review::serve((context, token_file), file, page, output).await?;
        service.stop().await?;
        return Ok(Exit::Done);
    }
    service.stop().await?;
    if output.talks() {
        list_files(folder, summary.next.as_deref());
    }
    if output.json {
        ui::json(&json!({"command": "demo", "folder": folder, "upload": summary, "exports": exports}));
    }
    Ok(Exit::Done)
}

fn upload_args(price_list: &Path, template: &Path, report: PathBuf) -> cli::Upload {
    let (file, template) = (price_list.to_owned(), Some(template.display().to_string()));
    let input = cli::Input { file, template, ..cli::Input::default() };
    cli::Upload { input, report: Some(report), ..cli::Upload::default() }
}

fn write(folder: &Path, (name, content): (&str, &[u8])) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    std::fs::write(&path, content).map_err(|error| unwritable(&path, &error))?;
    Ok(path)
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn heading(number: u8, title: &str) {
    let strong = ui::style::STRONG;
    if number > 1 {
        ui::line("");
    }
    ui::line(format_args!("{strong}{number}. {}{strong:#}", message(title)));
}

fn list_files(folder: &Path, next: Option<&str>) {
    let faint = ui::style::FAINT;
    let folder = folder.display();
    heading(3, "Open these files");
    for (name, what) in [
        ("price-list.csv", "the original price list"),
        (REPORT, "the price list with the outcome of each row and the wrong cells highlighted"),
        ("price-list.errors.xlsx", "only the rows that need fixing (also as .csv)"),
        ("price-list.errors.html", "a page with the problems grouped by cause, to search and print"),
        ("items.xlsx", "the items as exported from the service (also as .csv)"),
        ("price-list.toml", "the template that maps columns to fields"),
        ("tool-prices.csv", "a list to try next, like orders.csv and stock-count.xlsx"),
    ] {
        ui::line(format_args!("   {:<42} {faint}{}{faint:#}", format!("{folder}/{name}"), message(what)));
    }
    if let Some(next) = next {
        heading(4, &format!("Fix the red cells in {REPORT}, save it, and send it back"));
        ui::line(say!("   {next}"));
    }
    heading(5, "Go on with the tasks of the documentation: in this terminal, every command then uses the demo");
    ui::line(format_args!("   cd {folder}"));
    ui::line(format_args!("   {HOME_OF_DEMO}"));
    ui::line("");
    ui::line(say!("To check a file of your own without sending anything: sheetport check FILE -t items"));
    ui::line(say!("To fix the rows of the demo in the browser: sheetport demo --review"));
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} can't be written: {error}", path.display());
    Failure::new(ErrorCode::Local, message, "choose another folder with --folder")
}
