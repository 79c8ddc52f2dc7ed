//! The server of the page.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use futures_util::future::BoxFuture;
use sheetport_client::auth::TokenFile;
use sheetport_operations::{self as operations, Context, InputFile, TemporaryFolder};
use sheetport_web as web;
use tokio::net::TcpListener;
use tower::ServiceExt;

use super::app::App;
use super::handlers;
use super::http::access::{self, Access};
use super::http::{assets, translation};
use super::opener;

/// Time for a browser to take a byte.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of a request, apart from dropped files: thousands of edited cells.
const MAX_BODY: usize = 8 << 20;

/// A page that is ready to be served.
pub struct Server {
    app: Arc<App>,
    address: SocketAddr,
    listener: TcpListener,
}

impl Server {
    /// Prepares the page for `context`; tokens that are entered there go to `token_file`. `who` edits; `file` is opened first.
    ///
    /// # Errors
    /// If the listener has no address, or the system no random numbers.
    pub fn new(
        context: (Context, TokenFile),
        who: String,
        file: Option<InputFile>,
        listener: TcpListener,
    ) -> std::io::Result<Server> {
        let address = listener.local_addr()?;
        let app = Arc::new(App::new(context, who, Arc::new(Access::new(address)?), file));
        Ok(Server { app, address, listener })
    }

    /// Returns the address of the page, with a single-use token.
    pub fn address(&self) -> String {
        format!("{}#{}", self.public_address(), self.app.access.token())
    }

    /// Returns the address of the page without the token. The page then asks for the code.
    pub fn public_address(&self) -> String {
        let address = match self.address.ip().is_unspecified() {
            true => SocketAddr::new([127, 0, 0, 1].into(), self.address.port()),
            false => self.address,
        };
        format!("http://{address}/")
    }

    /// Returns the code that the page takes in place of the token.
    pub fn code(&self) -> String {
        self.app.access.code()
    }

    /// Writes a page for this user only that leads to the address of this page, because all users of the machine see the arguments
    /// of a browser. The file is removed when a browser is in, or at the end.
    ///
    /// # Errors
    /// If temporary files can't be written.
    pub fn opener(&self) -> Result<PathBuf, operations::Error> {
        let folder = TemporaryFolder::create()?;
        let path = folder.write("open.html", opener::page(&self.address()).as_bytes())?;
        self.app.access.keep(folder);
        Ok(path)
    }

    /// Serves the page until `stop` completes.
    pub fn serve(self, stop: BoxFuture<'_, ()>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let router = router(Arc::clone(&self.app));
            let respond = move |request| router.clone().oneshot(request);
            web::serve(vec![self.listener], respond, WRITE_TIMEOUT, stop).await;
            self.app.access.close();
        })
    }
}

fn router(app: Arc<App>) -> Router {
    let private = Router::new()
        .route("/api/start", get(handlers::start::start))
        .route("/api/service", get(handlers::service::known))
        .route("/api/login", post(handlers::service::login))
        .route("/api/files", post(handlers::start::drop_file).layer(DefaultBodyLimit::disable()))
        .route("/api/reviews/{id}", get(handlers::sheet::review))
        .route("/api/reviews/{id}/reading", post(handlers::sheet::change_reading))
        .route("/api/reviews/{id}/rows", get(handlers::sheet::rows))
        .route("/api/reviews/{id}/cell", get(handlers::sheet::cell))
        .route("/api/reviews/{id}/template", post(handlers::template::set_template))
        .route("/api/reviews/{id}/template/change", post(handlers::template::change_template))
        .route("/api/reviews/{id}/template/kind", post(handlers::template::change_kind))
        .route("/api/reviews/{id}/check", post(handlers::sheet::check))
        .route("/api/reviews/{id}/cancel", post(handlers::sheet::cancel))
        .route("/api/reviews/{id}/causes/{cause}/rows", get(handlers::causes::cause_rows))
        .route("/api/reviews/{id}/causes/{cause}/fixes", get(handlers::causes::fixes))
        .route("/api/reviews/{id}/causes/{cause}/preview", post(handlers::causes::preview_fix))
        .route("/api/reviews/{id}/causes/{cause}/fix", post(handlers::causes::fix))
        .route("/api/reviews/{id}/left-out", get(handlers::causes::left_out))
        .route("/api/reviews/{id}/refused", get(handlers::causes::refused))
        .route("/api/reviews/{id}/remember", get(handlers::causes::can_remember).post(handlers::causes::remember))
        .route("/api/reviews/{id}/edits", post(handlers::edits::edit))
        .route("/api/reviews/{id}/undo", post(handlers::edits::undo))
        .route("/api/reviews/{id}/redo", post(handlers::edits::redo))
        .route("/api/reviews/{id}/compare", post(handlers::sending::compare))
        .route("/api/reviews/{id}/changes", post(handlers::changes::look))
        .route("/api/reviews/{id}/changes/rows", get(handlers::changes::rows))
        .route("/api/reviews/{id}/changes/decide", post(handlers::changes::decide))
        .route("/api/reviews/{id}/changes/forget", post(handlers::changes::forget))
        .route("/api/reviews/{id}/send", post(handlers::sending::send))
        .route("/api/reviews/{id}/stop", post(handlers::sending::stop))
        .route("/api/reviews/{id}/events", get(handlers::sending::events))
        .route("/api/reviews/{id}/report", get(handlers::reports::of_file))
        .route("/api/reviews/{id}/nightly", get(handlers::nightly::proposed).post(handlers::nightly::set_up))
        .route("/api/runs", get(handlers::history::runs))
        .route("/api/runs/{run}", get(handlers::history::run))
        .route("/api/runs/{run}/open", post(handlers::history::open))
        .route("/api/runs/{run}/unknown", get(handlers::history::unknown))
        .route("/api/runs/{run}/resolve", post(handlers::history::resolve))
        .route("/api/runs/{run}/send", post(handlers::history::send))
        .route("/api/runs/{run}/undo", post(handlers::history::undo))
        .route("/api/runs/{run}/undo/plan", post(handlers::history::plan_undo))
        .route("/api/runs/{run}/undo/forget", post(handlers::history::forget_undo))
        .route("/api/runs/{run}/stop", post(handlers::history::stop))
        .route("/api/runs/{run}/events", get(handlers::history::events))
        .route("/api/runs/{run}/report", get(handlers::reports::of_run))
        .route_layer(from_fn_with_state(Arc::clone(&app.access), access::require_cookie));
    Router::new()
        .route("/", get(assets::index))
        .route("/words.json", get(assets::words))
        .route("/{name}", get(assets::asset))
        .route("/api/session", get(handlers::start::locked).post(handlers::start::session))
        .merge(private)
        .fallback(assets::not_found)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(Arc::clone(&app.access), access::require_own_page))
        .layer(from_fn(translation::in_language_of_browser))
        .with_state(app)
}
