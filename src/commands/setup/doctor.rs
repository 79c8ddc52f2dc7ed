//! `doctor`: examines everything needed for a transfer.

use serde_json::json;
use sheetport_language::{message, say, word};
use sheetport_operations::{self as operations, Finding, Health};

use crate::cli::Doctor;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(in crate::commands) async fn run(args: &Doctor, settings: &Settings) -> Result<Exit, Failure> {
    let mut findings = operations::examine(&settings.context, args.offline).await;
    findings.extend(sheetport_jobs::examine_jobs(&settings.context));
    let count = |health: Health| findings.iter().filter(|finding| finding.health == health).count();
    let (problems, warnings) = (count(Health::Problem), count(Health::Warning));
    if settings.output.json {
        let check = |finding: &Finding| {
            let Finding { name, health, text, remedy } = finding;
            json!({"name": name, "state": health.name(), "text": text, "remedy": remedy})
        };
        ui::json(&json!({
            "command": "doctor",
            "version": env!("CARGO_PKG_VERSION"),
            "features": features(),
            "problems": problems,
            "warnings": warnings,
            "checks": findings.iter().map(check).collect::<Vec<_>>(),
        }));
    } else {
        ui::line(say!("sheetport {}, {}", env!("CARGO_PKG_VERSION"), built_with()));
        for Finding { name, health, text, remedy } in &findings {
            ui::line(format_args!("  {:<8} {} {}", word(health.name()), ui::label(name, 11), message(text)));
            if let Some(remedy) = remedy {
                ui::line(format_args!("  {:<8} {} {}", "", ui::label("", 11), message(remedy)));
            }
        }
        for setting in super::config::in_force(settings) {
            // The address, the profile and the tokens are checked above.
            let is_shown = matches!(setting.name, "base_url" | "profile" | "tokens");
            if let Some(value) = setting.value.filter(|_| !is_shown) {
                let faint = ui::style::FAINT;
                let from = word(setting.from);
                ui::line(format_args!("  {:<8} {} {value}  {faint}({from}){faint:#}", "", ui::label(setting.name, 11)));
            }
        }
        let warnings = ui::counted(warnings as u64, "warning");
        ui::line(say!("{}, {warnings}", ui::counted(problems as u64, "problem")));
    }
    Ok(if problems > 0 { Exit::Fault } else { Exit::Done })
}

/// Returns the features that this executable is built with.
fn features() -> Vec<&'static str> {
    let all = [
        ("keyring", cfg!(feature = "keyring")),
        ("otel", cfg!(feature = "otel")),
        ("parquet", cfg!(feature = "parquet")),
        ("storage", cfg!(feature = "storage")),
    ];
    all.into_iter().filter(|(_, is_included)| *is_included).map(|(name, _)| name).collect()
}

fn built_with() -> String {
    match features().as_slice() {
        [] => say!("built without optional features"),
        some => say!("built with {}", some.join(", ")),
    }
}
