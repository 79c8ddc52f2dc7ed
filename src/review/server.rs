//! The server of the page.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tower::ServiceExt;

use super::access::{self, Access};
use super::app::App;
use super::{assets, handlers};
use crate::operations::{Context, InputFile};
use crate::web_server;

/// Time for a browser to take a byte.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of a request, apart from dropped files: thousands of edited cells.
const MAX_BODY: usize = 8 << 20;

/// A page that is served until it is stopped.
pub struct Server {
    app: Arc<App>,
    address: SocketAddr,
    listener: TcpListener,
}

impl Server {
    /// Prepares the page for `context`. `who` edits; `file` is opened first.
    ///
    /// # Errors
    /// If the listener has no address, or the system no random numbers.
    pub fn new(
        context: Context,
        who: String,
        file: Option<InputFile>,
        listener: TcpListener,
    ) -> std::io::Result<Server> {
        let address = listener.local_addr()?;
        let app = Arc::new(App::new(context, who, Arc::new(Access::new(address)?), file));
        Ok(Server { app, address, listener })
    }

    /// Returns the address of the page, with the token that works once.
    pub fn address(&self) -> String {
        let address = match self.address.ip().is_unspecified() {
            true => SocketAddr::new([127, 0, 0, 1].into(), self.address.port()),
            false => self.address,
        };
        format!("http://{address}/#{}", self.app.access.token())
    }

    /// Serves the page until `stop` completes.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let router = router(Arc::clone(&self.app));
        let respond = move |request| router.clone().oneshot(request);
        web_server::serve(vec![self.listener], respond, WRITE_TIMEOUT, stop).await;
    }
}

fn router(app: Arc<App>) -> Router {
    let private = Router::new()
        .route("/api/start", get(handlers::start))
        .route("/api/files", post(handlers::drop_file).layer(DefaultBodyLimit::disable()))
        .route("/api/reviews/{id}", get(handlers::review))
        .route("/api/reviews/{id}/reading", post(handlers::change_reading))
        .route("/api/reviews/{id}/rows", get(handlers::rows))
        .route("/api/reviews/{id}/template", post(handlers::set_template))
        .route("/api/reviews/{id}/template/change", post(handlers::change_template))
        .route("/api/reviews/{id}/template/kind", post(handlers::change_kind))
        .route("/api/reviews/{id}/check", post(handlers::check))
        .route("/api/reviews/{id}/causes/{cause}/rows", get(handlers::cause_rows))
        .route("/api/reviews/{id}/causes/{cause}/fixes", get(handlers::fixes))
        .route("/api/reviews/{id}/causes/{cause}/preview", post(handlers::preview_fix))
        .route("/api/reviews/{id}/causes/{cause}/fix", post(handlers::fix))
        .route("/api/reviews/{id}/edits", post(handlers::edit))
        .route("/api/reviews/{id}/undo", post(handlers::undo))
        .route("/api/reviews/{id}/redo", post(handlers::redo))
        .route("/api/reviews/{id}/compare", post(handlers::compare))
        .route("/api/reviews/{id}/send", post(handlers::send))
        .route("/api/reviews/{id}/stop", post(handlers::stop))
        .route("/api/reviews/{id}/events", get(handlers::events))
        .route("/api/reviews/{id}/report", get(handlers::report))
        .route_layer(from_fn_with_state(Arc::clone(&app.access), access::require_cookie));
    Router::new()
        .route("/", get(assets::index))
        .route("/words.json", get(assets::words))
        .route("/{name}", get(assets::asset))
        .route("/api/session", post(handlers::session))
        .merge(private)
        .fallback(assets::not_found)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(Arc::clone(&app.access), access::require_own_page))
        .with_state(app)
}
