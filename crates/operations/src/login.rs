//! Storing and checking the credentials of a profile.

use std::io;

use sheetport_client::auth::{Credentials, StoreError, TokenFile};
use sheetport_client::{Client, fetch};

use super::context::Context;
use super::error::Error;
use crate::operation::Operation;

/// Tokens and the address of the service.
#[derive(Clone, Debug)]
pub struct StoredTokens {
    pub base_url: String,
    pub credentials: Credentials,
}

/// Stores tokens in the file of a profile. Unless `unchecked`, the service has to accept the tokens first; the previous
/// tokens are kept until then.
pub fn login<'a>(
    context: &'a Context,
    file: &'a TokenFile,
    profile: &'a str,
    unchecked: bool,
) -> Operation<'a, StoredTokens> {
    Box::pin(async move {
        let unwritable =
            |file: &TokenFile, error: &io::Error| StoreError::new(file.path().display().to_string(), error);
        // A refresh during the check writes the new pair to this draft, so that the pair survives a crash.
        let draft = TokenFile::of(&context.home, &format!("{profile}.new")).in_keyring(file.is_in_keyring())?;
        let credentials = Credentials { file: Some(draft.clone()), ..context.credentials.clone() };
        let client = Client::new(context.base_url()?, credentials.clone(), &context.connection, 1)?;
        draft.write(client.address(), &credentials).map_err(|error| unwritable(&draft, &error))?;
        let checked = if unchecked { Ok(()) } else { fetch::check(&client).await };
        let credentials = client.credentials().await;
        if checked.is_ok() {
            file.write(client.address(), &credentials).map_err(|error| unwritable(file, &error))?;
        }
        draft.remove().map_err(|error| unwritable(&draft, &error))?;
        checked?;
        Ok(StoredTokens { base_url: client.address().to_owned(), credentials })
    })
}

/// Checks that the service accepts the credentials of the context. Returns the credentials, renewed if expired.
pub fn verify(context: &Context) -> Operation<'_, StoredTokens> {
    Box::pin(async move {
        let client = context.client(context.base_url()?, 1)?;
        fetch::check(&client).await?;
        Ok(StoredTokens { base_url: client.address().to_owned(), credentials: client.credentials().await })
    })
}

/// Sends one request like [`verify`]. Returns whether the service accepts the credentials, and the lead of its clock over the
/// local clock in seconds, if known.
pub(crate) async fn probe(context: &Context) -> (Result<(), Error>, Option<i64>) {
    let client = match context.base_url().and_then(|base_url| context.client(base_url, 1)) {
        Ok(client) => client,
        Err(error) => return (Err(error), None),
    };
    let answered = fetch::check(&client).await.map_err(Error::from);
    (answered, client.clock_lead())
}
