//! The HTTP connection to object storage: by the same library, proxies and certificates as to the service.

use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use sheetport_client::{self as client, ConnectOptions, is_local, storage_clients};

/// Connects to object storage.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    /// Uses the proxy, if any.
    usual: reqwest::Client,
    /// To this machine.
    direct: reqwest::Client,
    /// May speak to other machines without encryption.
    insecure_http: bool,
}

impl Connector {
    pub(super) fn new(options: &ConnectOptions) -> Result<Connector, client::Error> {
        let (usual, direct) = storage_clients(options)?;
        Ok(Connector { usual, direct, insecure_http: options.insecure_http })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // The library permits HTTP for the metadata service of cloud machines. Users can permit HTTP with AWS_ALLOW_HTTP and
        // similar variables.
        let is_allowed = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|value| value == "true");
        Ok(HttpClient::new(Connector { insecure_http: self.insecure_http || is_allowed, ..self.clone() }))
    }
}

#[async_trait::async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url: reqwest::Url = parts
            .uri
            .to_string()
            .parse()
            .map_err(|error: url::ParseError| HttpError::new(HttpErrorKind::Unknown, error))?;
        let is_local = is_local(url.as_str());
        if url.scheme() == "http" && !is_local && !self.insecure_http {
            let reason = "the endpoint is http://; use https://, or --insecure-http if the network is trusted";
            return Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(reason)));
        }
        let mut request = reqwest::Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        // A single chunk, like the parts of large objects, so nothing is copied.
        *request.body_mut() = Some(body.collect().await?.to_bytes().into());
        let client = if is_local { &self.direct } else { &self.usual };
        let response = client.execute(request).await.map_err(failed)?;
        let (parts, body) = hyper::http::Response::<reqwest::Body>::from(response).into_parts();
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body.map_err(failed))))
    }
}

/// Classifies an error, so that the library knows whether to retry.
fn failed(error: reqwest::Error) -> HttpError {
    let kind = if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_request() || error.is_body() {
        HttpErrorKind::Interrupted
    } else if error.is_decode() {
        HttpErrorKind::Decode
    } else {
        HttpErrorKind::Unknown
    };
    // A query may contain a signature.
    HttpError::new(kind, error.without_url())
}
