//! The service, the tokens, and the way there.

use sheetport_client::ProxyAddress;
use sheetport_values::date::local_minute;

use super::super::context::Context;
use super::super::login::probe;
use super::finding::Finding;

/// Remaining lifetime below which a non-renewable token is reported, in seconds.
const SOON: i64 = 24 * 60 * 60;
/// Time before the end of a refresh token, in seconds.
const WEEK: i64 = 7 * SOON;
/// Differences between the clocks that are reported as a warning and as a problem, in seconds. Tokens are renewed 30 s before
/// they expire.
const OFF: u64 = 30;
const FAR_OFF: u64 = 300;
/// Environment variables for proxies.
const PROXIES: [&str; 6] = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Checks the address of the service.
pub(super) fn address(context: &Context) -> Finding {
    const NAME: &str = "address";
    let profile = &context.profile;
    match (context.base_url(), context.address_from) {
        (Ok(base_url), origin) => {
            let origin = origin.map_or(String::new(), |origin| format!(" ({})", origin.described()));
            Finding::ok(NAME, format!("{base_url}{origin}, profile {profile}"))
        }
        (Err(error), _) => Finding::failed(NAME, &error),
    }
}

/// Checks the tokens, the token file, and the files for the connection, without sending a request.
pub(super) fn tokens(context: &Context) -> Finding {
    const NAME: &str = "tokens";
    let Ok(base_url) = context.base_url() else { return Finding::ok(NAME, "not checked without an address") };
    if let Err(error) = context.client(base_url, 1) {
        return Finding::failed(NAME, &error);
    }
    let origin = context.tokens_from.map_or("given", |origin| origin.described());
    let file = context.credentials.file.as_ref().map_or(String::new(), |file| {
        // A file readable by others was refused earlier.
        format!(", in {}, which only you can read", file.path().display())
    });
    let access = context.credentials.access_level().map_or(String::new(), |access| format!(", access {access}"));
    let workspace = context.credentials.workspace();
    let workspace = workspace.map_or(String::new(), |workspace| format!(", workspace {workspace}"));
    Finding::ok(NAME, format!("{origin}{file}{access}{workspace}"))
}

/// Checks when the access token ends.
pub(super) fn expiry(context: &Context) -> Finding {
    const NAME: &str = "expiry";
    let credentials = &context.credentials;
    if credentials.is_empty() {
        return Finding::ok(NAME, "not checked without tokens");
    }
    let ends = credentials.expires_at();
    let time = ends.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    let left = ends.map(|ends| ends.saturating_sub(jiff::Timestamp::now().as_second()));
    let (Some(time), Some(left)) = (time, left) else {
        return Finding::ok(NAME, "the token does not say when it ends");
    };
    let renew = "run `sheetport login` with new tokens, or set SHEETPORT_REFRESH_TOKEN";
    let shown = shown(time);
    match (credentials.refresh.is_some(), left) {
        (true, _) => renewable(time, credentials.refresh_expires_at()),
        (false, ..=0) => {
            Finding::problem(NAME, format!("the access token ended {shown}, and there is no refresh token"), renew)
        }
        (false, 1..SOON) => {
            Finding::warning(NAME, format!("the access token ends {shown}, and there is no refresh token"), renew)
        }
        (false, _) => Finding::ok(NAME, format!("the access token ends {shown}")),
    }
}

/// Judges the expiry of a refresh token. Afterwards, the access token can no longer be renewed.
fn renewable(access: jiff::Timestamp, refresh: Option<i64>) -> Finding {
    const NAME: &str = "expiry";
    let access = format!("the access token ends {} and is renewed by then", shown(access));
    let time = refresh.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    let Some(time) = time else { return Finding::ok(NAME, access) };
    let renew = "run `sheetport login` with new tokens";
    let shown = shown(time);
    match time.as_second().saturating_sub(jiff::Timestamp::now().as_second()) {
        ..=0 => Finding::problem(NAME, format!("the refresh token ended {shown}"), renew),
        1..WEEK => Finding::warning(NAME, format!("{access}; the refresh token ends {shown}"), renew),
        _ => Finding::ok(NAME, format!("{access}; the refresh token ends {shown}")),
    }
}

/// Formats a time in the local zone.
fn shown(time: jiff::Timestamp) -> String {
    local_minute(time.as_millisecond())
}

/// Describes the proxies and certificates in use.
pub(super) fn connection(context: &Context) -> Finding {
    const NAME: &str = "connection";
    let options = &context.connection;
    let proxy = match &options.proxy {
        Some(proxy) => format!("proxy {proxy}"),
        None => {
            let named = PROXIES.iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
            let named: Vec<String> = named
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| match value.parse::<ProxyAddress>() {
                    Ok(proxy) => format!("{name}={proxy}"),
                    Err(_) => format!("{name} is not the address of a proxy"),
                })
                .collect();
            if named.is_empty() {
                "no proxy".to_owned()
            } else {
                format!("proxy of the environment: {}", named.join(", "))
            }
        }
    };
    let ca = options.ca_file.as_ref().map_or(String::new(), |file| format!(" and those in {}", file.display()));
    let client = options.client_cert.as_ref();
    let client = client.map_or(String::new(), |client| format!(", client certificate {}", client.cert.display()));
    let text = format!("{proxy}, certificates of the system{ca}{client}");
    match options.insecure_http {
        true => Finding::warning(
            NAME,
            format!("{text}; tokens may travel unencrypted to other machines"),
            "remove --insecure-http, SHEETPORT_INSECURE_HTTP or insecure_http unless every network on the way is trusted",
        ),
        false => Finding::ok(NAME, text),
    }
}

/// Asks the service whether the token is valid, and compares its clock with the local clock.
pub(super) async fn service(context: &Context) -> Vec<Finding> {
    const NAME: &str = "service";
    if context.base_url().is_err() {
        return vec![Finding::ok(NAME, "not asked without an address")];
    }
    let (answer, lead) = probe(context).await;
    let answer = match answer {
        Ok(()) => Finding::ok(NAME, "it answers and accepts the token"),
        Err(error) => Finding::failed(NAME, &error),
    };
    [answer].into_iter().chain(lead.map(clock)).collect()
}

fn clock(lead: i64) -> Finding {
    const NAME: &str = "clock";
    let text = match lead {
        0 => "the same as the service's".to_owned(),
        1.. => format!("{} s behind the service's", lead.unsigned_abs()),
        _ => format!("{} s ahead of the service's", lead.unsigned_abs()),
    };
    let remedy = "set the clock of this machine, as by NTP: tokens seem to end too early or too late";
    match lead.unsigned_abs() {
        ..OFF => Finding::ok(NAME, text),
        OFF..FAR_OFF => Finding::warning(NAME, text, remedy),
        _ => Finding::problem(NAME, text, remedy),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Health;
    use super::*;

    #[test]
    fn refresh_tokens_that_end_soon_are_a_warning() {
        let now = jiff::Timestamp::now();
        for (days, health) in [(-1, Health::Problem), (6, Health::Warning), (30, Health::Ok)] {
            let finding = renewable(now, Some(now.as_second() + days * SOON));
            assert_eq!((finding.health, finding.remedy.is_some()), (health, health != Health::Ok), "{finding:?}");
        }
        assert_eq!(renewable(now, None).health, Health::Ok);
    }

    #[test]
    fn clocks_are_compared() {
        for (lead, health, text) in [
            (0, Health::Ok, "the same as the service's"),
            (2, Health::Ok, "2 s behind the service's"),
            (-29, Health::Ok, "29 s ahead of the service's"),
            (30, Health::Warning, "30 s behind the service's"),
            (-299, Health::Warning, "299 s ahead of the service's"),
            (3600, Health::Problem, "3600 s behind the service's"),
        ] {
            let finding = clock(lead);
            assert_eq!((finding.health, finding.text.as_str()), (health, text));
            assert_eq!(finding.remedy.is_some(), health != Health::Ok);
        }
    }
}
