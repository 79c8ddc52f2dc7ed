//! Several statements in one message to a server, because each message is a round trip.

use futures_util::future::BoxFuture;
use sqlx::Error;

use super::pool::{Executor as _, Results, Transaction, of_server};
use super::query::Query;
use super::row::Row;

impl Transaction {
    /// Runs statements one after another, on a server by one message. Returns the results of each.
    pub fn run_all(&mut self, statements: Vec<Query<Row>>) -> BoxFuture<'_, Result<Vec<Results>, Error>> {
        Box::pin(async move {
            match self {
                Transaction::Postgres { transaction, .. } if all_fit(&statements) => {
                    let results = transaction.run_text(joined(statements)?).await?;
                    Ok(results.into_iter().map(of_server).collect())
                }
                _ => {
                    let mut results = Vec::with_capacity(statements.len());
                    for statement in statements {
                        results.push(self.run(statement.into_statement()).await?);
                    }
                    Ok(results)
                }
            }
        })
    }

    /// Does the same as [`Transaction::run_all`], and commits, on a server by the same message.
    pub fn commit_after(self, statements: Vec<Query<Row>>) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            match self {
                Transaction::Postgres { transaction, .. } if !statements.is_empty() && all_fit(&statements) => {
                    transaction.commit_after(Some(joined(statements)?)).await?;
                    Ok(())
                }
                mut transaction => {
                    transaction.run_all(statements).await?;
                    transaction.commit().await
                }
            }
        })
    }
}

fn all_fit(statements: &[Query<Row>]) -> bool {
    statements.iter().all(Query::fits_text)
}

fn joined(statements: Vec<Query<Row>>) -> Result<String, Error> {
    let texts = statements.into_iter().map(|statement| statement.into_statement().into_text());
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join("; "))
}
