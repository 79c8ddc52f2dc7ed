//! `init`: the address, the tokens, a spreadsheet, and the next command.

use std::io::IsTerminal;
use std::path::Path;

use serde_json::json;
use sheetport_client::auth::{Credentials, TokenOrigin};
use sheetport_client::normal_address;
use sheetport_language::say;
use sheetport_operations::{self as operations, CommandLine, Context, Given, SAMPLE_NAME, Sample, StoredTokens};

use super::login::read_tokens;
use crate::cli::Init;
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::Settings;
use crate::ui;

/// How often a person may correct an address or tokens.
const ATTEMPTS: u32 = 3;
const SAMPLE: &str = include_str!("../../../samples/items.csv");

pub(in crate::commands) async fn init(args: &Init, settings: &Settings) -> Result<Exit, Failure> {
    let talks = settings.output.talks();
    let is_person = std::io::stdin().is_terminal();
    let (stored, tokens) = connect(args, settings, is_person).await?;
    let StoredTokens { base_url, credentials } = &stored;
    let workspace = credentials.workspace();
    if talks {
        let access = credentials.access_level().map(|access| say!(", access {access}")).unwrap_or_default();
        let workspace = workspace.as_deref().map(|name| say!(", workspace {name}")).unwrap_or_default();
        ui::line(say!("The service at {base_url} accepts the tokens{workspace}{access}."));
        ui::line(say!("They are {}, in the profile {}.", tokens.described(), settings.context.profile));
    }
    // The stored tokens include the address, so suggested commands need no flag.
    let given = Given { base_url: None, ..settings.context.given.clone() };
    let context = Context { given, ..settings.context.clone() };
    let sample = match operations::find_sample(&context, &args.folder).await {
        Some(sample) => sample,
        None => {
            let path = args.folder.join(SAMPLE_NAME);
            let path = path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
            std::fs::write(&path, SAMPLE).map_err(|error| {
                let message = format!("{} can't be written: {error}", path.display());
                Failure::new(ErrorCode::Local, message, "name a folder of your own with --folder")
            })?;
            if talks {
                ui::line(say!("There is no spreadsheet here yet, so {} is one to try.", path.display()));
            }
            Sample { path, template: Some("items".to_owned()) }
        }
    };
    let next = match &sample.template {
        Some(template) => CommandLine::new(&context, "check").file(&sample.path).short('t', "template", template),
        None => {
            let infer = CommandLine::new(&context, "template infer").file(&sample.path);
            infer.flag("record", Some("item")).short('o', "output", "template.toml")
        }
    };
    let next = next.to_string();
    if settings.output.json {
        ui::json(&json!({
            "command": "init",
            "profile": context.profile,
            "base_url": base_url,
            "workspace": workspace,
            "tokens": tokens.code(),
            "sample": sample.path,
            "template": sample.template,
            "next": next,
        }));
        return Ok(Exit::Done);
    }
    if talks {
        let fits = match &sample.template {
            Some(template) => say!("fits the template {template}; this checks it and sends nothing:"),
            None => "fits no template; this proposes one:".to_owned(),
        };
        ui::line(say!("{} {fits}", sample.path.display()));
    }
    ui::next(Some(&next));
    Ok(Exit::Done)
}

/// Uses the stored tokens, or asks for an address and tokens until the service accepts the tokens.
async fn connect(args: &Init, settings: &Settings, is_person: bool) -> Result<(StoredTokens, TokenOrigin), Failure> {
    let context = &settings.context;
    if !args.again && !context.credentials.is_empty() && context.base_url.is_some() {
        let verified = operations::verify(context).await?;
        return Ok((verified, context.tokens_from.unwrap_or(TokenOrigin::Login)));
    }
    let file = settings.token_file.in_keyring(settings.keyring)?;
    let mut base_url = context.base_url.clone();
    let mut attempt = 1;
    loop {
        if is_person && base_url.is_none() {
            base_url = ask_for_address();
        }
        let (access, refresh) = read_tokens().map_err(|error| {
            Failure::new(
                ErrorCode::Local,
                format!("the tokens can't be read: {error}"),
                "enter them at a terminal, or as two lines",
            )
        })?;
        let credentials = Credentials { access, refresh, file: None };
        let asked = Context { base_url: base_url.clone(), credentials, ..context.clone() };
        let failure = match store(&asked, &file).await {
            Ok(stored) => return Ok((stored, TokenOrigin::of_login(&file))),
            Err(failure) => failure,
        };
        if !is_person || attempt >= ATTEMPTS {
            return Err(failure);
        }
        ui::failure(&failure, false);
        // A wrong address is possible, too, unless the service refused the tokens.
        if failure.exit() != Exit::Credentials {
            base_url = None;
        }
        attempt += 1;
    }
}

async fn store(context: &Context, file: &sheetport_client::auth::TokenFile) -> Result<StoredTokens, Failure> {
    context.base_url()?;
    Ok(operations::login(context, file, &context.profile, false).await?)
}

/// Asks for an address until the input is valid. Returns `None` at the end of the input.
fn ask_for_address() -> Option<String> {
    loop {
        let address = ui::ask_as_written(&say!("Address of the service, such as https://host.example:"))?;
        match normal_address(&address) {
            Ok(_) => return Some(address),
            Err(error) => ui::failure(&Failure::from(error), false),
        }
    }
}
