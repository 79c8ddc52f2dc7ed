//! `review`: serves the page and opens the page in the browser.

use std::net::SocketAddr;

use futures_util::FutureExt;
use serde_json::json;
use sheetport_client::auth::TokenFile;
use sheetport_language::say;
use sheetport_ledger::user_name;
use sheetport_operations::{self as operations, Context, InputFile};
use sheetport_review::{self as review, Opened};
use tokio::net::TcpListener;

use super::console::signals::Interrupt;
use super::input::open;
use crate::cli::Review;
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::{Output, Settings};
use crate::ui;

pub(super) async fn run(args: &Review, settings: &Settings) -> Result<Exit, Failure> {
    let file = match (args.run(), &args.file) {
        (Some(run), _) => Some(InputFile::at(&operations::review::report_to_review(&settings.context, run).await?)),
        (None, Some(path)) => Some(open(path, settings).await?),
        (None, None) => None,
    };
    if let Some(file) = &file
        && let Err(error) = std::fs::File::open(&file.path)
    {
        let message = format!("{} can't be read: {error}", file.name.display());
        return Err(Failure::new(ErrorCode::Usage, message, "check its name and permissions"));
    }
    let page = Page { listen: args.listen, no_open: args.no_open };
    let token_file = settings.token_file.in_keyring(settings.keyring)?;
    let context = settings.context.with_defaults(args.of_sheet.keys());
    serve((context, token_file), file, page, settings.output).await
}

/// Where the page is served, and whether a browser is opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub listen: SocketAddr,
    pub no_open: bool,
}

/// Serves the page until Ctrl-C. Tokens that are entered there go to the file.
pub(super) async fn serve(
    context: (Context, TokenFile),
    file: Option<InputFile>,
    page: Page,
    output: Output,
) -> Result<Exit, Failure> {
    let unusable = |error: std::io::Error| {
        let message = format!("the page can't be served at {}: {error}", page.listen);
        Failure::new(ErrorCode::Usage, message, "choose another address or port with --listen")
    };
    let listener = TcpListener::bind(page.listen).await.map_err(unusable)?;
    let server = review::Server::new(context, user_name(), file, listener).map_err(unusable)?;
    let address = server.address();
    let interrupt = Interrupt::default();
    let mut stop = Box::pin(async move { interrupt.signal().await });
    // The first poll installs the signal handler, before a caller may stop the page.
    if stop.as_mut().now_or_never().is_some() {
        return Ok(Exit::Done);
    }
    if output.json {
        ui::json(&json!({"listening": address}));
    } else {
        let strong = ui::style::STRONG;
        ui::line(say!("{strong}{address}{strong:#}"));
        ui::remark(say!("This address works once, in one browser. Press Ctrl-C to stop."));
        if page.no_open {
            ui::remark(say!("Or open {} and type the code {}", server.public_address(), server.code()));
        }
    }
    if !page.listen.ip().is_loopback() {
        ui::remark(say!(
            "Warning: other machines can reach {}, and spreadsheets cross the network unencrypted.",
            page.listen
        ));
    }
    let server = match page.no_open {
        true => server,
        false => open_browser(server).await?,
    };
    server.serve(stop).await;
    Ok(Exit::Done)
}

/// Opens the page in the browser of the desktop, and says what is left to do.
async fn open_browser(server: review::Server) -> Result<review::Server, Failure> {
    // Programs of the desktop are asked for the browser, which takes a moment.
    let opening = tokio::task::spawn_blocking(move || (review::open(&server), server));
    let (opened, server) =
        opening.await.map_err(|error| Failure::new(ErrorCode::Local, error.to_string(), "please report this"))?;
    match opened {
        Opened::ByFile => {}
        Opened::ByCode => ui::remark(say!("The page asks for this code: {}", server.code())),
        Opened::No => ui::remark(say!("No browser could be started. Open the address in a browser.")),
    }
    Ok(server)
}
