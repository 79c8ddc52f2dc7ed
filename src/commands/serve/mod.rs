//! `serve`: runs the service on this machine, and creates tokens.

mod load;
mod show;
mod storage;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;
use sheetport_files::text_file::read_text;
use sheetport_language::say;
use sheetport_service::{self as service, Config, EXAMPLES, FaultInjection, Plan, Reading, Service, Storage};
use sheetport_trial::refused;
use tokio::net::{TcpListener, lookup_host};

use super::console::signals::Interrupt;
use crate::cli::{self, Lifetimes, Listen, Serve, ServeAction, Token, VariableShell};
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::Settings;
use crate::ui;
use storage::storage;

/// The workspace of `--demo` and of the hints.
const DEMO: &str = "demo";

pub(super) async fn run(args: Serve, settings: &Settings) -> Result<Exit, Failure> {
    match args.action {
        Some(ServeAction::Token(token)) => print_token(&token, settings).await,
        Some(ServeAction::Load(load)) => load::run(&load, settings).await,
        Some(ServeAction::Show(show)) => show::run(&show, settings).await,
        None if let Some(plan) = args.rehearsal.print_plan => {
            ui::text(plan);
            Ok(Exit::Done)
        }
        None => serve(args, settings).await,
    }
}

async fn serve(args: Serve, settings: &Settings) -> Result<Exit, Failure> {
    let storage = storage(&args.data)?;
    let mut config = config(storage.clone(), &args.lifetimes);
    config.rotate_refresh = args.rotate_refresh;
    config.journal = args.journal;
    config.reading = match (args.literal, args.strict) {
        (true, _) => Reading::Literal,
        (false, true) => Reading::Strict,
        (false, false) => Reading::Tolerant,
    };
    config.host_names.clone_from(&args.host_name);
    if let Listen::Name { host, .. } = &args.listen {
        config.host_names.push(host.clone());
    }
    config.fault_injection = fault_injection(&args.rehearsal)?;
    let seed = config.fault_injection.as_ref().filter(|faults| faults.plan.has_rules()).map(|faults| faults.seed);
    let service = Service::open(config).await.map_err(refused)?;
    let filled = if args.demo { service.fill_demo(DEMO).await.map_err(refused)? } else { 0 };
    let listeners = listen(&args.listen).await.map_err(|error| {
        Failure::new(
            ErrorCode::Usage,
            format!("the service can't listen on {}: {error}", args.listen),
            "choose another address or port with --listen",
        )
    })?;
    let addresses: Vec<SocketAddr> = listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect();
    let port = addresses.first().map_or(0, SocketAddr::port);
    let address = match &args.listen {
        Listen::Address(address) => SocketAddr::new(address.ip(), port).to_string(),
        Listen::Name { host, .. } => format!("{host}:{port}"),
    };
    let tightened = service.tightened().to_vec();
    let interrupt = Interrupt::default();
    let mut stop = Box::pin(async move {
        interrupt.signal().await;
        ui::remark(say!(
            "Stopping after the requests in progress, within 5 seconds. Press Ctrl-C again to stop at once."
        ));
    });
    // The first poll installs the signal handler, before the address is printed and a caller may stop the service.
    if stop.as_mut().now_or_never().is_some() {
        return Ok(Exit::Done);
    }
    if settings.output.json {
        ui::json(
            &json!({"listening": format!("http://{address}"), "data": storage.to_string(), "seed": seed, "demo": filled}),
        );
    } else {
        let strong = ui::style::STRONG;
        ui::line(say!("{strong}Listening on http://{address}{strong:#}, data in {storage}"));
        ui::remark(say!("To use it, run in another terminal:"));
        for line in variables(&reachable(&address, &addresses), &storage, cfg!(windows)) {
            ui::remark(say!("  {line}"));
        }
        ui::remark(say!("Press Ctrl-C to stop."));
        if filled > 0 {
            ui::remark(say!("Added {} to the workspace {DEMO}.", ui::counted(filled as u64, "record")));
        }
        if let Some(seed) = seed {
            ui::remark(say!("Some requests will fail on purpose; repeat the same faults with --seed {seed}."));
        }
    }
    for path in tightened {
        ui::remark(say!("Other users could read {}; now only you can.", path.display()));
    }
    if addresses.iter().any(|address| !address.ip().is_loopback()) {
        ui::remark(say!(
            "Warning: other machines can reach {address}, and tokens and records cross the network unencrypted. To be reached \
             from this machine only, use --listen 127.0.0.1:{port}."
        ));
    }
    service.serve_all(listeners, stop).await.map_err(refused)?;
    Ok(Exit::Done)
}

/// Returns the address for programs on this machine. A service that listens on all addresses is reachable through the loopback address;
/// clients send no token to `0.0.0.0` without encryption.
fn reachable(address: &str, listening: &[SocketAddr]) -> String {
    match listening.iter().find(|address| address.ip().is_unspecified()) {
        Some(SocketAddr::V4(all)) => SocketAddr::from((Ipv4Addr::LOCALHOST, all.port())).to_string(),
        Some(SocketAddr::V6(all)) => SocketAddr::from((Ipv6Addr::LOCALHOST, all.port())).to_string(),
        None => address.to_owned(),
    }
}

/// Returns the commands to set the address and the tokens, for PowerShell or for other shells.
fn variables(address: &str, storage: &Storage, is_powershell: bool) -> Vec<String> {
    let option = match storage {
        Storage::Folder(folder) => format!("--data {}", quoted(&folder.display().to_string(), is_powershell)),
        Storage::Server(server) => format!("--store {}", quoted(&server.to_string(), is_powershell)),
    };
    if is_powershell {
        return vec![
            format!("$tokens = sheetport serve token {option} --workspace {DEMO} --json | ConvertFrom-Json"),
            "$env:SHEETPORT_ACCESS_TOKEN = $tokens.access; $env:SHEETPORT_REFRESH_TOKEN = $tokens.refresh".to_owned(),
            format!("$env:SHEETPORT_BASE_URL = \"http://{address}\""),
        ];
    }
    vec![
        format!("eval \"$(sheetport serve token {option} --workspace {DEMO})\""),
        format!("export SHEETPORT_BASE_URL=http://{address}"),
    ]
}

/// Quotes an argument for a shell. For PowerShell, always adds quotation marks.
fn quoted(argument: &str, is_powershell: bool) -> String {
    let is_plain = argument.chars().all(|letter| letter.is_alphanumeric() || "/._-:@%=+,".contains(letter));
    match (is_powershell, is_plain) {
        (true, _) => format!("\"{argument}\""),
        (false, true) => argument.to_owned(),
        (false, false) => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// Listens on the address, or on all addresses of the host name, with the same port.
async fn listen(at: &Listen) -> io::Result<Vec<TcpListener>> {
    let (host, mut port) = match at {
        Listen::Address(address) => return Ok(vec![TcpListener::bind(address).await?]),
        Listen::Name { host, port } => (host, *port),
    };
    let mut addresses: Vec<IpAddr> =
        lookup_host((host.as_str(), port)).await?.map(|address| address.ip().to_canonical()).collect();
    // Programs without IPv6 come first.
    addresses.sort();
    addresses.dedup();
    let mut listeners = Vec::new();
    let mut missing = None;
    for address in addresses {
        match TcpListener::bind((address, port)).await {
            Ok(listener) => {
                port = listener.local_addr()?.port();
                listeners.push(listener);
            }
            // A host name may have addresses that this machine lacks, such as an IPv6 address.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
            Err(error) => missing = Some(error),
        }
    }
    match (listeners.is_empty(), missing) {
        (true, Some(error)) => Err(error),
        (true, None) => Err(io::ErrorKind::AddrNotAvailable.into()),
        (false, _) => Ok(listeners),
    }
}

/// Returns the requested faults. Without `--seed`, the seed is random.
fn fault_injection(args: &cli::Rehearsal) -> Result<Option<FaultInjection>, Failure> {
    let mut plan = args.plan.as_deref().map(read_plan).transpose()?.unwrap_or_default();
    plan.extend(args.fail.clone().unwrap_or_default());
    plan.limit = args.limit.or(plan.limit);
    plan.latency = args.latency.unwrap_or(plan.latency);
    // Six digits are short enough to type.
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(0..1_000_000));
    Ok((plan != Plan::default()).then_some(FaultInjection { plan, seed }))
}

/// Reads a fault plan from a file, or else a built-in example with this name.
fn read_plan(path: &Path) -> Result<Plan, Failure> {
    let name = path.display().to_string();
    let plan = match (read_text(path), Plan::example(&name)) {
        (Ok(source), _) => Plan::parse(&name, &source),
        (Err(error), Some(plan)) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => {
            plan
        }
        (Err(error), _) => {
            let names: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
            return Err(Failure::new(
                ErrorCode::Usage,
                format!("the fault plan {name} can't be read: {error}"),
                format!("name a TOML file, or one of {}", names.join(", ")),
            ));
        }
    };
    Ok(plan?)
}

fn config(storage: Storage, lifetimes: &Lifetimes) -> Config {
    let mut config = Config::with(storage);
    config.access_lifetime = Duration::from_secs(u64::from(lifetimes.access_minutes) * 60);
    config.refresh_lifetime = Duration::from_secs(u64::from(lifetimes.refresh_days) * 24 * 60 * 60);
    config
}

async fn print_token(args: &Token, settings: &Settings) -> Result<Exit, Failure> {
    let storage = storage(&args.data)?;
    let new_folder = match &storage {
        Storage::Folder(folder) if !folder.exists() => Some(folder.clone()),
        _ => None,
    };
    let config = config(storage, &args.lifetimes);
    let tokens = service::issue_tokens(&config, &args.workspace, args.access).await.map_err(refused)?;
    if let Some(folder) = new_folder {
        let data = folder.display();
        ui::remark(say!("created the data folder {data}; start a service on it with `sheetport serve --data {data}`"));
    }
    let (access_token, refresh_token) = (tokens.access, tokens.refresh);
    if settings.output.json {
        ui::json(&json!({"workspace": args.workspace, "access": access_token, "refresh": refresh_token}));
    } else {
        let shell = args.shell.unwrap_or_else(VariableShell::of_system);
        ui::text(&shell.set("SHEETPORT_ACCESS_TOKEN", &access_token));
        ui::text(&shell.set("SHEETPORT_REFRESH_TOKEN", &refresh_token));
        let (minutes, days) = (args.lifetimes.access_minutes, args.lifetimes.refresh_days);
        ui::remark(say!(
            "The tokens are shown only once. The access token expires after {minutes} minutes and is renewed with the refresh token, which expires after {days} days."
        ));
    }
    Ok(Exit::Done)
}
